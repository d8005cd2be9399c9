/* SPDX-License-Identifier: GPL-2.0 */
/* All connections of a device share this: its port, a protection domain, and bytes to send. */
#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <string>

#include "../verbs/ops/env.h"

namespace soak {

using ops::Memory;
using Clock = std::chrono::steady_clock;

class Rng {
public:
	explicit Rng(uint64_t seed) : engine_(seed) {}
	uint64_t next() { return engine_(); }
	/** 0 .. n - 1 */
	uint32_t below(uint32_t n) { return n ? engine_() % n : 0; }
	uint32_t range(uint32_t lo, uint32_t hi) { return lo + below(hi - lo + 1); }
	bool percent(uint32_t p) { return below(100) < p; }
	template <typename T>
	T pick(std::initializer_list<T> of)
	{
		return of.begin()[below(of.size())];
	}

private:
	std::mt19937_64 engine_;
};

/** A message's bytes: pieces of Host::source, one after the other. */
struct Payload {
	struct Piece {
		size_t offset;
		uint32_t length;
	};
	std::vector<Piece> pieces;
	uint32_t length = 0;
};

struct Host {
	Host(const std::string &name, Rng &rng);

	Payload payload(Rng &rng, uint32_t length, unsigned max_pieces) const;
	void copy(const Payload &p, uint8_t *to) const;
	bool same(const Payload &p, const uint8_t *is) const;
	std::vector<ibv_sge> sges(const Payload &p) const;
	bool active() const;
	/** Asynchronous events are not looked at, but must not pile up. */
	void drop_events();
	bool has(uint64_t cap) const { return dev.has(cap); }

	std::string name;
	ops::Device dev;
	ops::Pd pd;
	Memory source;
};

} // namespace soak

/* SPDX-License-Identifier: GPL-2.0 */
/* The hostile programs share this: their options, chance, and counts of what has succeeded. */
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "../verbs/ops/env.h"

namespace hostile {

using Clock = std::chrono::steady_clock;

/** Small and fast; the same seed gives the same sequence. */
class Rng {
public:
	explicit Rng(uint64_t seed) : state_(seed) {}

	uint64_t next();
	uint32_t below(uint32_t n) { return n ? next() % n : 0; }
	bool one_in(uint32_t n) { return below(n) == 0; }
	/** A value at the edge of something: 0, all ones, a power of two, near it, or any. */
	uint64_t odd();

	template <typename T, size_t n>
	const T &pick(const T (&from)[n])
	{
		return from[below(n)];
	}

private:
	uint64_t state_;
};

struct Options {
	std::string dev;
	/** Of a part: which (an attack, a case). */
	std::string what;
	unsigned seconds = 60;
	uint64_t seed = 0;
	unsigned processes = 2;
	/** Kinds that are not to be tried, for looking behind a fault that is known. */
	std::string without;

	bool tries(const char *kind) const { return without.find(kind) == std::string::npos; }
	Clock::time_point end() const { return Clock::now() + std::chrono::seconds(seconds); }
};

/**
 * How often what was tried and how often it succeeded, by name. Children that are forked count
 * here as well, and may be killed in the middle of it.
 */
class Tally {
public:
	Tally();
	Tally(const Tally &) = delete;

	void note(const char *name, bool ok);
	void print() const;
	uint64_t tried(const char *prefix) const;
	uint64_t succeeded(const char *prefix) const;
	/** Names that begin so, were tried at least @often times and never succeeded. */
	std::string never(const char *prefix, uint64_t often) const;

private:
	struct Slot {
		std::atomic<int> state; /* 0 free, 1 being named, 2 named */
		char name[28];
		std::atomic<uint64_t> tried, ok;
	};
	static constexpr size_t slots = 512;

	Slot *find(const char *name);
	Slot *slot_;
};

/** Becomes a user who may do nothing. */
void become_nobody();
ibv_context *open_device(const std::string &name);
/** True if something has been noted as wrong (see ops::note_failure()). */
bool failed();

/* The programs; each returns its exit status. */
int run_process(const Options &o);
int run_victim(const Options &o);
int run_attack(const Options &o);
int run_threads(const Options &o);
int run_allocations(const Options &o);
int run_objects(const Options &o);

} // namespace hostile

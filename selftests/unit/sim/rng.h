// SPDX-License-Identifier: GPL-2.0
// Random numbers that are the same everywhere for the same seed (splitmix64).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace sim {

class Rng {
public:
	explicit Rng(uint64_t seed) : s_(seed) {}

	uint64_t next()
	{
		uint64_t z = s_ += 0x9E3779B97F4A7C15ULL;

		z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ULL;
		z = (z ^ z >> 27) * 0x94D049BB133111EBULL;
		return z ^ z >> 31;
	}
	// 0 .. n - 1
	uint32_t below(uint32_t n) { return n ? next() % n : 0; }
	// lo .. hi
	uint32_t range(uint32_t lo, uint32_t hi) { return lo + below(hi - lo + 1); }
	// true in @ppm of a million cases
	bool chance(uint32_t ppm) { return below(1000000) < ppm; }
	bool percent(uint32_t p) { return below(100) < p; }
	uint32_t pick(std::initializer_list<uint32_t> of) { return of.begin()[below(of.size())]; }

	std::vector<uint8_t> bytes(size_t n)
	{
		std::vector<uint8_t> v(n);
		size_t i = 0;

		for (; i + 8 <= n; i += 8) {
			uint64_t x = next();
			__builtin_memcpy(v.data() + i, &x, 8);
		}
		for (uint64_t x = next(); i < n; i++, x >>= 8)
			v[i] = x;
		return v;
	}

private:
	uint64_t s_;
};

} // namespace sim

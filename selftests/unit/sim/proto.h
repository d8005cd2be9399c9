// SPDX-License-Identifier: GPL-2.0
// The protocol core, seen from C++; and bursts that own their payload.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" {
#include "../../../kernel/proto/icrc.h"
#include "../../../kernel/proto/opcode.h"
#include "../../../kernel/proto/rc.h"
#include "../../../kernel/proto/rc_int.h"
}

namespace sim {

using Bytes = std::vector<uint8_t>;

struct Burst {
	pib_hdrs h{};
	uint32_t npkts = 1;
	Bytes data;
};

// A fault that a run has found.
struct Failure : std::runtime_error {
	using std::runtime_error::runtime_error;
};

[[noreturn]] inline void fail(const std::string &what)
{
	throw Failure(what);
}

inline void expect(bool ok, const char *what)
{
	if (!ok)
		fail(what);
}

// Packets @i .. @i + @n - 1 of @b.
Burst part(const Burst &b, uint32_t i, uint32_t n, uint32_t mtu);

// To the wire and back: @flip >= 0 inverts that bit on the way. False: dropped.
bool over_wire(Burst &packet, int64_t flip);

// For traces.
std::string describe(const Burst &b);

} // namespace sim

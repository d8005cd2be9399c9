/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The acknowledgements that go over the wire between two devices. Where no
 * wire was named (--capture) there is nothing to see, and nothing is checked.
 */
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "harness.h"

namespace ops {

/* AETH syndromes (9.7.5.1.1, 9.7.5.2) */
enum Syndrome : uint8_t {
	nak_rnr = 0x20, /* with the timer in the low bits */
	nak_sequence = 0x60,
	nak_invalid_request = 0x61,
	nak_remote_access = 0x62,
	nak_remote_op = 0x63,
};

/** A packet socket of that type there, or -1. @where: "NETNS:NETDEV" */
int open_wire(const std::string &where, int type);

class Wire {
public:
	/** @where: "NETNS:NETDEV", or empty */
	explicit Wire(const std::string &where);
	~Wire();
	Wire(const Wire &) = delete;
	Wire &operator=(const Wire &) = delete;

	/** Fails unless such a NAK was sent to that QP (RNR: with any timer). */
	void expect_nak(uint32_t qpn, uint8_t syndrome);

private:
	void take(uint32_t qpn);

	int fd_ = -1;
	std::set<uint8_t> seen_;
};

} // namespace ops

/* SPDX-License-Identifier: GPL-2.0 */
/* Packets that no queue pair would send: those of a queue pair, changed, and sent again where its netdev is. */
#pragma once

#include <cstdint>
#include <vector>

#include "env.h"

namespace ops {

/** A datagram with one IB packet, which was seen on its way out. */
struct Packet {
	std::vector<uint8_t> ethernet, ip, link; /* headers: the last is UDP's and the link's */
	std::vector<uint8_t> ib;		 /* LRH to ICRC, which is not computed */

	bool has_grh() const { return (ib[1] & 3) == 3; }
	/** The BTH: at is an offset in it. */
	uint8_t &bth(size_t at) { return ib[8 + (has_grh() ? 40 : 0) + at]; }
	uint32_t qpn() { return bth(5) << 16 | bth(6) << 8 | bth(7); }
	/** The packet that its sender would send next. */
	void next();
	/** A GRH that names these ports. */
	void add_grh(const ibv_gid &from, const ibv_gid &to);
};

class Forger {
public:
	/** Skips the case where there is nothing to be seen (--capture). */
	explicit Forger(const Env &env);
	~Forger();
	Forger(const Forger &) = delete;
	Forger &operator=(const Forger &) = delete;

	/** The last one that was sent to that queue pair. */
	Packet last_to(uint32_t qpn);
	void send(Packet packet);

private:
	int fd_;
};

} // namespace ops

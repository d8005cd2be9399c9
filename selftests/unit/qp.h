// SPDX-License-Identifier: GPL-2.0
// One queue pair under test, spoken to by hand; and two with a path that a test controls.
#pragma once

#include <gtest/gtest.h>

#include "sim/node.h"

namespace qp {

using sim::Burst;
using sim::Bytes;
using sim::Node;
using sim::NodeCfg;
using sim::Wc;
using sim::Work;

constexpr uint32_t kMtu = 256, kPsn = 1000, kKey = 0x77, kReadKey = 0x78;
constexpr uint64_t kVa = 0x10000, kTimeout = 4096ULL << 8;

inline NodeCfg config(uint8_t tp = PIB_TP_RC)
{
	NodeCfg c;

	c.req = {.tp = tp,
		 .retry_cnt = 7,
		 .rnr_retry = 7,
		 .timeout = 8,
		 .max_rd_atomic = 4,
		 .pmtu = kMtu,
		 .dqpn = 0x22,
		 .max_burst = 4 * kMtu,
		 .max_window = 0};
	c.resp = {.tp = tp,
		  .min_rnr_timer = 12,
		  .max_rd_atomic = 4,
		  .credits = false,
		  .pmtu = kMtu,
		  .dqpn = 0x22,
		  .max_burst = 4 * kMtu};
	c.sq_psn = c.rq_psn = kPsn;
	c.qkey = 0x1111;
	return c;
}

// Bytes that tell their place.
inline Bytes pattern(size_t n, uint8_t from = 0)
{
	Bytes b(n);

	for (size_t i = 0; i < n; i++)
		b[i] = from + i + i / 251;
	return b;
}

inline Work work(uint64_t id, uint8_t opcode, uint32_t len, uint8_t flags = PIB_WR_SIGNALED)
{
	Work k;

	k.w.wr_id = id;
	k.w.opcode = opcode;
	k.w.len = len;
	k.w.flags = flags;
	k.w.va = kVa;
	k.w.rkey = kKey;
	k.w.flush = 1;
	k.w.dqpn = 0x33;
	k.w.qkey = 0x1111;
	k.data = opcode == PIB_WR_READ ? Bytes(len) : pattern(len, id);
	return k;
}

// A QP with memory registered, at time @now.
class Qp {
public:
	explicit Qp(const NodeCfg &c = config()) : n(c)
	{
		n.mem[kKey] = {.va = kVa, .bytes = pattern(8192, 3)};
		n.mem[kReadKey] = {.va = kVa, .bytes = pattern(8192, 3), .writable = false};
	}

	void post(uint8_t opcode, uint32_t len, uint8_t flags = PIB_WR_SIGNALED)
	{
		n.post(work(next_id++, opcode, len, flags));
	}
	void recvs(int count, size_t size = 4096)
	{
		for (; count; count--)
			n.post_recv({uint64_t(count), Bytes(size)});
	}
	// The bursts that it sends now.
	std::vector<Burst> sends()
	{
		std::vector<Burst> v;

		n.run(now);
		v.assign(n.out.begin(), n.out.end());
		n.out.clear();
		return v;
	}
	// Takes @b in, and what it sends then.
	std::vector<Burst> gets(Burst b)
	{
		n.inbox.push_back(std::move(b));
		return sends();
	}
	std::vector<Burst> after(uint64_t ns)
	{
		now += ns;
		return sends();
	}
	// Statuses of the send completions since the last call, as "id:status".
	std::string done()
	{
		std::string s;

		for (; !n.sent.empty(); n.sent.pop_front())
			s += (s.empty() ? "" : " ") + std::to_string(n.sent.front().id) + ":" +
			     std::to_string(n.sent.front().status);
		return s;
	}
	Wc received()
	{
		Wc wc{.status = 999, .data = {}};

		if (!n.received.empty()) {
			wc = n.received.front();
			n.received.pop_front();
		}
		return wc;
	}

	Node n;
	uint64_t now = 1000000, next_id = 1;
};

inline Burst ack(uint32_t psn, uint8_t syndrome = 0x1F, uint32_t msn = 0)
{
	Burst b;

	b.h.op = PIB_OP_ACK;
	b.h.flags = PIB_H_FIRST | PIB_H_LAST;
	b.h.psn = psn & PIB_PSN_MASK;
	b.h.syndrome = syndrome;
	b.h.msn = msn;
	return b;
}

constexpr uint8_t kRnr = 0x20, kNak = 0x60;

inline Burst read_resp(uint32_t psn, uint32_t npkts, Bytes data, uint16_t flags)
{
	Burst b;

	b.h.op = PIB_OP_READ_RESP;
	b.h.flags = flags;
	b.h.psn = psn & PIB_PSN_MASK;
	b.h.syndrome = 0x1F;
	b.npkts = npkts;
	b.data = std::move(data);
	return b;
}

inline Burst atomic_ack(uint32_t psn, uint64_t orig)
{
	Burst b = ack(psn);

	b.h.op = PIB_OP_ATOMIC_ACK;
	b.h.compare = orig;
	return b;
}

constexpr uint16_t kFirst = PIB_H_FIRST, kLast = PIB_H_LAST, kOnly = kFirst | kLast,
		   kAckReq = PIB_H_ACKREQ;

// A request burst for the responder.
inline Burst request(uint8_t op, uint32_t psn, uint32_t npkts, size_t len, uint16_t flags)
{
	Burst b;

	b.h.op = op;
	b.h.psn = psn & PIB_PSN_MASK;
	b.h.flags = flags;
	b.h.va = kVa;
	b.h.rkey = kKey;
	b.h.dmalen = len;
	b.h.flush = 1;
	b.npkts = npkts;
	if (op == PIB_OP_SEND || op == PIB_OP_WRITE)
		b.data = pattern(len, psn);
	return b;
}

inline Burst with(Burst b, const std::function<void(Burst &)> &change)
{
	change(b);
	return b;
}

// "op@psn+npkts", a NAK as "NAK<syndrome>@psn"; for whole lists.
inline std::string str(const std::vector<Burst> &v)
{
	static const char *const ops[] = {"SEND",   "WRITE", "READ", "RESP",  "ACK",
					  "ATOMIC", "CAS",   "FAA",  "FLUSH", "AW"};
	std::string s;

	for (const auto &b : v) {
		bool nak = b.h.op == PIB_OP_ACK && b.h.syndrome >= 0x20;
		char text[64];

		if (nak)
			std::snprintf(text, sizeof(text), "NAK%02x@%u", b.h.syndrome, b.h.psn);
		else
			std::snprintf(text, sizeof(text), "%s@%u+%u", ops[b.h.op], b.h.psn,
				      b.npkts);
		s += (s.empty() ? "" : " ") + std::string(text);
	}
	return s;
}

} // namespace qp

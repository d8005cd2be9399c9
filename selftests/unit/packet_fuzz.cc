// SPDX-License-Identifier: GPL-2.0
// Packets of the wire go through the parser. Those that parse go into a responder and a requester
// in the middle of their work.
//
// Input: byte 0 the transport and configuration, then packets, each with two bytes of length
// before it (bit 15: repeat PSN and QP numbers as the QP expects them, to get past those checks).
#include <cstring>
#include <memory>

#include "sim/node.h"
#include "sim/proto.cc" // NOLINT: one translation unit per fuzz target
#include "sim/node.cc"	// NOLINT

using namespace sim;

namespace {

constexpr uint32_t kMtu = 256, kPsn = 0xFFFFF0;

NodeCfg config(uint8_t mode)
{
	static const uint8_t tps[] = {PIB_TP_RC, PIB_TP_XRC, PIB_TP_UC, PIB_TP_UD};
	uint8_t tp = tps[mode & 3];
	NodeCfg c;

	c.req = {.tp = tp,
		 .retry_cnt = 3,
		 .rnr_retry = 2,
		 .timeout = 8,
		 .max_rd_atomic = 4,
		 .pmtu = kMtu,
		 .dqpn = 1,
		 .max_burst = 4 * kMtu,
		 .max_window = 0};
	c.resp = {.tp = tp,
		  .min_rnr_timer = 1,
		  .max_rd_atomic = 4,
		  .credits = bool(mode & 4),
		  .pmtu = kMtu,
		  .dqpn = 1,
		  .max_burst = 4 * kMtu};
	c.sq_psn = c.rq_psn = kPsn;
	c.qkey = 0x11223344;
	c.late_min = mode & 8 ? 1 : 0;
	return c;
}

void post(Node &n, uint64_t id, uint8_t op, uint32_t len)
{
	Work k;

	k.w.wr_id = id;
	k.w.opcode = op;
	k.w.len = len;
	k.w.swap = 0;
	k.data.assign(len, 0x5A);
	n.post(k);
}

void prepare(Node &n)
{
	static const uint8_t ops[] = {
		PIB_WR_SEND,  PIB_WR_READ, PIB_WR_CAS,		PIB_WR_WRITE,
		PIB_WR_FLUSH, PIB_WR_READ, PIB_WR_ATOMIC_WRITE, PIB_WR_SEND_IMM,
	};
	uint64_t id = 0;

	n.mem[1] = {.va = 0x1000, .bytes = Bytes(4096)};
	n.mem[2] = {.va = ~0ULL - 4095, .bytes = Bytes(4096)};
	for (int i = 0; i < 8; i++)
		n.post_recv({uint64_t(i), Bytes(600)});
	for (uint8_t op : ops)
		post(n, id++, op, op == PIB_WR_CAS || op == PIB_WR_ATOMIC_WRITE ? 8 : 700);
}

void check_roundtrip(const pib_hdrs &h, size_t payload_len)
{
	uint8_t buf[PIB_HDRS_MAX] = {};
	size_t n = pib_hdrs_build(&h, payload_len, buf), hdr_len, len;
	size_t total = pib_opcode_wire_len(&h, payload_len);
	pib_hdrs again;

	expect(n && n <= PIB_HDRS_MAX, "what was parsed cannot be built");
	expect(!pib_hdrs_parse(&again, buf, n, total, &hdr_len, &len),
	       "what was built cannot be parsed");
	expect(hdr_len == n && len == payload_len, "lengths change");
	expect(!std::memcmp(&h, &again, sizeof(h)), "headers change");
}

void packet(Node &n, const uint8_t *p, size_t len, bool in_sequence, uint64_t now)
{
	// A copy of its own, so that ASan sees the first byte beyond it.
	std::unique_ptr<uint8_t[]> raw(new uint8_t[len]);
	size_t hdr_len, payload_len;
	Burst b;

	std::memcpy(raw.get(), p, len);
	if (pib_hdrs_parse(&b.h, raw.get(), len, len, &hdr_len, &payload_len))
		return;
	check_roundtrip(b.h, payload_len);
	b.data.assign(raw.get() + hdr_len, raw.get() + hdr_len + payload_len);
	if (in_sequence)
		b.h.psn = pib_op_is_response(b.h.op) ? pib_psn_add(n.req.una_psn, b.h.psn & 3)
						     : n.resp.epsn;
	n.inbox.push_back(b);
	n.run(now);
	n.out.clear();
	n.sent.clear();
	n.received.clear();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	Node n(config(data[0]));
	uint64_t now = 1000;

	prepare(n);
	n.run(now);
	for (data++, size--; size > 2;) {
		size_t head = data[0] << 8 | data[1], len = head & 0x1FFF;

		data += 2;
		size -= 2;
		len = len < size ? len : size;
		packet(n, data, len, head & 0x8000, now += 100000);
		data += len;
		size -= len;
	}
	return 0;
}

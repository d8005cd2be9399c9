// SPDX-License-Identifier: GPL-2.0
/*
 * UC and UD. A message that arrives must be, as a whole, one of those sent lately. A WRITE's
 * target is used again only long after: nothing that is under way can change it meanwhile.
 * Long is a matter of time and of what has arrived since, for a machine may stand still.
 */
#include "traffic.h"

#include <arpa/inet.h>
#include <algorithm>

namespace soak {

static constexpr unsigned slot_count = 64, kept = 4096, messages_between = 256;
static constexpr auto rest = std::chrono::milliseconds(500);

Unreliable::Unreliable(End &a_, End &b_, std::vector<Target> targets, uint32_t max_length,
		       Rng &rng) :
	Traffic(a_, b_, std::move(targets), max_length, rng),
	slots_mem_(b_.host.pd.get(), size_t(slot_count) * max_length), slots_(slot_count)
{
	ibv_ah_attr attr{};

	if (a.opt.type != IBV_QPT_UD)
		return;
	attr.dlid = b.host.dev.port_attr.lid;
	attr.port_num = a.host.dev.port;
	ah_.reset(ops::made(ibv_create_ah(a.host.pd.get(), &attr), "ibv_create_ah"));
	a.ah = ah_.get();
}

bool Unreliable::choose_slot(size_t &offset)
{
	unsigned i = rng_.below(slot_count);
	auto now = Clock::now();

	if (now - slots_[i].used < rest || arrived_ < slots_[i].again)
		return false;
	slots_[i] = {now, next_imm_ + messages_between};
	offset = i * size_t(max_length_);
	return true;
}

void Unreliable::post()
{
	bool ud = a.opt.type == IBV_QPT_UD;
	Message m;

	if (!a.room())
		return;
	m.write = !ud && rng_.percent(40) && choose_slot(m.offset);
	m.payload = a.host.payload(rng_, length(), 4);
	m.imm = next_imm_++;
	auto sg = a.host.sges(m.payload);
	/* Without immediate data nothing tells that a WRITE has arrived; SENDs are known by their bytes. */
	bool imm = m.payload.length < 16 || rng_.percent(60) || (m.write && rng_.percent(80));
	ibv_send_wr wr = request(m.write ? (imm ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE)
					 : (imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND),
				 sg, true);
	const char *name = m.write ? (imm ? "WRITE_IMM" : "WRITE") : (imm ? "SEND_IMM" : "SEND");

	wr.imm_data = htonl(m.imm);
	if (!imm)
		m.imm = 0;
	if (ud)
		wr.wr.ud = {ah_.get(), b.qp->qp_num, qkey};
	else
		wr.wr.rdma = {slots_mem_.addr(m.offset), slots_mem_.rkey()};
	count(name, m.payload.length);
	a.post(wr,
	       {.opcode = m.write ? IBV_WC_RDMA_WRITE : IBV_WC_SEND,
		.name = name,
		.done = [](bool) {}},
	       rng_);
	recent_.push_back(std::move(m));
	if (recent_.size() > kept)
		recent_.pop_front();
}

bool Unreliable::fits(const Message &m, const ibv_wc &wc, const uint8_t *data) const
{
	bool imm = wc.wc_flags & IBV_WC_WITH_IMM, write = wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM;
	uint32_t grh = a.opt.type == IBV_QPT_UD ? 40 : 0;

	if (m.write != write || (imm ? ntohl(wc.imm_data) : 0) != m.imm ||
	    wc.byte_len != m.payload.length + grh)
		return false;
	return a.host.same(m.payload, write ? slots_mem_.at(m.offset) : data + grh);
}

void Unreliable::message(const ibv_wc &wc, const uint8_t *data)
{
	for (auto m = recent_.rbegin(); m != recent_.rend(); ++m) {
		if (!fits(*m, wc, data))
			continue;
		counts.duplicates += m->seen;
		m->seen = true;
		arrived_ = std::max(arrived_, m->imm);
		return;
	}
	FAIL("what was received is no message that was sent: length " +
	     std::to_string(wc.byte_len) +
	     (wc.wc_flags & IBV_WC_WITH_IMM ? ", immediate " + std::to_string(ntohl(wc.imm_data))
					    : ""));
}

} // namespace soak

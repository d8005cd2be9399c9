// SPDX-License-Identifier: GPL-2.0
#include "traffic.h"

#include <algorithm>

namespace soak {

Traffic::Traffic(End &a_, End &b_, std::vector<Target> targets, uint32_t max_length, Rng &rng) :
	a(a_), b(b_), targets_(std::move(targets)), max_length_(max_length), rng_(rng)
{
}

uint32_t Traffic::length()
{
	uint32_t mtu = 128u << a.opt.mtu, packets = std::max(1u, max_length_ / mtu);

	switch (rng_.below(8)) {
	case 0: return rng_.below(2);
	case 1:
	case 2: return rng_.below(std::min(max_length_, 64u) + 1);
	case 3: return rng_.below(std::min(max_length_, mtu) + 1);
	case 4: return std::min(max_length_, mtu * rng_.range(1, packets));
	case 5: return std::min(max_length_, mtu * rng_.range(1, packets) + 1);
	default: return rng_.below(max_length_ + 1);
	}
}

ibv_send_wr Traffic::request(ibv_wr_opcode op, std::vector<ibv_sge> &sg, bool may_inline)
{
	ibv_send_wr wr{};
	uint32_t length = 0;

	for (const auto &sge : sg)
		length += sge.length;
	wr.opcode = op;
	wr.sg_list = sg.data();
	wr.num_sge = sg.size();
	if (may_inline && length <= 256 && rng_.percent(50))
		wr.send_flags |= IBV_SEND_INLINE;
	if (rng_.percent(10))
		wr.send_flags |= IBV_SEND_SOLICITED;
	if (rng_.percent(5) && a.opt.type != IBV_QPT_UC && a.opt.type != IBV_QPT_UD)
		wr.send_flags |= IBV_SEND_FENCE;
	return wr;
}

void Traffic::count(const char *name, uint32_t bytes)
{
	counts.messages++;
	counts.bytes += bytes;
	counts.by_name[name]++;
}

void Traffic::received(const ibv_wc &wc)
{
	for (auto &target : targets_) {
		if (!target.receives->owns(wc.wr_id))
			continue;
		const uint8_t *data = target.receives->take(wc.wr_id);
		if (wc.status == IBV_WC_SUCCESS) {
			message(wc, data);
			counts.received++;
		} else if (wc.status != IBV_WC_WR_FLUSH_ERR) {
			FAIL(std::string("a receive completes with: ") +
			     ibv_wc_status_str(wc.status));
		} else if (!b.broken()) {
			CHECK(b.in_error());
		}
		target.receives->give_back(wc.wr_id);
		return;
	}
	FAIL("a receive completion with an id that nobody has given");
}

} // namespace soak

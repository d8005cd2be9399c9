// SPDX-License-Identifier: GPL-2.0
#include "receives.h"

#include <algorithm>

namespace soak {

/* wr_id: tag in the top byte, then a generation that makes it unique, index in the low 16 bits. */
static unsigned index_of(uint64_t id)
{
	return id & 0xffff;
}

Receives::Receives(Host &host, unsigned count, uint32_t size, ibv_srq *srq, unsigned tag) :
	mem_(host.pd.get(), size_t(count) * size), size_(size), srq_(srq), tag_(tag),
	buffers_(count)
{
	for (unsigned i = 0; i < count; i++)
		free_.push_back(i);
}

void Receives::refill(Rng &rng, bool sparing)
{
	size_t n = sparing ? std::min<size_t>(free_.size(), rng.below(3)) : free_.size();

	for (; n; n--) {
		unsigned i = free_.front();
		ibv_sge sge = mem_.sge(size_t(i) * size_, size_);
		ibv_recv_wr wr{}, *bad = nullptr;

		wr.wr_id = tag_ << 56 | (++generation_ & 0xffffffffff) << 16 | i;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		if (int err = srq_ ? ibv_post_srq_recv(srq_, &wr, &bad)
				   : ibv_post_recv(qp_, &wr, &bad))
			FAIL(std::string("posting a receive: ") + strerror(err));
		free_.pop_front();
		buffers_[i] = {wr.wr_id, true};
		posted_++;
		if (!srq_)
			order_.push_back(wr.wr_id);
	}
}

const uint8_t *Receives::take(uint64_t id)
{
	unsigned i = index_of(id);

	CHECK(i < buffers_.size());
	if (!buffers_[i].posted || buffers_[i].id != id)
		FAIL("a receive completes that was not posted, or twice");
	if (!srq_) {
		CHECK(!order_.empty());
		if (order_.front() != id)
			FAIL("receives complete out of order");
		order_.pop_front();
	}
	buffers_[i].posted = false;
	posted_--;
	return mem_.at(size_t(i) * size_);
}

void Receives::give_back(uint64_t id)
{
	free_.push_back(index_of(id));
}

} // namespace soak

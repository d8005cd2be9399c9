/* SPDX-License-Identifier: GPL-2.0 */
/* Receive work requests and their buffers: of one QP, or of an SRQ. */
#pragma once

#include <deque>

#include "host.h"

namespace soak {

class Receives {
public:
	/** @srq: NULL: of a QP, see attach(). @tag: tells several of one CQ apart. */
	Receives(Host &host, unsigned count, uint32_t size, ibv_srq *srq, unsigned tag = 0);

	void attach(ibv_qp *qp) { qp_ = qp; }
	/** Posts what is free, or only a few of it. */
	void refill(Rng &rng, bool sparing);
	bool owns(uint64_t id) const { return id >> 56 == tag_; }
	/** The buffer of a completed request; fails unless it was posted, and in its turn. */
	const uint8_t *take(uint64_t id);
	void give_back(uint64_t id);
	bool all_back() const { return posted_ == 0; }
	bool shared() const { return srq_; }
	uint32_t size() const { return size_; }

private:
	struct Buffer {
		uint64_t id = 0;
		bool posted = false;
	};
	uint64_t id_of(unsigned i) const;

	Memory mem_;
	uint32_t size_;
	ibv_srq *srq_;
	ibv_qp *qp_ = nullptr;
	uint64_t tag_, generation_ = 0;
	unsigned posted_ = 0;
	std::vector<Buffer> buffers_;
	std::deque<unsigned> free_;
	std::deque<uint64_t> order_;
};

} // namespace soak

/* SPDX-License-Identifier: GPL-2.0 */
/* Rings, and doorbells, past the provider. */
#pragma once

#include <fstream>
#include <rdma/ib_user_verbs.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "end.h"

namespace ops {

/* The head of a ring: struct pib_ring_hdr */
struct Ring {
	volatile uint32_t producer, arm, pad0[14], consumer, busy;
};

inline std::vector<Ring *> rings()
{
	std::vector<Ring *> all;
	std::ifstream maps("/proc/self/maps");
	for (std::string line; std::getline(maps, line);)
		if (line.find("/uverbs") != std::string::npos)
			all.push_back(reinterpret_cast<Ring *>(std::stoul(line, nullptr, 16)));
	if (all.empty())
		throw Skip("no rings are mapped");
	return all;
}

/* The ring whose producer moves when this is posted. */
template <typename Post>
Ring *ring_of(Post post)
{
	std::vector<Ring *> all = rings();
	std::vector<uint32_t> before;
	for (Ring *r : all)
		before.push_back(uint32_t(r->producer));
	post();
	for (size_t i = 0; i < all.size(); i++)
		if (all[i]->producer == before[i] + 1)
			return all[i];
	throw Skip("the ring is not mapped");
}

/* The doorbell of a send queue, by itself. */
inline void ring_send(End &e)
{
	struct {
		ib_uverbs_cmd_hdr header;
		ib_uverbs_post_send request;
	} c{};
	uint32_t answer;

	c.header = {IB_USER_VERBS_CMD_POST_SEND, sizeof(c) / 4, 1};
	c.request.response = reinterpret_cast<uintptr_t>(&answer);
	c.request.qp_handle = e.qp->handle;
	c.request.wqe_size = sizeof(ib_uverbs_send_wr);
	CHECK_EQ(write(e.dev.ctx->cmd_fd, &c, sizeof(c)), ssize_t(sizeof(c)));
}

} // namespace ops

// SPDX-License-Identifier: GPL-2.0
/* What one user does, on purpose or not, is not to be felt by the others. */
#include <atomic>
#include <fstream>
#include <thread>

#include "end.h"
#include "suites.h"

namespace ops {

namespace {

/* The head of a ring: struct pib_ring_hdr */
struct Ring {
	volatile uint32_t producer, arm, pad0[14], consumer, busy;
};

std::vector<Ring *> rings()
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

/* The receive ring: its producer moves when a receive is posted. */
Ring *receive_ring(End &e)
{
	std::vector<Ring *> all = rings();
	std::vector<uint32_t> before;
	for (Ring *r : all)
		before.push_back(uint32_t(r->producer));
	e.recv({e.sge(0, 64)});
	for (size_t i = 0; i < all.size(); i++)
		if (all[i]->producer == before[i] + 1)
			return all[i];
	throw Skip("no receive ring is mapped");
}

/*
 * Receives are posted as fast as those of a QP in error are flushed. A QP that was never done would
 * keep its CPU, and everybody whose QPs stand on that CPU's list.
 */
void refilled_queue(const Env &env)
{
	Pair p(env), other(env);
	Ring *ring = receive_ring(p.b);
	std::atomic<bool> stop = false;
	std::thread refill([&] {
		while (!stop)
			ring->producer = ring->consumer + 8;
	});
	try {
		p.b.to(IBV_QPS_ERR);
		for (int i = 0; i < 50; i++) {
			other.ping();
			CHECK_EQ(p.b.state(), IBV_QPS_ERR);
		}
	} catch (...) {
		stop = true;
		refill.join();
		throw;
	}
	stop = true;
	refill.join();
}

} // namespace

void add_isolation(Suite &suite)
{
	suite.add("isolation.refilled_queue", refilled_queue);
}

} // namespace ops

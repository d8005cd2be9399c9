// SPDX-License-Identifier: GPL-2.0
// One run: two nodes, a path between them, an application on each, virtual time.
#pragma once

#include <queue>
#include <set>

#include "model.h"

namespace sim {

// Counts of what a run saw, for the summary.
struct Outcome {
	uint64_t packets = 0;
	uint64_t lost = 0;
	uint64_t messages = 0;
	uint64_t completions = 0;
	uint64_t retransmits = 0;
	uint64_t timeouts = 0;
	uint64_t rnr = 0;
	uint64_t errors = 0; // queues that ended with an error status
};

class Run {
public:
	Run(const Params &p, bool trace);
	// Throws Failure.
	Outcome go();

private:
	enum class What { Wake, Arrive, App, Event, Reset };
	struct Event {
		uint64_t at;
		uint64_t order;
		What what;
		int node;
		uint32_t life; // resets before it
		Burst burst;

		bool operator<(const Event &o) const // for a queue that gives the latest first
		{
			return at != o.at ? at > o.at : order > o.order;
		}
	};

	void start();
	void push(uint64_t at, What what, int node, Burst b = {});
	void wake(int node, uint64_t after);
	void handle(Event &e);
	void app(int i);
	void post(int i);
	void post_recvs(int i);
	void turn(int i);
	void collect(int i);
	void send_out(int i);
	void carry(int from, Burst b);
	void one_part(int from, Burst b);
	bool lose();
	void injected();
	void one_down();
	void reset();
	void reconfigure(int i);
	void check_request(int i, const pib_tx_req &tx, const Work &k);
	bool finished(int i) const;
	bool quiet() const;
	void check_end();
	void say(const char *what, int node, const std::string &more);

	Params p_;
	Rng g_;
	bool trace_;
	std::unique_ptr<Node> node_[2];
	std::unique_ptr<Model> model_[2]; // of what node i sends
	std::priority_queue<Event> events_;
	uint64_t now_ = 1000, order_ = 0, progress_ = 0;
	uint32_t life_ = 0;
	uint64_t wake_at_[2] = {}, last_arrival_[2] = {}, next_id_[2] = {};
	uint32_t posted_[2] = {}, lost_ = 0;
	bool stopped_[2] = {}, applied_ = false;
	std::set<uint64_t> unanswered_[2]; // READs and atomics sent and not completed
	Outcome out_;
};

} // namespace sim

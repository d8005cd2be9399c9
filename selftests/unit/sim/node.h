// SPDX-License-Identifier: GPL-2.0
// An env for one queue pair: its memory, its queues, and the loop that the kernel's engine runs.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "proto.h"

namespace sim {

constexpr uint32_t kAnyDomain = ~0u;

// Registered memory that the peer may touch, or a window onto it.
struct Region {
	uint64_t va;
	Bytes bytes;
	bool readable = true;
	bool writable = true;
	uint32_t of = 0;	      // a window onto the region with this key
	uint32_t domain = kAnyDomain; // XRC: only requests that name this SRQ may use it
};

struct Recv {
	uint64_t id;
	Bytes buf;
};

// A completion of either queue. @data: what a receive or a READ or atomic brought.
struct Wc {
	uint64_t id = 0;
	uint32_t status = PIB_WC_SUCCESS;
	uint8_t op = 0;
	uint32_t len = 0;
	uint32_t ex = 0;
	uint16_t flags = 0;
	Bytes data;
};

// A work request with the memory that belongs to it.
struct Work {
	pib_swqe w{};
	Bytes data;		 // SEND, WRITE: payload; READ, atomics: where the answer lands
	uint32_t bad_from = ~0u; // the payload from here on cannot be fetched (or stored)
	// Local operations: what it does; the completion status.
	std::function<uint32_t(class Node &)> execute = nullptr;
};

struct NodeCfg {
	pib_req_cfg req{};
	pib_resp_cfg resp{};
	uint32_t sq_psn = 0;
	uint32_t rq_psn = 0;
	uint32_t ring = 64;
	uint32_t nres = 16;
	uint32_t qkey = 0;
	bool srq = false;      // receives from a queue that others share
	uint32_t late_min = 0; // of pib_req_set_lossy(), ns
};

class Node {
public:
	explicit Node(const NodeCfg &cfg);
	Node(const Node &) = delete;

	// Reset, and up again with another configuration. Memory stays.
	void restart(const NodeCfg &cfg);

	bool can_post() { return pib_req_slot(&req) != nullptr; }
	void post(const Work &work);
	void post_recv(Recv r, uint32_t srqn = 0);
	// SRQ: another QP takes the oldest one.
	void steal_recv();
	// One turn of the engine: takes in what lies in @inbox, sends at most @budget bursts to
	// @out. True if there was more to send.
	bool run(uint64_t now, uint32_t budget = ~0u);
	// To the error state.
	void error();
	// modify_qp(SQE -> RTS)
	void resume();
	// modify_qp(SQD) and back.
	void stop(bool on) { pib_req_stop(&req, on); }

	pib_req req;
	pib_resp resp;
	NodeCfg cfg;
	std::map<uint32_t, Region> mem;		 // by R_Key
	std::map<uint32_t, std::deque<Recv>> rq; // by SRQ number
	std::deque<Burst> inbox;
	std::deque<Burst> out;
	std::deque<Wc> sent;		// send completions
	std::deque<Wc> received;	// receive completions
	std::map<uint64_t, Work> works; // posted, not completed
	std::optional<Recv> cur;	// being received into
	std::set<uint64_t> recvs;	// ids of receives posted, not completed
	bool in_error = false;
	bool sqe = false;		    // UC, UD: in the send queue error state
	bool down = false;		    // in RESET: takes nothing in, sends nothing
	bool responder_error = false;	    // by a fatal NAK of its own
	bool read_memory_gone = false;	    // READ responses find no memory
	bool no_remote_access = false;	    // the QP lets nobody read, write or flush
	std::function<bool()> page_missing; // memory that is touched next is not there for long
	uint64_t executed_locals = 0;
	uint64_t broken_at = ~0ULL; // work request that could not be sent
	uint64_t no_recv = 0;	    // datagrams without a receive work request
	// Told of each request burst before it goes out, and of each WRITE placed.
	std::function<void(const pib_tx_req &, const Work &)> on_request;
	std::function<void(const pib_act &)> on_write;
	// SEND with invalidate: says whether the peer may invalidate this key. Unset: any.
	std::function<bool(uint32_t)> on_invalidate;

private:
	struct Slot {
		pib_swqe w;
		uint64_t pad;
	};

	Work &work_of(pib_swqe *w) { return works.at(w->wr_id); }
	void take_in(Burst &b, uint64_t now);
	void response(Burst &b, uint64_t now);
	void request(Burst &b);
	void datagram(Burst &b);
	pib_res execute(const pib_act &act, const Burst &b, uint64_t &orig);
	bool late();
	pib_res exec_send(const pib_act &act, const Burst &b);
	pib_res exec_write(const pib_act &act, const Burst &b);
	pib_res exec_atomic(const pib_act &act, uint64_t &orig);
	bool take_recv(const pib_hdrs &h);
	void finish_recv(const pib_act &act);
	uint8_t *at(uint32_t rkey, uint64_t va, uint64_t len, bool write, uint32_t domain);
	void complete_recv(Wc wc);
	bool send_answer(const pib_tx_req &tx);
	void send_request(pib_tx_req &tx);
	void local(pib_swqe *w);
	void reap();

	std::vector<Slot> ring_;
	std::vector<pib_rd_res> res_;
};

} // namespace sim

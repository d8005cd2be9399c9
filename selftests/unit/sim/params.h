// SPDX-License-Identifier: GPL-2.0
// The kind of run that a seed makes.
#pragma once

#include <string>

#include "node.h"
#include "rng.h"

namespace sim {

// Faults that a run puts in on purpose, beside those of the network.
enum class Inject {
	None,
	BadKey,	    // WRITE, READ or atomic through a key that there is not
	BadRange,   // beyond the end of the region
	Misaligned, // atomic
	TooLong,    // SEND longer than the receive buffer
	LocalSend,  // payload cannot be fetched, from some offset on
	LocalRead,  // READ data cannot be stored
	BadInv,	    // SEND with invalidate of a key that there is not
	LocalOp,    // REG_MR, BIND_MW, LOCAL_INV fails
	BadOpcode,
	MemoryGone, // the responder loses the memory of a READ it has accepted
	Error,	    // modify_qp(ERR) at some time
	Reset,	    // both go to RESET and up again, with packets under way
	ResetApart, // one goes to RESET, some time after it the other
	Count
};

struct Params {
	uint64_t seed;
	uint8_t tp;
	uint32_t mtu;
	NodeCfg node[2];
	uint32_t posts[2];    // work requests to post
	uint32_t max_packets; // of a message
	uint32_t recv_cap;    // receives kept posted at most
	bool recv_late;	      // ... and posted in small lots
	uint32_t unsignalled; // percent of work requests
	bool locals;	      // local operations among the work requests
	bool windows;	      // memory windows come and go
	bool srq;	      // receives come from a queue that others share
	bool paged;	      // memory comes and goes: what needs it is put off at times
	// Path
	uint32_t loss_ppm, dup_ppm, reorder_ppm, corrupt_ppm;
	uint32_t loss_budget;	    // packets that may be lost in all
	uint64_t delay, jitter;	    // ns
	uint64_t outage_at, outage; // ns: when, how long nothing comes through
	uint32_t cut;		    // 0 never, 1 anywhere, 2 into single packets
	bool wire;		    // single packets through build and parse, ICRC checked
	// Engine
	uint32_t budget; // bursts per turn, 0 without end
	uint64_t lag;	 // ns from waking to running, at most
	// Application
	uint64_t think; // ns between posts, at most
	bool sqd;	// goes to SQD and back at times
	bool reconfig;	// modify_qp(RTS -> RTS) at times
	Inject inject;
	uint32_t inject_side;
	uint32_t inject_at; // work request
	uint64_t inject_time;
	// Follows from the others
	bool strict; // RETRY_EXC_ERR must not happen

	bool faulty() const { return loss_ppm || dup_ppm || reorder_ppm || corrupt_ppm || outage; }
	bool reliable() const { return tp == PIB_TP_RC || tp == PIB_TP_XRC; }
	uint32_t max_len() const { return max_packets * mtu; }
	std::string describe() const;
};

// @only: a transport service, negative: any.
Params make_params(uint64_t seed, int only);

} // namespace sim

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection with traffic on it. From time to time it is broken on purpose: one QP or both
 * go to the error state with work under way; all of it has to complete, and the connection is made
 * again.
 */
#pragma once

#include "traffic.h"

namespace soak {

/** A shared receive queue of a host, for several connections. */
struct SharedReceives {
	SharedReceives(Host &host, unsigned count, uint32_t size, unsigned tag);

	ops::Srq srq;
	Receives receives;
};

struct LaneOptions {
	std::string name;
	EndOptions end;
	uint32_t max_length = 32768;
	unsigned receives = 32;
	bool sparing = false;		/* posts few receives at a time: the sender runs into RNR */
	bool may_fail = false;		/* retries may be used up: the path is that bad */
	SharedReceives *shared[2] = {}; /* of host a, of host b */
};

class Lane {
public:
	Lane(Host &a, Host &b, const LaneOptions &options, Rng &rng);

	/** Does what there is to do; false: nothing. */
	bool step();
	/** Post no more, break no more. */
	void finish() { finishing_ = true; }
	bool finished() const { return finished_; }
	std::string summary() const;
	std::string state() const;
	uint64_t messages() const;
	unsigned retries_exceeded() const { return retries_exceeded_; }
	const std::string &name() const { return opt_.name; }
	const auto &traffic() const { return traffic_; }

private:
	bool turn();
	void make_xrc(Host &a, Host &b);
	void make_duplex(Host &a, Host &b);
	void connect();
	bool poll();
	void post();
	void watch_breaks();
	void begin_break(const char *why);
	bool break_further();
	bool drained() const;
	void reconnect();
	void end();
	void check_progress(bool any);

	LaneOptions opt_;
	Rng &rng_;
	ops::Xrcd xrcd_;
	std::vector<std::unique_ptr<End>> ends_;
	std::vector<ops::Srq> srqs_;
	std::vector<std::unique_ptr<Receives>> receives_;
	std::vector<std::unique_ptr<Traffic>> traffic_;
	bool finishing_ = false, finished_ = false, breaking_ = false, on_purpose_ = false;
	Clock::time_point next_break_, break_end_, quiet_until_, last_progress_, last_received_;
	unsigned breaks_ = 0, retries_exceeded_ = 0;
};

} // namespace soak

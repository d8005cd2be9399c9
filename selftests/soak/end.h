/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One end of a connection: a QP, and a record of what is posted on its send queue. Each
 * work request completes once, in order, and is told so: by a completion of its own, or,
 * if it is not signalled, by that of a later one.
 */
#pragma once

#include <deque>
#include <functional>
#include <optional>

#include "receives.h"

namespace soak {

struct EndOptions {
	ibv_qp_type type = IBV_QPT_RC;
	ibv_mtu mtu = IBV_MTU_1024;
	unsigned depth = 32; /* work requests posted at most */
	uint8_t rd_atomic = 4;
	uint8_t timeout = 15;	/* 4.096 us * 2^15 = 134 ms */
	uint8_t rnr_timer = 12; /* 640 us */
	ibv_srq *srq = nullptr;
	ibv_xrcd *xrcd = nullptr;
};

constexpr uint32_t qkey = 0x1ee7c0de;

/** A work request that was posted, and what to do when it has completed. */
struct Posted {
	uint64_t id = 0;
	bool signalled = true;
	ibv_wc_opcode opcode = IBV_WC_SEND;
	const char *name = "";
	bool local =
		false; /* executed by the HCA itself, perhaps ahead of what waits for an answer */
	std::function<void(bool ok)> done;
};

class End {
public:
	End(Host &host, const EndOptions &options);

	void connect(const End &peer, uint32_t psn, uint32_t peer_psn);
	void error();
	void reset();

	bool room() const { return sends() && posted_.size() < opt.depth && !broken_; }
	bool sends() const { return opt.type != IBV_QPT_XRC_RECV; }
	/** Posts @wr; fills its id and the signalled flag in. */
	void post(ibv_send_wr &wr, Posted what, Rng &rng);
	/** ATOMIC_WRITE and FLUSH, which the old interface does not have. */
	void post_atomic_write(uint32_t rkey, uint64_t addr, const void *value, uint32_t srqn,
			       Posted what, Rng &rng);
	void post_flush(uint32_t rkey, uint64_t addr, size_t length, uint32_t srqn, Posted what,
			Rng &rng);
	/** Takes completions in; true if there were any. */
	bool poll_sent();
	/** The next receive completion. */
	std::optional<ibv_wc> poll_received();
	/** Nothing is posted that needs a completion. */
	bool all_sent() const { return posted_.empty(); }
	/** In the error state: what is posted there is flushed, and tells that all before it is over. */
	void post_probe();
	bool last_unsignalled() const { return !posted_.empty() && !posted_.back().signalled; }
	bool broken() const { return broken_; }
	ibv_wc_status broken_by() const { return broken_by_; }
	/** The completions that are there, for people. */
	std::string rest();
	/** As the kernel says. */
	bool in_error() const;
	std::string state() const;

	Host &host;
	EndOptions opt;
	ops::Cq scq, rcq;
	ops::Qp qp;
	uint64_t completions = 0;
	/** UD: where to. */
	ibv_ah *ah = nullptr;
	/** At the end: what is posted now is signalled. */
	bool signal_all = false;

private:
	void modify(ibv_qp_attr &attr, int mask, const char *to);
	void note(Posted what, unsigned flags);
	void post_extended(uint32_t srqn, Posted what, Rng &rng,
			   const std::function<void(ibv_qp_ex *)> &operation);
	bool choose_signal(Rng &rng);
	void sent(const ibv_wc &wc);

	std::deque<Posted> posted_;
	uint64_t next_id_ = 1;
	unsigned unsignalled_ = 0;
	bool broken_ = false;
	ibv_wc_status broken_by_ = IBV_WC_SUCCESS;
};

} // namespace soak

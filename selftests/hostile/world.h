/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All the objects that a process can have, several of each, and random verbs on them. The verbs are
 * meant well for the most part: what always fails goes no deeper than the first check.
 */
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "../lib/slow_file.h"
#include "../verbs/ops/dmabuf.h"
#include "common.h"

namespace hostile {

class World {
public:
	/** The size of each piece of memory, in bytes. */
	static constexpr size_t buffer = 1 << 20;

	/** @slow: a file of @buffer bytes that is memory of his, too, or null */
	World(ibv_context *ctx, const Options &o, Tally &tally, uint64_t seed,
	      const SlowFile *slow = nullptr);

	/** One verb. Threads may call it at the same time; what they do goes one after the other. */
	void step(Rng &rng);
	/** Memory comes and goes, under regions as well. */
	void stir_memory(Rng &rng);
	/** Doorbells and polls without a lock, as a process in a mess would make them. */
	void ring_bells(Rng &rng);

	/** At least one of each kind is there, and in use. */
	void fill_up();
	/** Destroys all that there is, in an order that the verbs allow; what comes of it does not matter. */
	void give_up();
	/** Objects of each kind that are made, asked, changed and unmade: for the commands' sake. */
	static void come_and_go(Rng &rng, ibv_context *ctx);

	ibv_context *ctx() const { return ctx_; }

private:
	static constexpr unsigned max_qps = 12, max_mrs = 12, max_others = 4;

	struct Buffer {
		uint8_t *at;
		/* false: it stays as it is */
		bool stirred;
	};
	struct Queue {
		ibv_qp *qp = nullptr;
		Queue *peer = nullptr;
		bool broken = false;
	};

	/* ---- making and unmaking */
	void make_buffers(const SlowFile *slow);
	void make_shared_queues();
	ibv_qp *make_qp(Rng &rng);
	ibv_mr *make_mr(Rng &rng);
	ibv_mr *make_dmabuf_mr(Rng &rng);
	void add_queue(Rng &rng);
	void drop_queue(Rng &rng);
	void change_regions(Rng &rng);
	void change_windows(Rng &rng);
	void change_addresses(Rng &rng);
	void change_device_memory(Rng &rng);

	/* ---- states */
	int move(Rng &rng, Queue &q, ibv_qp_state state, uint32_t dest);
	void connect(Rng &rng, Queue &a, Queue &b);
	void random_modify(Rng &rng, Queue &q);
	void query(Rng &rng, Queue &q);

	/* ---- data */
	void post(Rng &rng, Queue &q);
	bool complete_wr(Rng &rng, Queue &q, ibv_send_wr &wr, ibv_sge *sge);
	void post_receives(Rng &rng, Queue &q);
	void post_bind(Rng &rng, Queue &q);
	void poll(Rng &rng);
	void drop_events();
	ibv_sge sge(Rng &rng, uint32_t most);
	ibv_mr *remote_region(Rng &rng);

	bool note(const char *name, bool ok)
	{
		tally_.note(name, ok);
		return ok;
	}

	std::mutex lock_;
	ibv_context *ctx_;
	const Options &opt_;
	Tally &tally_;
	ibv_port_attr port_{};
	ibv_gid gid_{};
	ibv_pd *pds_[2];
	ibv_comp_channel *channel_;
	ibv_cq *cqs_[max_others] = {};
	ibv_srq *srqs_[2] = {}, *xsrq_ = nullptr;
	ibv_xrcd *xrcd_ = nullptr;
	Queue queues_[max_qps];
	ibv_mr *mrs_[max_mrs] = {};
	ibv_mw *mws_[max_others] = {};
	ibv_ah *ahs_[max_others] = {};
	ibv_dm *dm_ = nullptr;
	std::vector<Buffer> buffers_;
	std::optional<ops::GpuBuffer> gpu_;
};

} // namespace hostile

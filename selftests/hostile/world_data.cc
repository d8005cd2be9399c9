// SPDX-License-Identifier: GPL-2.0
/* States of a World's queue pairs, and their traffic. */
#include <poll.h>
#include <unistd.h>

#include "world.h"

#include <rdma/ib_user_verbs.h>

namespace hostile {

namespace {

bool reliable(const ibv_qp *qp)
{
	return qp->qp_type != IBV_QPT_UC && qp->qp_type != IBV_QPT_UD;
}

bool sends_only(const ibv_qp *qp)
{
	return qp->qp_type == IBV_QPT_XRC_SEND;
}
bool receives_only(const ibv_qp *qp)
{
	return qp->qp_type == IBV_QPT_XRC_RECV;
}

bool fit(const ibv_qp *a, const ibv_qp *b)
{
	if (sends_only(a) || receives_only(a))
		return sends_only(a) ? receives_only(b) : sends_only(b);
	return a->qp_type == b->qp_type;
}

} // namespace

int World::move(Rng &rng, Queue &q, ibv_qp_state state, uint32_t dest)
{
	bool ud = q.qp->qp_type == IBV_QPT_UD;
	int mask = IBV_QP_STATE;
	ibv_qp_attr a{};

	a.qp_state = state;
	if (state == IBV_QPS_INIT) {
		a.port_num = 1;
		a.qkey = 0x1111;
		a.qp_access_flags = ops::all_access;
		mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
	} else if (state == IBV_QPS_RTR && !ud) {
		a.path_mtu = ibv_mtu(1 + rng.below(5));
		a.dest_qp_num = dest;
		a.max_dest_rd_atomic = 16;
		a.min_rnr_timer = 1 + rng.below(8);
		a.ah_attr.dlid = port_.lid;
		a.ah_attr.port_num = 1;
		a.ah_attr.is_global = rng.one_in(2);
		a.ah_attr.grh.dgid = gid_;
		a.ah_attr.grh.hop_limit = 1;
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
		if (reliable(q.qp) && !sends_only(q.qp))
			mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	} else if (state == IBV_QPS_RTS) {
		a.timeout = 6 + rng.below(6);
		a.retry_cnt = 1 + rng.below(7);
		a.rnr_retry = rng.below(7);
		a.max_rd_atomic = 1 + rng.below(16);
		mask |= IBV_QP_SQ_PSN;
		if (reliable(q.qp) && !receives_only(q.qp))
			mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				IBV_QP_MAX_QP_RD_ATOMIC;
		else if (reliable(q.qp))
			mask |= IBV_QP_TIMEOUT;
	}
	return ibv_modify_qp(q.qp, &a, mask);
}

/* Both ends are reset and connected; an end that fits nobody is connected to itself. */
void World::connect(Rng &rng, Queue &a, Queue &b)
{
	Queue &other = b.qp && fit(a.qp, b.qp) ? b : a;
	Queue *ends[] = {&a, &other};

	for (Queue *q : ends) {
		uint32_t dest =
			rng.one_in(32) ? rng.below(1 << 24) : (q == &a ? other : a).qp->qp_num;

		if (q->peer && q->peer != &a && q->peer != &other)
			q->peer->broken = true;
		move(rng, *q, IBV_QPS_RESET, 0);
		bool ok = !move(rng, *q, IBV_QPS_INIT, 0) && !move(rng, *q, IBV_QPS_RTR, dest) &&
			  !move(rng, *q, IBV_QPS_RTS, 0);
		note("verb modify_qp to RTS", ok);
		q->broken = false;
		q->peer = q == &a ? &other : &a;
	}
}

/* Any attribute with any other: values that are mostly allowed, in a mask that mostly is. */
void World::random_modify(Rng &rng, Queue &q)
{
	static constexpr int optional[] = {IBV_QP_CUR_STATE,
					   IBV_QP_EN_SQD_ASYNC_NOTIFY,
					   IBV_QP_ACCESS_FLAGS,
					   IBV_QP_PKEY_INDEX,
					   IBV_QP_PORT,
					   IBV_QP_QKEY,
					   IBV_QP_AV,
					   IBV_QP_TIMEOUT,
					   IBV_QP_ALT_PATH,
					   IBV_QP_MIN_RNR_TIMER,
					   IBV_QP_PATH_MIG_STATE,
					   IBV_QP_DEST_QPN,
					   IBV_QP_RATE_LIMIT,
					   IBV_QP_MAX_DEST_RD_ATOMIC,
					   IBV_QP_PATH_MTU};
	ibv_qp_attr a{};
	int mask = rng.one_in(3) ? 0 : IBV_QP_STATE;
	ibv_qp_init_attr init;

	if (!q.qp || ibv_query_qp(q.qp, &a, IBV_QP_STATE | IBV_QP_AV, &init))
		return;
	a.cur_qp_state = rng.one_in(8) ? ibv_qp_state(rng.below(8)) : a.qp_state;
	a.qp_state = rng.pick({a.qp_state, a.qp_state, IBV_QPS_SQD, IBV_QPS_RTS, IBV_QPS_ERR,
			       ibv_qp_state(rng.below(8))});
	a.path_mig_state = ibv_mig_state(rng.below(4));
	a.alt_ah_attr = a.ah_attr;
	a.alt_ah_attr.dlid = a.alt_ah_attr.dlid ? a.alt_ah_attr.dlid : port_.lid;
	a.alt_port_num = a.alt_ah_attr.port_num = rng.one_in(8) ? rng.below(4) : 1;
	a.port_num = rng.one_in(8) ? rng.below(4) : 1;
	a.timeout = a.alt_timeout = rng.below(12);
	a.en_sqd_async_notify = rng.below(2);
	for (unsigned n = rng.below(4); n; n--)
		mask |= rng.one_in(16) ? 1 << rng.below(26) : rng.pick(optional);
	if (!opt_.tries("migration"))
		mask &= ~IBV_QP_PATH_MIG_STATE;
	bool ok = !ibv_modify_qp(q.qp, &a, mask);
	note("verb modify_qp at random", ok);
	if (ok && mask & IBV_QP_PATH_MIG_STATE)
		note("verb modify_qp migration", true);
	q.broken |= rng.one_in(2);
}

void World::query(Rng &rng, Queue &q)
{
	ibv_qp_init_attr init;
	ibv_qp_attr a;
	ibv_srq_attr sa;

	if (q.qp)
		note("verb query_qp", !ibv_query_qp(q.qp, &a, rng.next() & 0x3ffffff, &init));
	note("verb query_srq", !ibv_query_srq(rng.pick(srqs_), &sa));
}

ibv_sge World::sge(Rng &rng, uint32_t most)
{
	ibv_mr *mr = mrs_[rng.below(max_mrs)];
	ibv_sge s{};

	if (!mr || (mr->pd != pds_[0] && rng.below(16)))
		mr = mrs_[rng.below(max_mrs)];
	if (!mr)
		return s;
	s.lkey = mr->lkey ^ (rng.one_in(128) ? rng.below(256) : 0);
	s.length = rng.below(most);
	if (mr->length == SIZE_MAX) {
		s.addr = (uintptr_t)buffers_[rng.one_in(4) ? rng.below(buffers_.size()) : 0].at;
		return s;
	}
	s.length = std::min<uint64_t>(s.length, mr->length);
	s.addr = (uintptr_t)mr->addr + rng.below(mr->length - s.length + 1);
	if (rng.one_in(128))
		s.addr = rng.odd();
	if (rng.one_in(128))
		s.length = rng.odd();
	return s;
}

ibv_mr *World::remote_region(Rng &rng)
{
	for (unsigned n = 0; n < 4; n++)
		if (ibv_mr *mr = mrs_[rng.below(max_mrs)])
			return mr;
	return nullptr;
}

void World::post_receives(Rng &rng, Queue &q)
{
	ibv_sge s[2] = {sge(rng, 65536), sge(rng, 65536)};
	ibv_recv_wr wr{rng.next(), nullptr, s, (int)rng.below(3)}, *bad;

	if (q.qp->srq)
		note("post srq_recv", !ibv_post_srq_recv(q.qp->srq, &wr, &bad));
	else if (sends_only(q.qp) || receives_only(q.qp))
		note("post srq_recv", !ibv_post_srq_recv(xsrq_, &wr, &bad));
	else
		note("post recv", !ibv_post_recv(q.qp, &wr, &bad));
}

/* Adds what the opcode needs besides its buffers; false: that cannot be had. */
bool World::complete_wr(Rng &rng, Queue &q, ibv_send_wr &wr, ibv_sge *s)
{
	ibv_mr *mr = remote_region(rng);
	bool bounded = mr && mr->length != SIZE_MAX;
	uint64_t far = bounded ? (uintptr_t)mr->addr + rng.below(mr->length) / 4
			       : (uintptr_t)buffers_[0].at;
	uint32_t key = mr ? mr->rkey ^ (rng.one_in(64) ? rng.below(256) : 0) : rng.next();
	ibv_mw *mw = mws_[rng.below(max_others)];

	if (mw && rng.one_in(8))
		key = mw->rkey;
	if (q.qp->qp_type == IBV_QPT_UD) {
		wr.opcode = rng.pick({IBV_WR_SEND, IBV_WR_SEND_WITH_IMM});
		wr.wr.ud.ah = ahs_[rng.below(max_others)];
		wr.wr.ud.remote_qpn = rng.one_in(8) ? rng.pick({0u, 1u, 0xffffffu}) : q.qp->qp_num;
		wr.wr.ud.remote_qkey = rng.one_in(8) ? rng.next() : 0x1111;
		for (unsigned i = 0; i < 4; i++)
			s[i].length %= 512;
		return wr.wr.ud.ah;
	}
	if (wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.num_sge = 1;
		s[0].length = 8;
		wr.wr.atomic = {far & (rng.one_in(8) ? ~0ULL : ~7ULL), rng.next(), rng.next(), key};
	} else if (wr.opcode == IBV_WR_LOCAL_INV || wr.opcode == IBV_WR_SEND_WITH_INV) {
		wr.invalidate_rkey = mw ? mw->rkey : key;
		if (wr.opcode == IBV_WR_LOCAL_INV)
			wr.num_sge = 0;
	} else {
		wr.wr.rdma = {far, key};
	}
	if (sends_only(q.qp)) {
		uint32_t number = 0;
		ibv_get_srq_num(xsrq_, &number);
		wr.qp_type.xrc.remote_srqn = rng.one_in(8) ? number + rng.below(4) : number;
	}
	return true;
}

void World::post(Rng &rng, Queue &q)
{
	static constexpr ibv_wr_opcode opcodes[] = {IBV_WR_RDMA_WRITE,
						    IBV_WR_RDMA_WRITE_WITH_IMM,
						    IBV_WR_SEND,
						    IBV_WR_SEND_WITH_IMM,
						    IBV_WR_RDMA_READ,
						    IBV_WR_ATOMIC_CMP_AND_SWP,
						    IBV_WR_ATOMIC_FETCH_AND_ADD,
						    IBV_WR_RDMA_WRITE,
						    IBV_WR_SEND,
						    IBV_WR_SEND_WITH_INV,
						    IBV_WR_LOCAL_INV};

	if (!q.qp)
		return;
	for (unsigned n = 1 + rng.below(8); n; n--) {
		ibv_send_wr wr{}, *bad;
		ibv_sge s[4];

		post_receives(rng, q);
		if (receives_only(q.qp))
			continue;
		for (auto &one : s)
			one = sge(rng, rng.one_in(16) ? 524288 : 8192);
		wr.wr_id = rng.next();
		wr.sg_list = s;
		wr.num_sge = rng.below(3);
		wr.opcode = opcodes[rng.below(rng.one_in(8) ? 11 : 9)];
		wr.send_flags = rng.one_in(8) ? rng.below(8) : unsigned(IBV_SEND_SIGNALED);
		if (complete_wr(rng, q, wr, s))
			note("post send", !ibv_post_send(q.qp, &wr, &bad));
	}
}

void World::post_bind(Rng &rng, Queue &q)
{
	ibv_mw *mw = mws_[rng.below(max_others)];
	ibv_mr *mr = mrs_[rng.below(max_mrs)];

	if (!q.qp || receives_only(q.qp) || q.qp->qp_type == IBV_QPT_UD || !mw || !mr)
		return;
	ibv_mw_bind_info info{mr, (uintptr_t)mr->addr, rng.below(std::min(mr->length, buffer)),
			      ops::all_access & ~1u};
	if (mw->type == IBV_MW_TYPE_1) {
		ibv_mw_bind bind{rng.next(), IBV_SEND_SIGNALED, info};
		note("post bind_mw", !ibv_bind_mw(q.qp, mw, &bind));
		return;
	}
	ibv_send_wr wr{}, *bad;
	wr.opcode = IBV_WR_BIND_MW;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.bind_mw = {mw, ibv_inc_rkey(mw->rkey), info};
	note("post bind_mw", !ibv_post_send(q.qp, &wr, &bad));
}

void World::poll(Rng &rng)
{
	ibv_cq *cq = rng.pick(cqs_);
	ibv_wc wc[16];

	int n = ibv_poll_cq(cq, 16, wc);
	for (int i = 0; i < n; i++) {
		char name[28];

		/* what a scribbled ring says is not to be believed */
		snprintf(name, sizeof(name), "completion of opcode %u", wc[i].opcode & 0xff);
		if (wc[i].status == IBV_WC_SUCCESS)
			note(name, true);
		note("work completed", wc[i].status == IBV_WC_SUCCESS);
		for (auto &q : queues_)
			if (q.qp && q.qp->qp_num == wc[i].qp_num && wc[i].status != IBV_WC_SUCCESS)
				q.broken = true;
	}
	if (rng.one_in(8))
		note("verb req_notify_cq", !ibv_req_notify_cq(cq, rng.below(2)));
}

void World::drop_events()
{
	pollfd p{ctx_->async_fd, POLLIN, 0};
	ibv_async_event event;
	ibv_cq *cq;
	void *context;

	if (::poll(&p, 1, 0) > 0 && !ibv_get_async_event(ctx_, &event))
		ibv_ack_async_event(&event);
	if (!ibv_get_cq_event(channel_, &cq, &context))
		ibv_ack_cq_events(cq, 1);
}

void World::ring_bells(Rng &rng)
{
	struct {
		ib_uverbs_cmd_hdr header;
		ib_uverbs_post_send request;
	} c{};
	uint32_t response;

	for (unsigned n = rng.below(100); n; n--) {
		c.header = {rng.pick<uint32_t>(
				    {IB_USER_VERBS_CMD_POST_SEND, IB_USER_VERBS_CMD_POST_RECV}),
			    sizeof(c) / 4, 1};
		c.request.response = (uintptr_t)&response;
		c.request.qp_handle = rng.below(96);
		c.request.wqe_size = sizeof(ib_uverbs_send_wr);
		note("doorbell", write(ctx_->cmd_fd, &c, sizeof(c)) > 0);
	}
	usleep(rng.below(2000));
}

} // namespace hostile

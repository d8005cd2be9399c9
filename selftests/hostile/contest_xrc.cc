// SPDX-License-Identifier: GPL-2.0
/* Shared receive queues that come and go while XRC senders name their numbers, or guess them. */
#include <fcntl.h>
#include <unistd.h>

#include "threads.h"

namespace hostile {

namespace {

class XrcPair {
public:
	explicit XrcPair(const Options &o) : end(ops::Device(o.dev), {})
	{
		ibv_xrcd_init_attr xa{};
		ibv_qp_init_attr_ex a{};

		xa.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
		xa.fd = -1;
		xa.oflags = O_CREAT;
		xrcd.reset(ops::made(ibv_open_xrcd(end.dev.ctx.get(), &xa), "ibv_open_xrcd"));
		a.qp_type = IBV_QPT_XRC_SEND;
		a.send_cq = end.cq.get();
		a.cap = {64, 0, 1, 0, 0};
		a.pd = end.pd.get();
		a.comp_mask = IBV_QP_INIT_ATTR_PD;
		sender.reset(ops::made(ibv_create_qp_ex(end.dev.ctx.get(), &a), "ibv_create_qp"));
		a = {};
		a.qp_type = IBV_QPT_XRC_RECV;
		a.comp_mask = IBV_QP_INIT_ATTR_XRCD;
		a.xrcd = xrcd.get();
		target.reset(ops::made(ibv_create_qp_ex(end.dev.ctx.get(), &a), "ibv_create_qp"));
		connect();
	}

	void connect()
	{
		connect(sender.get(), target->qp_num);
		connect(target.get(), sender->qp_num);
	}

	bool send(uint32_t srqn)
	{
		ibv_sge s = end.sge(0, 256);
		ibv_send_wr wr{}, *bad;
		wr.sg_list = &s;
		wr.num_sge = 1;
		wr.opcode = IBV_WR_SEND;
		wr.send_flags = IBV_SEND_SIGNALED;
		wr.qp_type.xrc.remote_srqn = srqn;
		return !ibv_post_send(sender.get(), &wr, &bad);
	}

	ibv_srq *make_srq(bool xrc)
	{
		ibv_srq_init_attr_ex a{};
		a.attr = {8, 1, 0};
		a.pd = end.pd.get();
		a.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
		a.srq_type = IBV_SRQT_BASIC;
		if (xrc) {
			a.srq_type = IBV_SRQT_XRC;
			a.comp_mask |= IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
			a.xrcd = xrcd.get();
			a.cq = end.cq.get();
		}
		return ops::made(ibv_create_srq_ex(end.dev.ctx.get(), &a), "ibv_create_srq");
	}

	ops::End end;
	ops::Xrcd xrcd;
	ops::Qp sender, target;

private:
	void modify(ibv_qp *qp, ibv_qp_attr a, int mask)
	{
		if (int err = ibv_modify_qp(qp, &a, mask | IBV_QP_STATE))
			FAIL(std::string("ibv_modify_qp: ") + strerror(err));
	}

	void connect(ibv_qp *qp, uint32_t dest)
	{
		bool sends = qp == sender.get();
		ibv_qp_attr a{.qp_state = IBV_QPS_RESET};

		modify(qp, a, 0);
		a = {.qp_state = IBV_QPS_INIT, .qp_access_flags = ops::all_access, .port_num = 1};
		modify(qp, a, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
		a = {.qp_state = IBV_QPS_RTR,
		     .path_mtu = IBV_MTU_1024,
		     .dest_qp_num = dest,
		     .max_dest_rd_atomic = 1};
		a.ah_attr.dlid = end.dev.port_attr.lid;
		a.ah_attr.port_num = 1;
		a.min_rnr_timer = 1;
		modify(qp, a,
		       IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			       (sends ? 0 : IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
		a = {.qp_state = IBV_QPS_RTS,
		     .max_rd_atomic = 1,
		     .timeout = 8,
		     .retry_cnt = 1,
		     .rnr_retry = 1};
		modify(qp, a,
		       IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
			       (sends ? IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
						IBV_QP_MAX_QP_RD_ATOMIC
				      : 0));
	}
};

} // namespace

void srqs_against_xrc(const Options &o, Tally &tally)
{
	XrcPair p(o);
	std::atomic<uint32_t> number = 0;
	Crew crew(o.end(), o.seed);

	crew.add([&](Rng &rng) {
		bool xrc = rng.one_in(2);
		ops::Srq srq(p.make_srq(xrc));
		ibv_sge s = p.end.sge(4096, 4096);
		ibv_recv_wr wr{1, nullptr, &s, 1}, *bad;
		uint32_t n = 0;

		for (unsigned i = 0; i < 4; i++)
			ibv_post_srq_recv(srq.get(), &wr, &bad);
		/* Numbers of one kind follow those of the other: what it is now is not what it was. */
		if (!ibv_get_srq_num(srq.get(), &n))
			number = n;
		else
			number++;
		usleep(rng.below(3000));
		tally.note("srq made and destroyed", true);
	});
	crew.add([&](Rng &rng) {
		for (unsigned n = 0; n < 16; n++)
			tally.note("message to a number posted", p.send(number + rng.below(2)));
		usleep(rng.below(500));
		drain(p.end.cq.get(), tally, "message to a number");
		p.connect();
	});
}

} // namespace hostile

// SPDX-License-Identifier: GPL-2.0
#include "end.h"

#include <arpa/inet.h>
#include <chrono>
#include <poll.h>

namespace ops {

namespace {

using Clock = std::chrono::steady_clock;

/* Long enough for an emulated machine; no case depends on how long anything takes. */
const auto patience = std::chrono::seconds(20 * slowness());
const int patience_ms = 20000 * slowness();

bool readable(int fd, int ms)
{
	pollfd p{fd, POLLIN, 0};
	return poll(&p, 1, ms) == 1;
}

template <typename T, typename U>
void compare(const char *what, const T &actual, const std::optional<U> &expected)
{
	if (expected && actual != *expected)
		FAIL(std::string(what) + " is " + show(actual) + ", not " + show(*expected));
}

} // namespace

const char *type_name(ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC: return "rc";
	case IBV_QPT_UC: return "uc";
	case IBV_QPT_UD: return "ud";
	default: return "xrc";
	}
}

End::End(Device device, const EndOptions &options) : opt(options), dev(std::move(device))
{
	pd.reset(made(ibv_alloc_pd(dev.ctx.get()), "ibv_alloc_pd"));
	channel.reset(made(ibv_create_comp_channel(dev.ctx.get()), "ibv_create_comp_channel"));
	const auto make_cq = [&](int cqe) {
		return made(ibv_create_cq(dev.ctx.get(), cqe, nullptr, channel.get(), opt.vector),
			    "ibv_create_cq");
	};
	cq.reset(make_cq(opt.cqe));
	if (opt.recv_cqe)
		rcq.reset(make_cq(opt.recv_cqe));
	if (opt.srq_wr) {
		ibv_srq_init_attr attr{};
		attr.attr.max_wr = opt.srq_wr;
		attr.attr.max_sge = opt.cap.max_recv_sge;
		srq.reset(made(ibv_create_srq(pd.get(), &attr), "ibv_create_srq"));
	}
	mem = Memory(pd.get(), opt.memory, opt.mr_access);
	make_qp();
	if (!opt.mtu)
		opt.mtu = dev.port_attr.active_mtu;
}

void End::make_qp()
{
	ibv_qp_init_attr_ex attr{};

	attr.send_cq = cq.get();
	attr.recv_cq = rcq ? rcq.get() : cq.get();
	attr.srq = srq.get();
	attr.cap = opt.cap;
	attr.qp_type = opt.type;
	attr.sq_sig_all = opt.sig_all;
	attr.pd = pd.get();
	attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	if (opt.ext_ops) {
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attr.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_WRITE | IBV_QP_EX_WITH_FLUSH |
				      IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND;
	}
	if (opt.create_flags) {
		attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
		attr.create_flags = opt.create_flags;
	}
	qp.reset(made(ibv_create_qp_ex(dev.ctx.get(), &attr), "ibv_create_qp"));
	opt.cap = attr.cap;
}

int End::try_modify(ibv_qp_attr attr, int mask)
{
	return ibv_modify_qp(qp.get(), &attr, mask);
}

void End::modify(ibv_qp_attr attr, int mask)
{
	if (int err = try_modify(attr, mask))
		FAIL("ibv_modify_qp to state " + std::to_string(attr.qp_state) + ": " +
		     strerror(err));
}

void End::to(ibv_qp_state state)
{
	ibv_qp_attr attr{};
	attr.qp_state = state;
	modify(attr, IBV_QP_STATE);
}

ibv_qp_attr End::query()
{
	ibv_qp_attr attr{};
	ibv_qp_init_attr init{};
	constexpr int mask =
		IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY | IBV_QP_ACCESS_FLAGS |
		IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY | IBV_QP_AV | IBV_QP_PATH_MTU |
		IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_RQ_PSN |
		IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_ALT_PATH | IBV_QP_MIN_RNR_TIMER | IBV_QP_SQ_PSN |
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_PATH_MIG_STATE | IBV_QP_CAP | IBV_QP_DEST_QPN;
	if (int err = ibv_query_qp(qp.get(), &attr, mask, &init))
		FAIL(std::string("ibv_query_qp: ") + strerror(err));
	return attr;
}

ibv_qp_state End::state()
{
	return query().qp_state;
}

void End::to_init()
{
	ibv_qp_attr attr{};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	attr.qp_state = IBV_QPS_INIT;
	attr.pkey_index = opt.pkey_index;
	attr.port_num = dev.port;
	if (datagram()) {
		attr.qkey = opt.qkey;
		mask |= IBV_QP_QKEY;
	} else {
		attr.qp_access_flags = opt.qp_access;
		mask |= IBV_QP_ACCESS_FLAGS;
	}
	modify(attr, mask);
}

ibv_ah_attr End::address_of(const End &peer) const
{
	ibv_ah_attr ah{};

	ah.dlid = peer.dev.port_attr.lid;
	ah.port_num = dev.port;
	ah.sl = opt.sl;
	ah.static_rate = opt.static_rate;
	if (opt.grh || dev.needs_grh()) {
		ah.is_global = 1;
		ah.grh.dgid = peer.dev.gid;
		ah.grh.sgid_index = dev.gid_index;
		ah.grh.hop_limit = 64;
	}
	return ah;
}

Ah End::ah_to(const End &peer) const
{
	ibv_ah_attr attr = address_of(peer);
	return Ah(made(ibv_create_ah(pd.get(), &attr), "ibv_create_ah"));
}

void End::to_rtr(const End &peer)
{
	ibv_qp_attr attr{};
	int mask = IBV_QP_STATE;

	attr.qp_state = IBV_QPS_RTR;
	if (!datagram()) {
		attr.ah_attr = address_of(peer);
		attr.path_mtu = opt.mtu;
		attr.dest_qp_num = opt.dest_qpn ? opt.dest_qpn : peer.qpn();
		attr.rq_psn = peer.opt.psn;
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	}
	if (opt.type == IBV_QPT_RC) {
		attr.max_dest_rd_atomic = opt.rd_atomic;
		attr.min_rnr_timer = opt.min_rnr_timer;
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	}
	modify(attr, mask);
}

void End::to_rts()
{
	ibv_qp_attr attr{};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = opt.psn;
	if (opt.type == IBV_QPT_RC) {
		attr.timeout = opt.timeout;
		attr.retry_cnt = opt.retry;
		attr.rnr_retry = opt.rnr_retry;
		attr.max_rd_atomic = opt.rd_atomic;
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	}
	modify(attr, mask);
}

int End::try_send(const Wr &w)
{
	ibv_send_wr wr{}, *bad = nullptr;
	std::vector<ibv_sge> sg = w.sg;

	wr.wr_id = w.id;
	wr.sg_list = sg.data();
	wr.num_sge = sg.size();
	wr.opcode = w.op;
	wr.send_flags = w.flags;
	wr.imm_data = htonl(w.imm);
	if (w.op == IBV_WR_SEND_WITH_INV || w.op == IBV_WR_LOCAL_INV)
		wr.invalidate_rkey = w.imm;
	if (w.ah) {
		wr.wr.ud.ah = w.ah;
		wr.wr.ud.remote_qpn = w.qpn;
		wr.wr.ud.remote_qkey = w.qkey;
	} else if (w.op == IBV_WR_ATOMIC_CMP_AND_SWP || w.op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic = {w.addr, w.compare_add, w.swap, w.rkey};
	} else {
		wr.wr.rdma = {w.addr, w.rkey};
	}
	if (w.mw)
		wr.bind_mw = {w.mw, w.rkey, w.bind};
	wr.qp_type.xrc.remote_srqn = w.srqn;
	return ibv_post_send(qp.get(), &wr, &bad);
}

void End::send(const Wr &wr)
{
	if (int err = try_send(wr))
		FAIL(std::string("ibv_post_send: ") + strerror(err));
}

int End::try_recv(std::vector<ibv_sge> sg, uint64_t id)
{
	ibv_recv_wr wr{id, nullptr, sg.data(), static_cast<int>(sg.size())}, *bad = nullptr;
	return srq ? ibv_post_srq_recv(srq.get(), &wr, &bad) : ibv_post_recv(qp.get(), &wr, &bad);
}

void End::recv(std::vector<ibv_sge> sg, uint64_t id)
{
	if (int err = try_recv(std::move(sg), id))
		FAIL(std::string("ibv_post_recv: ") + strerror(err));
}

ibv_wc End::completion(ibv_cq *from)
{
	ibv_wc wc{};
	auto end = Clock::now() + patience;

	for (;;) {
		int n = ibv_poll_cq(from, 1, &wc);
		if (n == 1)
			return wc;
		if (n < 0)
			FAIL("ibv_poll_cq fails");
		if (Clock::now() > end)
			FAIL("no completion");
	}
}

void End::expect(ibv_cq *from, const Expect &what)
{
	ibv_wc wc = completion(from);

	if (wc.status != what.status)
		FAIL(std::string("completion (id ") + std::to_string(wc.wr_id) + ") with status " +
		     ibv_wc_status_str(wc.status) + ", not " + ibv_wc_status_str(what.status));
	compare("wr_id", wc.wr_id, what.id);
	if (wc.qp_num != qpn())
		FAIL("completion of another QP");
	if (wc.status != IBV_WC_SUCCESS)
		return;
	compare("opcode", static_cast<int>(wc.opcode), what.opcode);
	compare("byte_len", wc.byte_len, what.byte_len);
	compare("wc_flags", wc.wc_flags, what.flags);
	compare("immediate", ntohl(wc.imm_data), what.imm);
	compare("src_qp", wc.src_qp, what.src_qp);
}

void End::expect_none()
{
	ibv_wc wc{};
	if (ibv_poll_cq(cq.get(), 1, &wc) != 0)
		FAIL(std::string("a completion too many: ") + ibv_wc_status_str(wc.status) +
		     ", id " + std::to_string(wc.wr_id));
}

void End::expect_event(ibv_event_type type)
{
	ibv_async_event event{};

	if (!readable(dev.ctx->async_fd, patience_ms))
		FAIL(std::string("no event, expected: ") + ibv_event_type_str(type));
	if (ibv_get_async_event(dev.ctx.get(), &event))
		FAIL("ibv_get_async_event fails");
	ibv_ack_async_event(&event);
	if (event.event_type != type)
		FAIL(std::string("event \"") + ibv_event_type_str(event.event_type) + "\", not \"" +
		     ibv_event_type_str(type) + "\"");
}

bool End::event_pending()
{
	return readable(dev.ctx->async_fd, 0);
}

void End::expect_cq_event()
{
	ibv_cq *which = nullptr;
	void *context = nullptr;

	if (!readable(channel->fd, patience_ms))
		FAIL("no completion event");
	if (ibv_get_cq_event(channel.get(), &which, &context))
		FAIL("ibv_get_cq_event fails");
	ibv_ack_cq_events(which, 1);
}

bool End::cq_event_pending()
{
	return readable(channel->fd, 0);
}

Pair::Pair(const Env &env, const EndOptions &options) : Pair(env, options, options) {}

Pair::Pair(const Env &env, const EndOptions &options_a, const EndOptions &options_b,
	   bool connected) : a(env.open_a(), options_a), b(env.open_b(), options_b)
{
	/* The two need not agree in what their ports offer. */
	a.opt.mtu = b.opt.mtu = std::min(a.opt.mtu, b.opt.mtu);
	if (options_a.psn == options_b.psn)
		b.opt.psn = (a.opt.psn + 0x777) & 0xffffff;
	if (connected)
		connect();
}

void Pair::connect()
{
	if (was_connected_)
		for (End *e : {&a, &b})
			e->opt.psn = (e->opt.psn + 0x10000) & 0xffffff;
	was_connected_ = true;
	a.to_init();
	b.to_init();
	a.to_rtr(b);
	b.to_rtr(a);
	a.to_rts();
	b.to_rts();
	if (a.datagram())
		ah = a.ah_to(b);
}

Wr Pair::send_wr(size_t offset, size_t length, ibv_wr_opcode op)
{
	Wr wr;
	wr.op = op;
	wr.sg = {a.sge(offset, length)};
	if (a.datagram()) {
		wr.ah = ah.get();
		wr.qpn = b.qpn();
		wr.qkey = b.opt.qkey;
	}
	return wr;
}

Wr Pair::rdma_wr(ibv_wr_opcode op, size_t offset, size_t length)
{
	Wr wr = send_wr(offset, length, op);
	wr.addr = b.mem.addr(offset);
	wr.rkey = b.mem.rkey();
	return wr;
}

void Pair::ping()
{
	b.recv({b.sge(b.mem.size() - 128, 128)}, 0x7001);
	Wr wr = send_wr(0, 8);
	wr.id = 0x7002;
	a.send(wr);
	a.expect({.id = 0x7002});
	b.expect_recv({.id = 0x7001});
}

} // namespace ops

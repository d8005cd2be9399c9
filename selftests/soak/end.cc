// SPDX-License-Identifier: GPL-2.0
#include "end.h"

namespace soak {

static constexpr unsigned access_flags = ops::all_access;

End::End(Host &host_, const EndOptions &options) : host(host_), opt(options)
{
	ibv_context *ctx = host.dev.ctx.get();
	ibv_qp_init_attr_ex attr{};

	scq.reset(
		ops::made(ibv_create_cq(ctx, opt.depth + 1, nullptr, nullptr, 0), "ibv_create_cq"));
	rcq.reset(ops::made(ibv_create_cq(ctx, 256, nullptr, nullptr, 0), "ibv_create_cq"));
	attr.qp_type = opt.type;
	if (opt.type == IBV_QPT_XRC_RECV) {
		attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
		attr.xrcd = opt.xrcd;
		qp.reset(ops::made(ibv_create_qp_ex(ctx, &attr), "ibv_create_qp"));
		return;
	}
	attr.send_cq = scq.get();
	attr.cap.max_send_wr = opt.depth;
	attr.cap.max_send_sge = 4;
	attr.cap.max_inline_data = 256;
	attr.pd = host.pd.get();
	attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	if (opt.type != IBV_QPT_XRC_SEND) {
		attr.recv_cq = rcq.get();
		attr.srq = opt.srq;
		attr.cap.max_recv_wr = opt.srq ? 0 : 64;
		attr.cap.max_recv_sge = 1;
	}
	if (opt.type == IBV_QPT_RC || opt.type == IBV_QPT_XRC_SEND) {
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
		if (host.has(IB_UVERBS_DEVICE_ATOMIC_WRITE))
			attr.send_ops_flags |= IBV_QP_EX_WITH_ATOMIC_WRITE;
		if (host.has(IB_UVERBS_DEVICE_FLUSH_GLOBAL))
			attr.send_ops_flags |= IBV_QP_EX_WITH_FLUSH;
	}
	qp.reset(ops::made(ibv_create_qp_ex(ctx, &attr), "ibv_create_qp"));
}

void End::modify(ibv_qp_attr &attr, int mask, const char *to)
{
	if (int err = ibv_modify_qp(qp.get(), &attr, mask))
		FAIL(host.name + ": QP to " + to + ": " + strerror(err));
}

static void address(ibv_ah_attr &ah, const Host &from, const Host &to)
{
	ah.dlid = to.dev.port_attr.lid;
	ah.port_num = from.dev.port;
}

void End::connect(const End &peer, uint32_t psn, uint32_t peer_psn)
{
	bool ud = opt.type == IBV_QPT_UD, uc = opt.type == IBV_QPT_UC;
	bool initiator = opt.type == IBV_QPT_XRC_SEND, target = opt.type == IBV_QPT_XRC_RECV;
	ibv_qp_attr attr{};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = host.dev.port;
	attr.qkey = qkey;
	attr.qp_access_flags = access_flags;
	if (host.has(IB_UVERBS_DEVICE_FLUSH_GLOBAL) && !ud && !uc)
		attr.qp_access_flags |= IBV_ACCESS_FLUSH_GLOBAL;
	modify(attr, mask | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS), "INIT");

	attr = {};
	attr.qp_state = IBV_QPS_RTR;
	address(attr.ah_attr, host, peer.host);
	attr.path_mtu = opt.mtu;
	attr.dest_qp_num = peer.qp->qp_num;
	attr.rq_psn = peer_psn;
	attr.max_dest_rd_atomic = opt.rd_atomic;
	attr.min_rnr_timer = opt.rnr_timer;
	mask = ud ? IBV_QP_STATE
		  : IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (!ud && !uc && !initiator)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	modify(attr, mask, "RTR");

	attr = {};
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = psn;
	attr.timeout = opt.timeout;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = opt.rd_atomic;
	mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	if (!ud && !uc)
		mask |= IBV_QP_TIMEOUT;
	if (!ud && !uc && !target)
		mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	modify(attr, mask, "RTS");
}

void End::error()
{
	ibv_qp_attr attr{};

	attr.qp_state = IBV_QPS_ERR;
	modify(attr, IBV_QP_STATE, "ERR");
	broken_ = true;
}

void End::reset()
{
	ibv_qp_attr attr{};

	CHECK(posted_.empty());
	attr.qp_state = IBV_QPS_RESET;
	modify(attr, IBV_QP_STATE, "RESET");
	broken_ = false;
	broken_by_ = IBV_WC_SUCCESS;
	unsignalled_ = 0;
}

/* ---- posting ---- */

bool End::choose_signal(Rng &rng)
{
	bool signal = signal_all || unsignalled_ >= opt.depth / 4 ||
		      posted_.size() + 1 >= opt.depth || rng.percent(60);

	unsignalled_ = signal ? 0 : unsignalled_ + 1;
	return signal;
}

void End::post(ibv_send_wr &wr, Posted what, Rng &rng)
{
	ibv_send_wr *bad = nullptr;

	what.id = wr.wr_id = next_id_++;
	what.signalled = choose_signal(rng);
	if (what.signalled)
		wr.send_flags |= IBV_SEND_SIGNALED;
	if (int err = ibv_post_send(qp.get(), &wr, &bad))
		FAIL(std::string("posting ") + what.name + ": " + strerror(err));
	posted_.push_back(std::move(what));
}

void End::post_probe()
{
	ibv_send_wr wr{}, *bad = nullptr;

	CHECK(broken_);
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr_id = next_id_++;
	if (ah)
		wr.wr.ud = {ah, 1, qkey};
	if (int err = ibv_post_send(qp.get(), &wr, &bad))
		FAIL(std::string("posting to a QP in error: ") + strerror(err));
	posted_.push_back({.id = wr.wr_id,
			   .opcode = IBV_WC_SEND,
			   .name = "SEND in error",
			   .done = [](bool ok) { CHECK(!ok); }});
}

void End::post_extended(uint32_t srqn, Posted what, Rng &rng,
			const std::function<void(ibv_qp_ex *)> &operation)
{
	ibv_qp_ex *x = ibv_qp_to_qp_ex(qp.get());

	what.id = next_id_++;
	what.signalled = choose_signal(rng);
	ibv_wr_start(x);
	x->wr_id = what.id;
	x->wr_flags = what.signalled ? IBV_SEND_SIGNALED : 0;
	operation(x);
	if (opt.type == IBV_QPT_XRC_SEND)
		ibv_wr_set_xrc_srqn(x, srqn);
	CHECK_EQ(ibv_wr_complete(x), 0);
	posted_.push_back(std::move(what));
}

void End::post_atomic_write(uint32_t rkey, uint64_t addr, const void *value, uint32_t srqn,
			    Posted what, Rng &rng)
{
	post_extended(srqn, std::move(what), rng,
		      [&](ibv_qp_ex *x) { ibv_wr_atomic_write(x, rkey, addr, value); });
}

void End::post_flush(uint32_t rkey, uint64_t addr, size_t length, uint32_t srqn, Posted what,
		     Rng &rng)
{
	post_extended(srqn, std::move(what), rng, [&](ibv_qp_ex *x) {
		ibv_wr_flush(x, rkey, addr, length, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE);
	});
}

/* ---- completions ---- */

void End::sent(const ibv_wc &wc)
{
	bool flushed = broken_by_ != IBV_WC_SUCCESS;

	completions++;
	for (; !posted_.empty() && posted_.front().id != wc.wr_id; posted_.pop_front()) {
		const Posted &p = posted_.front();
		if (p.signalled || (flushed && !p.local))
			FAIL(std::string("no completion of ") + p.name + " " +
			     std::to_string(p.id) + ", but of " + std::to_string(wc.wr_id));
		p.done(true);
	}
	if (posted_.empty())
		FAIL("a completion of nothing, or twice: " + std::to_string(wc.wr_id));
	Posted p = std::move(posted_.front());
	posted_.pop_front();
	CHECK_EQ(wc.qp_num, qp->qp_num);
	if (wc.status == IBV_WC_SUCCESS) {
		if (flushed && !p.local)
			FAIL(std::string(p.name) + " succeeds behind one that has failed");
		CHECK(p.signalled);
		CHECK_EQ(int(wc.opcode), int(p.opcode));
		p.done(true);
		return;
	}
	if (flushed && wc.status != IBV_WC_WR_FLUSH_ERR)
		FAIL(std::string(p.name) + ": " + ibv_wc_status_str(wc.status) +
		     " behind one that has failed");
	if (wc.status == IBV_WC_WR_FLUSH_ERR && !broken_)
		FAIL(std::string(p.name) + " is flushed in a QP that works");
	if (!flushed)
		broken_by_ = wc.status;
	broken_ = true;
	p.done(false);
}

bool End::poll_sent()
{
	bool any = false;
	ibv_wc wc;
	int n;

	while (sends() && (n = ibv_poll_cq(scq.get(), 1, &wc))) {
		CHECK(n > 0);
		sent(wc);
		any = true;
	}
	return any;
}

std::optional<ibv_wc> End::poll_received()
{
	ibv_wc wc;
	int n = ibv_poll_cq(rcq.get(), 1, &wc);

	CHECK(n >= 0);
	if (!n)
		return {};
	completions++;
	return wc;
}

static void describe(ibv_cq *cq, const char *what, std::string &out)
{
	ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) > 0)
		if (wc.status != IBV_WC_SUCCESS)
			out += std::string(" ") + what + " " + std::to_string(wc.wr_id & 0xffffff) +
			       ": " + ibv_wc_status_str(wc.status) + ";";
}

std::string End::rest()
{
	std::string out =
		broken_by_ ? std::string(" broken by: ") + ibv_wc_status_str(broken_by_) + ";" : "";

	if (sends())
		describe(scq.get(), "sent", out);
	describe(rcq.get(), "received", out);
	return out;
}

bool End::in_error() const
{
	ibv_qp_init_attr init;
	ibv_qp_attr attr{};

	return !ibv_query_qp(qp.get(), &attr, IBV_QP_STATE, &init) && attr.qp_state == IBV_QPS_ERR;
}

std::string End::state() const
{
	ibv_qp_init_attr init;
	ibv_qp_attr attr{};

	ibv_query_qp(qp.get(), &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_RQ_PSN, &init);
	return host.name + " qp " + std::to_string(qp->qp_num) + " state " +
	       std::to_string(attr.qp_state) + ", " + std::to_string(posted_.size()) + " posted" +
	       (posted_.empty() ? ""
				: std::string(", oldest ") + posted_.front().name + " " +
					  std::to_string(posted_.front().id));
}

} // namespace soak

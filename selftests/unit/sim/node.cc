// SPDX-License-Identifier: GPL-2.0
#include "node.h"

#include <algorithm>
#include <cstring>

namespace sim {

Node::Node(const NodeCfg &c)
{
	restart(c);
}

void Node::restart(const NodeCfg &c)
{
	cfg = c;
	ring_.assign(c.ring, Slot{});
	res_.assign(c.nres, pib_rd_res{});
	pib_req_init(&req, ring_.data(), sizeof(Slot), c.ring - 1);
	pib_resp_init(&resp, res_.data(), c.nres);
	pib_resp_start(&resp, &c.resp, c.rq_psn);
	pib_req_start(&req, &c.req, c.sq_psn);
	works.clear();
	inbox.clear();
	out.clear();
	cur.reset();
	in_error = responder_error = sqe = down = false;
	broken_at = ~0ULL;
}

void Node::post(const Work &work)
{
	pib_swqe *w = pib_req_slot(&req);

	expect(w != nullptr, "the send queue is full");
	*w = work.w;
	works[w->wr_id] = work;
	pib_req_post(&req);
}

void Node::post_recv(Recv r, uint32_t srqn)
{
	recvs.insert(r.id);
	rq[srqn].push_back(std::move(r));
}

void Node::steal_recv()
{
	if (rq[0].empty())
		return;
	recvs.erase(rq[0].front().id);
	rq[0].pop_front();
}

void Node::complete_recv(Wc wc)
{
	expect(recvs.erase(wc.id), "a receive work request completes twice");
	cur.reset();
	received.push_back(std::move(wc));
}

void Node::error()
{
	in_error = true;
	pib_req_flush(&req);
	if (cur)
		complete_recv({.id = cur->id, .status = PIB_WC_WR_FLUSH_ERR, .data = {}});
	for (auto &[srqn, q] : rq) {
		if (cfg.req.tp == PIB_TP_XRC || cfg.srq)
			continue; // those of an SRQ stay
		for (auto &r : q)
			complete_recv({.id = r.id, .status = PIB_WC_WR_FLUSH_ERR, .data = {}});
		q.clear();
	}
	reap();
}

void Node::resume()
{
	pib_req_resume(&req);
	sqe = false;
	broken_at = ~0ULL;
}

void Node::reap()
{
	while (pib_swqe *w = pib_req_done(&req)) {
		Work &k = work_of(w);
		Wc wc{.id = w->wr_id, .status = w->status, .op = w->opcode, .data = {}};

		wc.data = std::move(k.data);
		works.erase(w->wr_id);
		sent.push_back(std::move(wc));
		pib_req_retire(&req);
	}
}

// ---- responder ----

uint8_t *Node::at(uint32_t rkey, uint64_t va, uint64_t len, bool write, uint32_t domain)
{
	auto it = mem.find(rkey);

	if (it == mem.end())
		return nullptr;
	Region &m = it->second, &base = m.of ? mem.at(m.of) : m;
	uint64_t size = base.bytes.size();

	if (va < m.va || va - m.va > size || len > size - (va - m.va))
		return nullptr;
	if (write ? !m.writable : !m.readable)
		return nullptr;
	if (cfg.resp.tp == PIB_TP_XRC && m.domain != kAnyDomain && m.domain != domain)
		return nullptr;
	return base.bytes.data() + (va - m.va);
}

bool Node::take_recv(const pib_hdrs &h)
{
	auto &q = rq[h.tp == PIB_TP_XRC ? h.srqn : 0];

	if (cur)
		return true;
	if (q.empty())
		return false;
	cur = std::move(q.front());
	q.pop_front();
	return true;
}

void Node::finish_recv(const pib_act &act)
{
	Wc wc{.id = cur->id, .op = act.kind, .len = act.total, .ex = act.h->ex, .data = {}};

	wc.flags = act.h->flags & (PIB_H_IMM | PIB_H_INV | PIB_H_SE);
	if (act.kind == PIB_ACT_SEND)
		wc.data.assign(cur->buf.begin(), cur->buf.begin() + act.total);
	complete_recv(std::move(wc));
}

// Unreliable services have nobody to tell.
bool Node::late()
{
	return page_missing && pib_tp_reliable(cfg.resp.tp) && page_missing();
}

pib_res Node::exec_send(const pib_act &act, const Burst &b)
{
	if (act.first && !take_recv(b.h))
		return PIB_RES_RNR;
	expect(cur.has_value(), "SEND goes on without a receive work request");
	if (late())
		return PIB_RES_LATER;
	if (act.off + act.len > cur->buf.size()) {
		complete_recv({.id = cur->id, .status = PIB_WC_LOC_LEN_ERR, .data = {}});
		return PIB_RES_LEN;
	}
	if (act.len)
		std::memcpy(cur->buf.data() + act.off, b.data.data() + act.src_off, act.len);
	if (!act.last)
		return PIB_RES_OK;
	if (act.h->flags & PIB_H_INV && on_invalidate && !on_invalidate(act.h->ex)) {
		complete_recv({.id = cur->id, .status = PIB_WC_REM_INV_REQ_ERR, .data = {}});
		return PIB_RES_INVALIDATE;
	}
	finish_recv(act);
	return PIB_RES_OK;
}

pib_res Node::exec_write(const pib_act &act, const Burst &b)
{
	uint8_t *to;

	if (act.first && act.dmalen && !at(act.rkey, act.va0, act.dmalen, true, act.h->srqn))
		return PIB_RES_ACCESS;
	if (act.take_recv && !take_recv(b.h))
		return PIB_RES_RNR;
	if (late())
		return PIB_RES_LATER;
	if (act.len) {
		to = at(act.rkey, act.va, act.len, true, act.h->srqn);
		if (!to)
			return PIB_RES_ACCESS;
		std::memcpy(to, b.data.data() + act.src_off, act.len);
	}
	if (on_write)
		on_write(act);
	if (act.take_recv)
		finish_recv(act);
	return PIB_RES_OK;
}

pib_res Node::exec_atomic(const pib_act &act, uint64_t &orig)
{
	uint8_t *p = at(act.rkey, act.va, 8, true, act.h->srqn);
	uint64_t v;

	if (!p)
		return PIB_RES_ACCESS;
	if (late())
		return PIB_RES_LATER;
	std::memcpy(&orig, p, 8);
	if (act.kind == PIB_ACT_FAA)
		v = orig + act.compare_add;
	else if (act.kind == PIB_ACT_CAS)
		v = orig == act.compare_add ? act.swap : orig;
	else
		v = act.swap;
	std::memcpy(p, &v, 8);
	return PIB_RES_OK;
}

pib_res Node::execute(const pib_act &act, const Burst &b, uint64_t &orig)
{
	// The protocol core promises this of every act, whatever the packet said.
	expect(act.src_off <= b.data.size() && act.len <= b.data.size() - act.src_off,
	       "an act beyond the burst's payload");
	if (no_remote_access && act.kind != PIB_ACT_SEND && act.kind != PIB_ACT_ABORT_RECV)
		return PIB_RES_INV_REQ;
	switch (act.kind) {
	case PIB_ACT_SEND: return exec_send(act, b);
	case PIB_ACT_WRITE:
		expect(act.off <= act.dmalen && act.len <= act.dmalen - act.off,
		       "a WRITE beyond its range");
		return exec_write(act, b);
	case PIB_ACT_READ:
	case PIB_ACT_FLUSH: {
		bool unnamed = act.kind == PIB_ACT_READ && !act.dmalen;
		bool whole = act.kind == PIB_ACT_FLUSH && act.flush >> 4;
		bool ok = whole ? mem.count(act.rkey)
				: unnamed || at(act.rkey, act.va, act.dmalen, false, act.h->srqn);

		return ok ? PIB_RES_OK : PIB_RES_ACCESS;
	}
	case PIB_ACT_ABORT_RECV: return PIB_RES_OK; // it stays in hand for the next message
	default: return exec_atomic(act, orig);
	}
}

void Node::request(Burst &b)
{
	pib_act act;

	pib_resp_begin(&resp, &b.h, b.npkts, b.data.size());
	while (pib_resp_step(&resp, &act)) {
		uint64_t orig = 0;
		pib_res res = execute(act, b, orig);

		pib_resp_result(&resp, &act, res, orig);
	}
}

void Node::datagram(Burst &b)
{
	if (pib_ud_check(&b.h, b.data.size(), cfg.qkey, cfg.resp.pmtu))
		return;
	if (rq[0].empty() && !cur) {
		no_recv++;
		return;
	}
	pib_act act{};

	act.kind = PIB_ACT_SEND;
	act.first = act.last = true;
	act.len = act.total = b.data.size();
	act.h = &b.h;
	exec_send(act, b);
}

// ---- requester ----

void Node::response(Burst &b, uint64_t now)
{
	pib_place pl;

	pib_req_response(&req, &b.h, b.npkts, b.data.size(), now, &pl);
	if (!pl.wqe)
		return;
	if (!req.error && late()) { // else it would end as flushed
		pib_req_forget_response(&req, &pl);
		return;
	}
	Work &k = work_of(pl.wqe);

	if (pl.is_atomic) {
		std::memcpy(k.data.data(), &pl.orig, 8);
		return;
	}
	expect(pl.src_off + pl.len <= b.data.size(), "a place beyond the burst's payload");
	expect(pl.wqe_off + pl.len <= k.data.size(), "a place beyond the work request");
	if (pl.wqe_off + pl.len > k.bad_from) {
		pib_req_local_error(&req, pl.wqe, PIB_WC_LOC_PROT_ERR);
		return;
	}
	std::memcpy(k.data.data() + pl.wqe_off, b.data.data() + pl.src_off, pl.len);
}

void Node::send_request(pib_tx_req &tx)
{
	Work &k = work_of(tx.wqe);
	Burst b{.h = tx.h, .npkts = tx.npkts, .data = {}};

	if (on_request)
		on_request(tx, k);
	expect(tx.wqe->wr_id <= broken_at, "a work request goes out behind one that has failed");
	if (tx.len && tx.off + tx.len > k.bad_from) {
		broken_at = tx.wqe->wr_id;
		pib_req_local_error(&req, tx.wqe, PIB_WC_LOC_PROT_ERR);
		return;
	}
	expect(tx.off + tx.len <= k.data.size() || !tx.len, "a burst beyond its message");
	b.data.assign(k.data.begin() + (tx.len ? tx.off : 0),
		      k.data.begin() + (tx.len ? tx.off : 0) + tx.len);
	out.push_back(std::move(b));
	pib_req_set_lossy(&req, cfg.late_min); // as the kernel, which learns by sending
}

void Node::local(pib_swqe *w)
{
	reap();
	if (w->opcode == PIB_WR_LOCAL_INV && (!req.cfg.early_inv || w->flags & PIB_WR_FENCE))
		expect(w->wr_id == works.begin()->first,
		       "LOCAL_INV overtakes what was posted before");
	executed_locals++;
	if (work_of(w).execute)
		pib_req_local_done(&req, w, work_of(w).execute(*this));
	else
		pib_req_local_done(&req, w, w->swap ? PIB_WC_LOC_QP_OP_ERR : PIB_WC_SUCCESS);
}

bool Node::send_answer(const pib_tx_req &tx)
{
	Burst b{.h = tx.h, .npkts = tx.npkts, .data = {}};

	if (tx.kind == PIB_TX_READ_RESP) {
		uint8_t *p =
			read_memory_gone ? nullptr : at(tx.rkey, tx.va, tx.len, false, tx.h.srqn);

		pib_tx_req nak;

		if (late() && pib_resp_answer_later(&resp, &nak))
			return send_answer(nak);
		if (!p)
			return pib_resp_read_failed(&resp, &nak) && send_answer(nak);
		b.data.assign(p, p + tx.len);
	}
	out.push_back(std::move(b));
	return true;
}

// ---- the engine ----

void Node::take_in(Burst &b, uint64_t now)
{
	if (in_error || down)
		return;
	if (cfg.resp.tp == PIB_TP_UD)
		datagram(b);
	else if (pib_op_is_response(b.h.op))
		response(b, now);
	else
		request(b);
}

bool Node::run(uint64_t now, uint32_t budget)
{
	pib_tx_req tx;

	if (!down && pib_req_deadline(&req))
		pib_req_timer(&req, now);
	for (; !inbox.empty(); inbox.pop_front()) {
		take_in(inbox.front(), now);
		reap();
	}
	if (!in_error && !down) {
		pib_resp_set_credits(&resp, rq[0].size());
		while (budget && pib_resp_next(&resp, &tx)) {
			send_answer(tx);
			budget--;
		}
		while (budget && pib_req_next(&req, now, &tx)) {
			if (tx.kind == PIB_TX_LOCAL)
				local(tx.wqe);
			else
				send_request(tx);
			budget--;
		}
	}
	reap();
	if (!in_error && req.error && !resp.error && !pib_tp_reliable(cfg.req.tp)) {
		if (!req.flushing)
			pib_req_flush(&req); // what it flushes is reaped later
		sqe = true;
	} else if (!in_error && (req.error || resp.error)) {
		responder_error = resp.error;
		error();
	}
	return !budget;
}

} // namespace sim

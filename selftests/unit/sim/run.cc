// SPDX-License-Identifier: GPL-2.0
#include "run.h"

#include <algorithm>
#include <cstdio>

namespace sim {

static constexpr uint64_t kPatience = 20000000000ULL; // ns without any completion: it hangs
static constexpr uint64_t kLinger = 5000000;	      // ns that stragglers get at the end

Run::Run(const Params &p, bool trace) : p_(p), g_(p.seed ^ 0x5DEECE66DULL), trace_(trace)
{
	for (int i = 0; i < 2; i++) {
		node_[i] = std::make_unique<Node>(p.node[i]);
		model_[i] = std::make_unique<Model>(p_, i, g_);
		node_[i]->on_request = [this, i](const pib_tx_req &tx, const Work &k) {
			check_request(i, tx, k);
		};
		if (p.paged)
			node_[i]->page_missing = [this] { return g_.percent(10); };
	}
	for (int i = 0; i < 2; i++)
		model_[i]->set_up(*node_[1 - i]);
}

void Run::say(const char *what, int node, const std::string &more)
{
	if (trace_)
		std::printf("%12.3f us  %c %-8s %s\n", now_ / 1000.0, 'A' + node, what,
			    more.c_str());
}

void Run::push(uint64_t at, What what, int node, Burst b)
{
	events_.push({at, order_++, what, node, life_, std::move(b)});
}

void Run::wake(int i, uint64_t after)
{
	uint64_t at = now_ + after;

	if (wake_at_[i] && wake_at_[i] <= at)
		return;
	wake_at_[i] = at;
	push(at, What::Wake, i);
}

// ---- the path ----

bool Run::lose()
{
	if (now_ - p_.outage_at < p_.outage)
		return true;
	if (!g_.chance(p_.loss_ppm) || lost_ >= p_.loss_budget)
		return false;
	lost_++;
	return true;
}

void Run::one_part(int from, Burst b)
{
	uint64_t at = now_ + p_.delay + g_.below(p_.jitter + 1);
	int to = 1 - from;

	out_.packets += b.npkts;
	if (lose()) {
		say("lost", from, trace_ ? sim::describe(b) : "");
		return;
	}
	if (p_.wire && b.npkts == 1 &&
	    !over_wire(b, g_.chance(p_.corrupt_ppm) ? int64_t(g_.next() >> 40) : -1)) {
		say("rotten", from, "");
		return;
	}
	if (g_.chance(p_.reorder_ppm))
		at += g_.below(3 * (p_.delay + p_.jitter)) + 1;
	else
		last_arrival_[to] = at = std::max(at, last_arrival_[to]);
	if (g_.chance(p_.dup_ppm))
		push(at + g_.below(2 * p_.delay), What::Arrive, to, b);
	push(at, What::Arrive, to, std::move(b));
}

// Cut as a link may cut, each part with a fate of its own.
void Run::carry(int from, Burst b)
{
	for (uint32_t i = 0, n; i < b.npkts; i += n) {
		n = b.npkts - i;
		if (p_.cut == 2)
			n = 1;
		else if (p_.cut == 1)
			n = g_.range(1, n);
		one_part(from, part(b, i, n, p_.mtu));
	}
}

void Run::send_out(int i)
{
	for (auto &out = node_[i]->out; !out.empty(); out.pop_front()) {
		say("sends", i, trace_ ? sim::describe(out.front()) : "");
		expect(out.front().npkts == 1 ||
			       out.front().data.size() > size_t(out.front().npkts - 1) * p_.mtu,
		       "a burst of more packets than its payload needs");
		carry(i, std::move(out.front()));
	}
}

// ---- rules for what a requester sends ----

void Run::check_request(int i, const pib_tx_req &tx, const Work &k)
{
	Node &n = *node_[i];
	const pib_req &r = n.req;
	bool answer = pib_wr_info(k.w.opcode, p_.tp)->kind & PIB_WRK_RESP;

	expect(tx.npkts <= std::max(1u, n.cfg.req.max_burst / p_.mtu), "a burst too long");
	if (!p_.reliable())
		return;
	expect(((r.next_psn - r.una_psn) & PIB_PSN_MASK) <= 1u << 23, "too many PSNs outstanding");
	if (tx.h.flags & PIB_H_FIRST && k.w.flags & PIB_WR_FENCE)
		for (uint64_t id : unanswered_[i])
			expect(id >= k.w.wr_id || !n.works.count(id),
			       "a fenced work request overtakes a READ");
	if (answer)
		unanswered_[i].insert(k.w.wr_id);
	expect(r.rd_atomic_out <= n.cfg.req.max_rd_atomic, "more READs than max_rd_atomic");
}

// ---- the application ----

bool Run::finished(int i) const
{
	return node_[i]->in_error || node_[i]->down ||
	       (posted_[i] >= p_.posts[i] && model_[i]->all_sent());
}

bool Run::quiet() const
{
	return finished(0) && finished(1) && model_[0]->all_sent() && model_[1]->all_sent() &&
	       !node_[0]->down && !node_[1]->down;
}

void Run::post(int i)
{
	Node &n = *node_[i];
	uint32_t lot = g_.range(1, 8);

	if (n.down)
		return;
	if (p_.windows && g_.percent(20) && posted_[1 - i] < p_.posts[1 - i] && n.can_post() &&
	    !n.in_error) {
		auto k = model_[1 - i]->make_window_work(next_id_[i], *model_[i]);

		if (k) {
			say("posts", i,
			    "wr " + std::to_string(next_id_[i]) + " opcode " +
				    std::to_string(k->w.opcode) + " on the window");
			next_id_[i]++;
			n.post(*k);
		}
	}
	for (; lot && posted_[i] < p_.posts[i] && n.can_post() && !n.in_error; lot--) {
		bool spoil = p_.inject_side == uint32_t(i) && p_.inject_at == posted_[i];
		Inject inject = spoil && p_.inject < Inject::MemoryGone ? p_.inject : Inject::None;
		Work k = model_[i]->make(next_id_[i]++, inject);

		say("posts", i,
		    trace_ ? "wr " + std::to_string(k.w.wr_id) + " opcode " +
				     std::to_string(k.w.opcode) + " len " + std::to_string(k.w.len)
			   : "");
		n.post(k);
		posted_[i]++;
	}
}

void Run::post_recvs(int i)
{
	uint32_t queues = p_.tp == PIB_TP_XRC ? kSrqs : 1;

	if (node_[i]->in_error || node_[i]->down)
		return;
	for (uint32_t q = 0; q < queues; q++) {
		uint32_t have = node_[i]->rq[q].size();
		uint32_t n = have < p_.recv_cap ? p_.recv_cap - have : 0;

		for (n = p_.recv_late ? g_.below(std::min(n, 2u) + 1) : n; n; n--)
			node_[i]->post_recv({g_.next(), Bytes(p_.max_len())}, q);
	}
	while (p_.srq && g_.percent(20))
		node_[i]->steal_recv();
}

void Run::app(int i)
{
	Node &n = *node_[i];

	post_recvs(i);
	post(i);
	if (p_.sqd && g_.percent(10) && !stopped_[i]) {
		n.stop(stopped_[i] = true);
	} else if (stopped_[i] && (pib_req_drained(&n.req) || n.in_error)) {
		n.stop(stopped_[i] = false);
	}
	if (n.sqe && g_.percent(30)) {
		say("resumed", i, "");
		n.resume();
		model_[i]->resumed(next_id_[i]);
	}
	if (p_.reconfig && g_.percent(10) && !n.in_error && !n.down)
		reconfigure(i);
	wake(i, 0);
	if (!quiet())
		push(now_ + p_.think + 1000 + g_.below(20000), What::App, i);
}

// ---- the engine ----

void Run::collect(int i)
{
	Node &n = *node_[i];

	for (; !n.sent.empty(); n.sent.pop_front()) {
		say("sent", i,
		    "wr " + std::to_string(n.sent.front().id) + " status " +
			    std::to_string(n.sent.front().status));
		unanswered_[i].erase(n.sent.front().id);
		model_[i]->sent(n.sent.front());
		progress_ = now_;
		out_.completions++;
	}
	for (; !n.received.empty(); n.received.pop_front()) {
		say("received", i,
		    "len " + std::to_string(n.received.front().len) + " status " +
			    std::to_string(n.received.front().status));
		model_[1 - i]->received(n.received.front());
		progress_ = now_;
		out_.messages++;
	}
}

void Run::turn(int i)
{
	Node &n = *node_[i];
	bool was_in_error = n.in_error;
	bool more = n.run(now_, p_.budget ? p_.budget : ~0u);
	uint64_t at = pib_req_deadline(&n.req);

	send_out(i);
	if (n.down)
		return;
	if (n.in_error && !was_in_error) {
		say("error", i, std::to_string(n.req.error) + "/" + std::to_string(n.resp.error));
		model_[1 - i]->peer_dead = true;
		model_[i]->may_break = n.responder_error;
		out_.errors++;
	}
	collect(i);
	if (n.in_error)
		return;
	if (at && at <= now_)
		at = now_ + 1;
	if (at)
		wake(i, at - now_);
	if (more)
		wake(i, 500);
}

// ---- what is done to them ----

// modify_qp(RTS -> RTS): what may change while work is under way.
void Run::reconfigure(int i)
{
	NodeCfg &c = node_[i]->cfg;

	c.resp.min_rnr_timer = g_.pick({1, 2, 8});
	if (c.req.timeout)
		c.req.timeout = p_.node[i].req.timeout + g_.below(2);
	pib_resp_reconfig(&node_[i]->resp, &c.resp);
	pib_req_reconfig(&node_[i]->req, &c.req);
	say("modified", i, "");
}

// The first of the two that are reset: the other goes on, and may find its peer gone.
void Run::one_down()
{
	int i = p_.inject_side;

	node_[i]->down = true;
	model_[1 - i]->peer_dead = true;
	say("down", i, "");
	push(now_ + g_.below(3000000), What::Reset, 0);
}

void Run::reset()
{
	uint32_t psn[2];

	for (int i = 0; i < 2; i++) {
		out_.retransmits += node_[i]->req.stats.retransmits;
		psn[i] = (node_[i]->req.next_psn + 0x400000 + g_.below(0x100000)) & PIB_PSN_MASK;
	}
	for (int i = 0; i < 2; i++) {
		Node &n = *node_[i];

		p_.node[i].sq_psn = psn[i];
		p_.node[i].rq_psn = psn[1 - i];
		if (!n.cfg.srq && p_.tp != PIB_TP_XRC) {
			n.rq.clear();
			n.recvs.clear();
		}
		n.restart(p_.node[i]);
		model_[i]->restart(*node_[1 - i]);
		unanswered_[i].clear();
		stopped_[i] = false;
		posted_[i] = 0;
		n.no_recv = 0;
	}
	life_++;
	say("reset", 0, "");
}

void Run::injected()
{
	int i = p_.inject_side;

	if (applied_ || p_.inject < Inject::MemoryGone || quiet())
		return;
	applied_ = true;
	if (p_.inject == Inject::MemoryGone) {
		node_[i]->read_memory_gone = true;
	} else if (p_.inject == Inject::Error && !node_[i]->in_error) {
		say("to ERR", i, "");
		model_[i]->may_break = true;
		model_[1 - i]->peer_dead = true;
		node_[i]->error();
		collect(i);
	} else if (p_.inject == Inject::Reset) {
		reset();
	} else if (p_.inject == Inject::ResetApart) {
		one_down();
	}
}

void Run::handle(Event &e)
{
	Node &n = *node_[e.node];

	switch (e.what) {
	case What::Wake:
		if (wake_at_[e.node] != e.at)
			return;
		wake_at_[e.node] = 0;
		turn(e.node);
		break;
	case What::Arrive:
		// PSNs keep packets of an earlier life out, where the service goes by them.
		if (e.life != life_ && !p_.reliable())
			return;
		say("gets", e.node, trace_ ? sim::describe(e.burst) : "");
		n.inbox.push_back(std::move(e.burst));
		wake(e.node, p_.lag ? g_.below(p_.lag) : 0);
		break;
	case What::App: app(e.node); break;
	case What::Event: injected(); break;
	case What::Reset: reset(); break;
	}
}

// ---- a run ----

void Run::start()
{
	for (int i = 0; i < 2; i++) {
		post_recvs(i);
		push(now_ + g_.below(1000), What::App, i);
	}
	push(now_ + p_.inject_time, What::Event, 0);
}

void Run::check_end()
{
	for (int i = 0; i < 2; i++) {
		Node &n = *node_[i];

		model_[i]->check_end(*node_[1 - i]);
		expect(!n.in_error || p_.tp == PIB_TP_XRC || n.cfg.srq || n.recvs.empty(),
		       "receive work requests that never complete");
		expect(n.works.empty() || n.in_error || node_[1 - i]->in_error,
		       "work requests that never complete");
		if (!n.in_error && !node_[1 - i]->in_error)
			expect(pib_req_drained(&n.req) && !pib_req_deadline(&n.req),
			       "something is left to do at the end");
		out_.retransmits += n.req.stats.retransmits;
		out_.timeouts += n.req.stats.timeouts;
		out_.rnr += n.req.stats.rnr_nak_rcvd;
	}
}

Outcome Run::go()
{
	uint64_t end = 0;

	start();
	for (; !events_.empty(); events_.pop()) {
		Event e = events_.top();

		now_ = e.at;
		if (end && now_ > end)
			break;
		if (!end && quiet())
			end = now_ + kLinger;
		if (now_ > progress_ + kPatience) {
			// Without a timeout, it waits for a peer that is gone (9.7.6.1.3).
			bool gone = node_[0]->in_error || node_[1]->in_error;

			if (gone && !p_.node[0].req.timeout)
				break;
			fail("nothing has come to an end for 20 s");
		}
		handle(e);
	}
	check_end();
	out_.lost = lost_;
	return out_;
}

} // namespace sim

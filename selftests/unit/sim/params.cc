// SPDX-License-Identifier: GPL-2.0
#include "params.h"

#include <algorithm>
#include <cstdio>

namespace sim {

static constexpr uint64_t us = 1000;

static void choose_path(Params &p, Rng &g)
{
	uint32_t kind = g.below(100);

	p.loss_budget = ~0u;
	p.delay = g.pick({1, 5, 20}) * us;
	p.jitter = g.percent(30) ? 0 : g.below(p.delay);
	p.cut = g.pick({0, 1, 1, 2});
	p.wire = g.percent(25);
	if (kind < 25)
		return; // a perfect path
	if (kind < 55) {
		p.loss_ppm = g.pick({2000, 20000, 50000, 150000});
		p.strict = true;
		return;
	}
	p.loss_ppm = g.pick({0, 10000, 50000, 200000});
	p.dup_ppm = g.pick({0, 10000, 100000});
	p.reorder_ppm = g.pick({0, 10000, 100000});
	p.corrupt_ppm = p.wire ? g.pick({0, 20000}) : 0;
	if (g.percent(20)) {
		p.outage_at = g.below(1000) * us;
		p.outage = g.below(g.pick({200, 2000, 20000})) * us;
	}
}

static void choose_engine(Params &p, Rng &g)
{
	p.budget = g.percent(50) ? 0 : g.range(1, 8);
	p.lag = g.percent(50) ? 0 : g.below(20 * us);
	p.think = g.percent(30) ? 0 : g.below(100 * us);
	p.sqd = p.reliable() && g.percent(10);
	p.reconfig = p.reliable() && g.percent(10);
}

static void choose_qp(Params &p, Rng &g)
{
	uint32_t rd = g.range(1, 8), timer = g.pick({1, 2, 8, 14});
	uint8_t rnr = g.percent(80) ? 7 : g.below(7), retry = g.percent(80) ? 7 : g.below(7);
	uint32_t psn[2] = {uint32_t(g.next() & PIB_PSN_MASK), uint32_t(g.next() & PIB_PSN_MASK)};
	bool wrap = g.percent(40), credits = p.tp == PIB_TP_RC && g.percent(50) && !p.srq;
	uint8_t timeout = g.range(5, 9);

	if (p.strict && p.loss_ppm) {
		retry = 7;
		p.loss_budget = 6;
	}
	for (int i = 0; i < 2; i++) {
		NodeCfg &n = p.node[i];

		if (wrap)
			psn[i] = (0x1000000 - g.below(60)) & PIB_PSN_MASK;
		n.ring = 1u << g.range(0, 6);
		n.nres = rd < 4 ? g.pick({4, 8, 16}) : rd < 8 ? g.pick({8, 16}) : 16;
		n.req = {.tp = p.tp,
			 .retry_cnt = retry,
			 .rnr_retry = rnr,
			 .timeout = timeout,
			 .max_rd_atomic = uint8_t(rd),
			 .pmtu = p.mtu,
			 .dqpn = 0x11u + i,
			 .max_burst = p.mtu * g.pick({1, 2, 3, 8, 16}) + g.pick({0, 0, 100}),
			 .max_window = g.pick({0, 0, 4, 20, 100})};
		n.resp = {.tp = p.tp,
			  .min_rnr_timer = uint8_t(timer),
			  .max_rd_atomic = uint8_t(rd),
			  .credits = credits,
			  .pmtu = p.mtu,
			  .dqpn = 0x11u + i,
			  .max_burst = p.mtu * g.pick({1, 2, 8, 16})};
		n.qkey = 0x1234;
		n.srq = p.srq;
		n.sq_psn = psn[i];
	}
	p.node[0].rq_psn = p.node[1].sq_psn;
	p.node[1].rq_psn = p.node[0].sq_psn;
}

/* An answer comes within delay + jitter + lag there and back; late timers are no test of it. */
static void choose_timer(Params &p, Rng &g)
{
	uint64_t rtt = 2 * (p.delay + p.jitter + p.lag) + 50 * us;
	bool race = !p.strict && g.percent(15);
	uint8_t t = 1;

	while ((4096ULL << t) < (race ? rtt / 4 : 4 * rtt))
		t++;
	if (!race && !p.faulty() && p.inject == Inject::None && g.percent(20))
		t = 0;
	if (!p.faulty() && !race)
		p.strict = true;
	for (auto &n : p.node) {
		n.req.timeout = t;
		n.late_min = g.pick({0, 1, uint32_t(rtt / 8), uint32_t(2 * rtt)});
		if (p.paged)
			n.req.rnr_retry = 7;
	}
}

static void choose_injection(Params &p, Rng &g)
{
	p.inject = Inject::None;
	p.inject_side = g.below(2);
	p.inject_at = g.below(p.posts[p.inject_side] + 1);
	p.inject_time = g.below(2000) * us;
	if (!p.reliable()) {
		if (g.percent(15))
			p.inject = Inject(g.pick({int(Inject::Error), int(Inject::Reset),
						  int(Inject::ResetApart), int(Inject::BadOpcode),
						  int(Inject::LocalSend)}));
		return;
	}
	if (g.percent(35))
		p.inject = Inject(1 + g.below(int(Inject::Count) - 1));
}

Params make_params(uint64_t seed, int only)
{
	Rng g(seed * 0x2545F4914F6CDD1DULL + 1);
	Params p{};

	p.seed = seed;
	p.tp = g.pick({PIB_TP_RC, PIB_TP_RC, PIB_TP_RC, PIB_TP_RC, PIB_TP_RC, PIB_TP_RC, PIB_TP_XRC,
		       PIB_TP_XRC, PIB_TP_UC, PIB_TP_UD});
	if (only >= 0)
		p.tp = only;
	p.mtu = g.percent(80) ? 256 : g.pick({512, 1024, 2048, 4096});
	p.max_packets = g.percent(85) ? g.range(1, 12) : g.range(13, 80);
	if (p.mtu > 1024)
		p.max_packets = std::min(p.max_packets, 12u);
	if (p.tp == PIB_TP_UD)
		p.max_packets = 1;
	p.posts[0] = g.range(1, 40);
	p.posts[1] = g.percent(60) ? 0 : g.range(1, 40);
	p.recv_cap = g.range(1, 30);
	p.recv_late = g.percent(30);
	p.locals = p.tp != PIB_TP_UD && g.percent(20);
	p.windows = p.reliable() && g.percent(30);
	p.unsignalled = g.percent(50) ? 0 : g.pick({20, 70, 95, 100});
	p.srq = p.tp != PIB_TP_XRC && g.percent(20);
	choose_path(p, g);
	choose_engine(p, g);
	choose_qp(p, g);
	choose_injection(p, g);
	p.paged = p.reliable() && g.percent(25);
	choose_timer(p, g);
	return p;
}

std::string Params::describe() const
{
	static const char *const tps[] = {"RC", "UC", "RD", "UD", "CNP", "XRC"};
	static const char *const injects[] = {"none",	    "bad key",		"bad range",
					      "misaligned", "too long",		"local send",
					      "local read", "bad invalidation", "local op",
					      "bad opcode", "memory gone",	"error",
					      "reset",	    "reset apart"};
	const auto &a = node[0], &b = node[1];
	char s[512];

	std::snprintf(
		s, sizeof(s),
		"%s mtu %u bursts %u/%u window %u/%u ring %u/%u posts %u/%u of up to %u packets\n"
		"loss %u dup %u reorder %u corrupt %u ppm, delay %llu+%llu lag %llu ns, cut %u%s\n"
		"timeout %u late %u/%u ns retry %u rnr %u (timer %u) rd_atomic %u credits %d budget %u%s%s\n"
		"unsignalled %u %%, %s%s%soutage %llu+%llu ns, inject %s on %u at %u or %llu ns%s",
		tps[tp], mtu, a.req.max_burst, b.req.max_burst, a.req.max_window, b.req.max_window,
		a.ring, b.ring, posts[0], posts[1], max_packets, loss_ppm, dup_ppm, reorder_ppm,
		corrupt_ppm, (unsigned long long)delay, (unsigned long long)jitter,
		(unsigned long long)lag, cut, wire ? " wire" : "", a.req.timeout, a.late_min,
		b.late_min, a.req.retry_cnt, a.req.rnr_retry, a.resp.min_rnr_timer,
		a.req.max_rd_atomic, a.resp.credits, budget, sqd ? " sqd" : "",
		recv_late ? " late receives" : "", unsignalled, windows ? "windows, " : "",
		srq ? "srq, " : "", paged ? "paged, " : "", (unsigned long long)outage_at,
		(unsigned long long)outage, injects[int(inject)], inject_side, inject_at,
		(unsigned long long)inject_time, strict ? ", strict" : "");
	return s;
}

} // namespace sim

// SPDX-License-Identifier: GPL-2.0
/* Work for the CPUs: doorbells for nothing, local operations without end, messages to oneself. */
#include "attack.h"

#include <rdma/ib_user_verbs.h>
#include <thread>
#include <unistd.h>

namespace hostile {

namespace {

constexpr unsigned threads = 4;

/* In several threads, each with objects of its own. */
void in_threads(const Options &o, void (*run)(const Options &o, Tally &tally), Tally &tally)
{
	std::vector<std::thread> all;

	for (unsigned i = 0; i < threads; i++)
		all.emplace_back([&] {
			try {
				run(o, tally);
			} catch (const std::exception &failure) {
				ops::note_failure(failure.what());
			}
		});
	for (auto &t : all)
		t.join();
}

void doorbells(const Options &o, Tally &tally)
{
	ops::Env env{.dev_a = o.dev, .dev_b = o.dev};
	ops::Pair p(env, {});
	struct {
		ib_uverbs_cmd_hdr header;
		ib_uverbs_post_send request;
	} c{};
	uint32_t response;
	auto end = o.end();

	c.header = {IB_USER_VERBS_CMD_POST_SEND, sizeof(c) / 4, 1};
	c.request.response = (uintptr_t)&response;
	c.request.qp_handle = p.a.qp->handle;
	c.request.wqe_size = sizeof(ib_uverbs_send_wr);
	while (Clock::now() < end)
		tally.note("doorbells", write(p.a.dev.ctx->cmd_fd, &c, sizeof(c)) > 0);
}

/* Invalidations and bindings: they need no answer from anybody, so a queue of them is never done. */
void local(const Options &o, Tally &tally)
{
	ops::Env env{.dev_a = o.dev, .dev_b = o.dev};
	ops::EndOptions options;
	options.cap = {16384, 1, 1, 1, 0};
	options.cqe = 32768;
	ops::Pair p(env, options);
	ops::Mw mw(ops::made(ibv_alloc_mw(p.a.pd.get(), IBV_MW_TYPE_1), "ibv_alloc_mw"));
	auto end = o.end();
	ibv_wc wc[64];

	while (Clock::now() < end) {
		ibv_mw_bind bind{
			1, 0, {p.a.mem.mr(), p.a.mem.addr(), 4096, IBV_ACCESS_REMOTE_READ}};
		for (unsigned n = 0; n < 256; n++) {
			bind.send_flags = n % 64 ? 0 : IBV_SEND_SIGNALED;
			if (ibv_bind_mw(p.a.qp.get(), mw.get(), &bind))
				break;
		}
		int n = ibv_poll_cq(p.a.cq.get(), 64, wc);
		for (int i = 0; i < n; i++)
			tally.note("bindings", wc[i].status == IBV_WC_SUCCESS);
	}
}

void flood(const Options &o, Tally &tally)
{
	ops::Env env{.dev_a = o.dev, .dev_b = o.dev};
	ops::EndOptions ud;
	ud.type = IBV_QPT_UD;
	ops::Pair p(env, ud);
	Rng rng(o.seed);
	auto end = o.end();
	ibv_wc wc[64];

	/* To a queue without a receive, by a wrong key, to nobody: all of it is dropped, by somebody. */
	while (Clock::now() < end) {
		ops::Wr wr = p.send_wr(0, rng.below(2048));
		wr.qkey ^= rng.below(2);
		wr.qpn = rng.one_in(4) ? rng.below(1 << 24) | 2 : p.b.qpn();
		while (!p.a.try_send(wr))
			;
		int n = ibv_poll_cq(p.a.cq.get(), 64, wc);
		for (int i = 0; i < n; i++)
			tally.note("datagrams", wc[i].status == IBV_WC_SUCCESS);
	}
}

} // namespace

void attack_doorbells(const Options &o, Tally &tally)
{
	in_threads(o, doorbells, tally);
}
void attack_local(const Options &o, Tally &tally)
{
	in_threads(o, local, tally);
}
void attack_flood(const Options &o, Tally &tally)
{
	in_threads(o, flood, tally);
}

} // namespace hostile

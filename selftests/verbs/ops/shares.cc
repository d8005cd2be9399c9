// SPDX-License-Identifier: GPL-2.0
/* Of objects that there are few of one user has half at most, and others the rest. */
#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <iostream>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "command.h"
#include "counter.h"
#include "cpus.h"
#include "nobody.h"
#include "paging.h"
#include "slow.h"
#include "suites.h"

namespace ops {

namespace {

Dm piece(const Device &dev, size_t length)
{
	ibv_alloc_dm_attr attr{};
	attr.length = length;
	return Dm(ibv_alloc_dm(dev.ctx.get(), &attr));
}

size_t take_pieces(const Device &dev, std::vector<Dm> &pieces, size_t length)
{
	size_t most = dev.device_attr.max_dm_size / length + 1, n = 0;
	for (; n < most; n++) {
		Dm dm = piece(dev, length);
		if (!dm)
			break;
		pieces.push_back(std::move(dm));
	}
	return n;
}

/* Nobody takes all of the device's memory, and what he had is free when he has gone. */
void device_memory(const Env &env)
{
	constexpr size_t length = 1 << 20;
	Device dev = env.open_a();
	size_t all = dev.device_attr.max_dm_size / length;
	if (!all)
		throw Skip("no device memory");
	Nobody greedy(env, [](Device &his, const auto &hold) {
		std::vector<Dm> pieces;
		hold(take_pieces(his, pieces, length));
	});
	CHECK_EQ(greedy.taken(), all / 2);
	std::vector<Dm> rest;
	CHECK_EQ(take_pieces(dev, rest, length), all - all / 2);
	greedy.release();
	CHECK_EQ(take_pieces(dev, rest, length), all / 2);
}

Xrcd domain(const Device &dev)
{
	ibv_xrcd_init_attr attr{};
	attr.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	attr.fd = -1;
	attr.oflags = O_CREAT;
	return Xrcd(ibv_open_xrcd(dev.ctx.get(), &attr));
}

/* Of the 65,536 XRC domains of an HCA nobody has more than half, and others have what they need. */
void xrc_domains(const Env &env)
{
	constexpr size_t all = 1 << 16;
	Device dev = env.open_a();
	if (!(dev.caps & IBV_DEVICE_XRC))
		throw Skip("no XRC");
	Nobody greedy(env, [](Device &his, const auto &hold) {
		std::vector<Xrcd> domains;
		while (domains.size() < all) {
			Xrcd one = domain(his);
			if (!one)
				break;
			domains.push_back(std::move(one));
		}
		hold(domains.size());
	});
	CHECK_EQ(greedy.taken(), all / 2);
	CHECK(domain(dev));
}

Qp target(const Device &dev, ibv_xrcd *xrcd)
{
	ibv_qp_init_attr_ex attr{};
	attr.qp_type = IBV_QPT_XRC_RECV;
	attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
	attr.xrcd = xrcd;
	return Qp(ibv_create_qp_ex(dev.ctx.get(), &attr));
}

/*
 * Half of the QPs of an HCA is the most that anybody has of them. XRC targets, the cheapest to have, are made by ib_core in his name:
 * they are his all the same.
 */
void xrc_targets(const Env &env)
{
	Device dev = env.open_a();
	unsigned all = dev.device_attr.orig_attr.max_qp;
	if (!(dev.caps & IBV_DEVICE_XRC))
		throw Skip("no XRC");
	Nobody greedy(env, [=](Device &his, const auto &hold) {
		Xrcd xrcd = domain(his);
		std::vector<Qp> targets;
		while (targets.size() < all) {
			Qp one = target(his, xrcd.get());
			if (!one)
				break;
			targets.push_back(std::move(one));
		}
		hold(targets.size());
	});
	CHECK_EQ(greedy.taken(), all / 2);
	End other(std::move(dev), {});
}

/*
 * Makes objects of a kind, up to @all, until there is an error. They have rings, which nobody is kept from locking
 * here, and which are not mapped: so many mappings a process may not have. They go with the process.
 */
unsigned take(unsigned all, const std::function<int()> &make)
{
	unsigned n = 0;
	while (n < all && !make())
		n++;
	return n;
}

void lock_without_limit()
{
	rlimit any{RLIM_INFINITY, RLIM_INFINITY};
	if (setrlimit(RLIMIT_MEMLOCK, &any))
		throw Skip("not run by root");
}

/* Of an HCA's completion queues nobody has more than half. */
void completion_queues(const Env &env)
{
	Device dev = env.open_a();
	unsigned all = dev.device_attr.orig_attr.max_cq;
	lock_without_limit();
	Nobody greedy(env, [=](Device &his, const auto &hold) {
		auto cq = request<ib_uverbs_create_cq>();
		cq.cqe = 1;
		cq.comp_channel = -1;
		hold(take(all, [&] {
			return command(his.ctx->cmd_fd, IB_USER_VERBS_CMD_CREATE_CQ, cq,
				       sizeof(answer_room));
		}));
	});
	CHECK_EQ(greedy.taken(), all / 2);
	Pair other(env);
	other.ping();
}

/* Nor of its shared receive queues. */
void shared_queues(const Env &env)
{
	Device dev = env.open_a();
	unsigned all = dev.device_attr.orig_attr.max_srq;
	lock_without_limit();
	Nobody greedy(env, [=](Device &his, const auto &hold) {
		Pd pd(made(ibv_alloc_pd(his.ctx.get()), "ibv_alloc_pd"));
		auto srq = request<ib_uverbs_create_srq>();
		srq.pd_handle = pd->handle;
		srq.max_wr = srq.max_sge = 1;
		hold(take(all, [&] {
			return command(his.ctx->cmd_fd, IB_USER_VERBS_CMD_CREATE_SRQ, srq,
				       sizeof(answer_room));
		}));
		/* its domain is in use until the process ends */
		pd.release();
	});
	CHECK_EQ(greedy.taken(), all / 2);
	Pair other(env, {.srq_wr = 16});
	other.ping();
}

EndOptions datagrams(unsigned receives)
{
	EndOptions o;
	o.type = IBV_QPT_UD;
	o.cap = {16, receives, 1, 1, 0};
	o.cqe = receives + 16;
	o.memory = 8192;
	return o;
}

/* A datagram QP whose receives lie where no page comes. */
struct Receiver {
	Receiver(const Env &env, const SlowFile &slow, size_t offset, unsigned receives) :
		end(env.open_a(), datagrams(receives)),
		mr(reg(end.pd.get(), slow.at(offset), SlowFile::page))
	{
		end.to_init();
		end.to_rtr(end);
		end.to_rts();
		for (unsigned i = 0; i < receives; i++)
			end.recv({sge(mr, slow.at(offset), SlowFile::page)});
	}

	End end;
	Mr mr;
};

/* Each is done with when it was kept for its receiver, or lost. */
void send(Receiver &from, Receiver &to, const Ah &ah, size_t length, unsigned times)
{
	Wr wr;
	wr.sg = {from.end.sge(0, length)};
	wr.ah = ah.get();
	wr.qpn = to.end.qpn();
	wr.qkey = to.end.opt.qkey;
	while (times--) {
		from.end.send(wr);
		from.end.expect({});
	}
}

/* Of the 64 MiB of datagrams that wait for pages at an HCA a user has half, whatever he does. */
void held(const Env &env)
{
	constexpr unsigned receivers = 70, each = 256, others = 50;
	need(env.open_a(), IBV_ODP_SUPPORT_RECV, IBV_QPT_UD);
	auto slow = slow_file(receivers + 1);
	Nobody greedy(env, [&](Device &, const auto &hold) {
		std::vector<std::unique_ptr<Receiver>> all;
		for (unsigned i = 0; i < receivers; i++)
			all.push_back(
				std::make_unique<Receiver>(env, *slow, i * SlowFile::page, 1));
		Ah ah = all[0]->end.ah_to(all[0]->end);
		/* it fits into what is posted for it, behind the GRH: else nobody would wait */
		size_t length = std::min<size_t>(all[0]->end.dev.mtu(), SlowFile::page) -
				grh_len(all[0]->end);
		for (auto &to : all)
			send(*all[0], *to, ah, length, each);
		hold(0);
		slow->release();
	});
	Receiver sender(env, *slow, 0, 1), other(env, *slow, receivers * SlowFile::page, others);
	Ah ah = sender.end.ah_to(other.end);
	CHECK_EQ(greedy.taken(), 0u);
	send(sender, other, ah, 1000, others);
	slow->release();
	for (unsigned i = 0; i < others; i++)
		other.end.expect({.byte_len = 1040});
}

/* Return: the number of the file's first pages, of so many, that the kernel has. */
size_t resident(const SlowFile &slow, size_t pages)
{
	std::vector<unsigned char> has(pages);
	CHECK(!mincore(slow.at(), pages * SlowFile::page, has.data()));
	return std::ranges::count_if(has, [](unsigned char page) { return page & 1; });
}

/*
 * Advice costs memory until its pages have come: of each process 64 pieces wait, and what is beyond is not followed. A
 * caller that would wait for that gets EAGAIN.
 */
void advice(const Env &env)
{
	constexpr size_t most = 64;
	Device dev = env.open_a();
	need(dev);
	Pd pd(made(ibv_alloc_pd(dev.ctx.get()), "ibv_alloc_pd"));
	auto slow = slow_file(most + 2);
	Mr mr = reg(pd.get(), slow->at(), slow->size());
	const auto advise_page = [&](size_t page, uint32_t flags) {
		return advise(mr, IBV_ADVISE_MR_ADVICE_PREFETCH, flags,
			      reinterpret_cast<uintptr_t>(slow->at(page * SlowFile::page)), 1);
	};
	for (size_t page = 0; page <= most; page++)
		CHECK_EQ(advise_page(page, 0), 0);
	until_waiting(*slow);
	CHECK_EQ(advise_page(most + 1, IBV_ADVISE_MR_FLAG_FLUSH), EAGAIN);
	slow->release();
	while (resident(*slow, most) < most)
		usleep(1000);
	int err;
	while ((err = advise_page(most + 1, IBV_ADVISE_MR_FLAG_FLUSH)) == EAGAIN)
		usleep(1000);
	CHECK_EQ(err, 0);
	CHECK_EQ(resident(*slow, most + 2), most + 1);
}

/* The second CPU has no time for anybody. */
struct SecondCpu {
	NoneForOthers none;
	TakenCpu taken{1};
};

constexpr unsigned queues = 20, messages = 130;
constexpr size_t message = 1 << 16;

EndOptions flooded()
{
	EndOptions o;
	o.type = IBV_QPT_UC;
	o.cap = {16, messages + 100, 1, 1, 0};
	o.cqe = messages + 200;
	o.memory = message;
	return o;
}

bool next(ibv_cq *cq, ibv_wc &wc)
{
	for (unsigned i = 0; i < 1000 * slowness(); i++) {
		if (ibv_poll_cq(cq, 1, &wc) == 1)
			return true;
		usleep(1000);
	}
	return false;
}

/* How many messages have come so far. */
unsigned came_already(Pair &p)
{
	unsigned n = 0;
	for (ibv_wc wc; ibv_poll_cq(p.b.cq.get(), 1, &wc) == 1; n++)
		CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	return n;
}

/* How many messages have come, before one that is sent now. That may be lost, and is sent again then. */
unsigned came(Pair &p)
{
	unsigned n = 0;
	Wr last = p.rdma_wr(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0);
	last.imm = 1;
	for (;;) {
		p.a.send(last);
		p.a.expect({});
		for (ibv_wc wc; next(p.b.cq.get(), wc); n++) {
			CHECK_EQ(wc.status, IBV_WC_SUCCESS);
			if (wc.imm_data)
				return n;
		}
	}
}

/*
 * Nobody has time to take in what comes for these queue pairs: bulk is given to the next CPU, which is taken. An inbox
 * would keep 8 MiB, but of what is beyond 1 MiB each the HCA keeps 128 MiB for all. When there is time again what was kept is
 * delivered, and is not counted any more: the next time as much is kept. Softirqs may have time for
 * some of them meanwhile: those came early, and were not kept.
 */
void inboxes(const Env &env)
{
	constexpr unsigned most = ((128 + queues) << 20) / message;
	if (!env.two_devices())
		throw Skip("no wire between the ends");
	stay_on(0);
	std::vector<std::unique_ptr<Pair>> pairs;
	for (unsigned i = 0; i < queues; i++)
		pairs.push_back(std::make_unique<Pair>(env, flooded()));
	for (int round = 0; round < 2; round++) {
		unsigned kept = 0, early = 0;
		for (auto &p : pairs)
			for (unsigned i = 0; i < messages + 20; i++)
				p->b.recv({p->b.sge(0, 1)});
		{
			Counter full(env, "rx_queue_full");
			SecondCpu taken;
			for (unsigned i = 0; i < messages; i++) {
				for (auto &p : pairs) {
					p->a.send(
						p->rdma_wr(IBV_WR_RDMA_WRITE_WITH_IMM, 0, message));
					p->a.expect({});
				}
			}
			full.until_more();
			for (auto &p : pairs)
				early += came_already(*p);
		}
		for (auto &p : pairs)
			kept += came(*p);
		std::cout << "# kept " << kept << " of " << queues * messages
			  << ", came early: " << early << std::endl;
		CHECK(kept > most / 4);
		CHECK(kept <= most);
		CHECK(kept + early > most * 3 / 4);
		for (auto &p : pairs) {
			p->a.to(IBV_QPS_RESET);
			p->b.to(IBV_QPS_RESET);
			p->connect();
		}
	}
}

} // namespace

void add_shares(Suite &suite)
{
	suite.add("limit.device_memory_share", device_memory);
	suite.add("limit.held_share", held);
	suite.add("limit.advice", advice);
	suite.add("limit.inboxes_share", inboxes);
	suite.add("limit.xrc_domains_share", xrc_domains);
	suite.add("limit.xrc_targets_share", xrc_targets);
	suite.add("limit.completion_queues_share", completion_queues);
	suite.add("limit.shared_queues_share", shared_queues);
}

} // namespace ops

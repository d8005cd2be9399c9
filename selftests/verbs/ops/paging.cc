// SPDX-License-Identifier: GPL-2.0
/*
 * On-demand paging: the pages of a region come, go and move while it is used.
 *
 * Most buffers are memfds that are mapped twice: by one mapping they are
 * registered and taken away (MADV_DONTNEED leaves the bytes in the file), by
 * the other the bytes are written and checked.
 */
#include <atomic>
#include <chrono>
#include <iostream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "counter.h"
#include "paging.h"
#include "probe.h"
#include "suites.h"

namespace ops {

namespace {

/* Neither the source nor the receive buffer has a page when the message is sent. */
void messages(const Env &env, ibv_qp_type type)
{
	EndOptions o;
	o.type = type;
	Pair p(env, o);
	need(p.a.dev, IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV, type);
	size_t grh = grh_len(p.b), most = type == IBV_QPT_UD ? p.a.dev.mtu() : 200000;
	Shared from(1 << 18), to(1 << 18);
	Mr src = reg(p.a.pd.get(), from.at(), from.size()),
	   dst = reg(p.b.pd.get(), to.at(), to.size());
	unsigned seed = 0;
	for (size_t length : {1, 100, 191, 193, 2000, 4000, 10000, 200000}) {
		if (length > most)
			break;
		size_t off = ++seed * 1001;
		fill(from.bytes(off, length), seed);
		memset(to.bytes(0, to.size()).data(), 0, to.size());
		from.drop();
		to.drop();
		p.b.recv({sge(dst, to.at(off), length + grh)});
		Wr wr = p.send_wr(0, 0);
		wr.sg = {sge(src, from.at(off), length)};
		p.a.send(wr);
		p.a.expect({.opcode = IBV_WC_SEND});
		p.b.expect_recv({.byte_len = length + grh});
		check_filled(to.bytes(off + grh, length), seed);
	}
}

/* Several pieces on each side, each of which lacks its page. */
void scattered(const Env &env)
{
	Pair p(env);
	need(p.a.dev, IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV);
	Shared from(1 << 16), to(1 << 16);
	Mr src = reg(p.a.pd.get(), from.at(), from.size()),
	   dst = reg(p.b.pd.get(), to.at(), to.size());
	for (size_t i = 0; i < 4; i++)
		fill(from.bytes(i * 16384 + 4000, 3000), 10 + i);
	from.drop();
	to.drop();
	std::vector<ibv_sge> sg, rg;
	for (size_t i = 0; i < 4; i++) {
		sg.push_back(sge(src, from.at(i * 16384 + 4000), 3000));
		rg.push_back(sge(dst, to.at(i * 16384 + 1), 3000));
	}
	p.b.recv(rg);
	Wr wr = p.send_wr(0, 0);
	wr.sg = sg;
	p.a.send(wr);
	p.a.expect({});
	p.b.expect_recv({.byte_len = 12000u});
	for (size_t i = 0; i < 4; i++)
		check_filled(to.bytes(i * 16384 + 1, 3000), 10 + i);
}

/* WRITE and READ, with every page of both sides missing each time. */
void rdma(const Env &env)
{
	Pair p(env);
	need(p.a.dev, IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ);
	Shared near(1 << 20), far(1 << 20);
	Mr src = reg(p.a.pd.get(), near.at(), near.size()),
	   dst = reg(p.b.pd.get(), far.at(), far.size());
	unsigned seed = 0;
	for (size_t length : {1, 64, 4096, 5000, 65536, 300000, 900000}) {
		size_t off = ++seed * 517;
		Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 0);
		wr.sg = {sge(src, near.at(off), length)};
		wr.addr = far.addr(off * 2);
		wr.rkey = dst->rkey;
		fill(near.bytes(off, length), seed);
		near.drop();
		far.drop();
		p.a.send(wr);
		p.a.expect({.opcode = IBV_WC_RDMA_WRITE});
		check_filled(far.bytes(off * 2, length), seed);

		memset(near.bytes(0, near.size()).data(), 0, near.size());
		near.drop();
		far.drop();
		wr.op = IBV_WR_RDMA_READ;
		p.a.send(wr);
		p.a.expect({.opcode = IBV_WC_RDMA_READ});
		check_filled(near.bytes(off, length), seed);
	}
}

/*
 * A page that comes soon is waited for, and the sender is not told that it is missing. On a busy machine some come late: the
 * most do not.
 */
void quick_page(const Env &env)
{
	constexpr int rounds = 40;
	Pair p(env);
	need(p.a.dev, IBV_ODP_SUPPORT_WRITE);
	Shared far(4096);
	Mr dst = reg(p.b.pd.get(), far.at(), far.size());
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 8);
	wr.addr = far.addr();
	wr.rkey = dst->rkey;
	int unheard = 0;
	for (int round = 0; round < rounds; round++) {
		Counter refused(env, "rnr_no_page");
		far.drop();
		p.a.send(wr);
		p.a.expect({.opcode = IBV_WC_RDMA_WRITE});
		unheard += !refused.more();
	}
	printf("# odp.quick_page: %d of %d pages came soon\n", unheard, rounds);
	CHECK(unheard > rounds / 2);
}

/*
 * A region loses all its pages at once. Its table is locked for no more than 512 of them at a time, since others wait for that lock
 * who have softirqs off.
 */
void invalidated_in_batches(const Env &env)
{
	constexpr size_t batch = 512 * 4096, batches = 4;
	End e(env.open_a(), {});
	need(e.dev);
	Shared far(batches * batch);
	Mr mr = reg(e.pd.get(), far.at(), far.size());
	ibv_sge all = sge(mr, far.at(), far.size());
	CHECK_EQ(ibv_advise_mr(e.pd.get(), IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			       IBV_ADVISE_MR_FLAG_FLUSH, &all, 1),
		 0);
	Probe locked("_raw_write_lock_bh", Probe::this_thread);
	far.drop();
	const size_t times = locked.calls();
	std::cout << "# locked " << times << " times" << std::endl;
	CHECK(times >= batches);
}

/*
 * The answer to a READ waits for its page, which is there, but not for writing. A request that is
 * fenced behind the READ sends what the READ has brought (10.8.3.3).
 */
void fence(const Env &env)
{
	Pair p(env);
	need(p.a.dev, IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_SEND);
	constexpr size_t length = 100;
	for (unsigned round = 1; round <= 30; round++) {
		auto *page = static_cast<uint8_t *>(
			mapped(4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
		Mr mr = reg(p.a.pd.get(), page, 4096);
		ibv_sge sg = sge(mr, page, length);
		ibv_send_wr send{}, read{}, *bad;
		send.opcode = IBV_WR_SEND;
		send.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
		send.sg_list = &sg;
		send.num_sge = 1;
		read = send;
		read.opcode = IBV_WR_RDMA_READ;
		read.send_flags = 0;
		read.wr.rdma = {p.b.mem.addr(), p.b.mem.rkey()};
		read.next = &send;

		p.b.recv({p.b.sge(32768, length)});
		p.b.recv({p.b.sge(32768, length)});
		/* it has no page yet: now it has that of all zeros */
		CHECK_EQ(ibv_post_send(p.a.qp.get(), &send, &bad), 0);
		p.a.expect({.opcode = IBV_WC_SEND});
		p.b.expect_recv({.byte_len = length});
		fill(p.b.mem.bytes(0, length), round);
		CHECK_EQ(ibv_post_send(p.a.qp.get(), &read, &bad), 0);
		p.a.expect({.opcode = IBV_WC_SEND});
		p.b.expect_recv({.byte_len = length});
		check_filled(p.b.mem.bytes(32768, length), round);
		mr.reset();
		munmap(page, 4096);
	}
}

void atomics(const Env &env)
{
	Pair p(env);
	need(p.a.dev, IBV_ODP_SUPPORT_ATOMIC);
	Shared near(8192), far(8192);
	Mr src = reg(p.a.pd.get(), near.at(), near.size()),
	   dst = reg(p.b.pd.get(), far.at(), far.size());
	auto *word = reinterpret_cast<uint64_t *>(far.bytes(4096, 8).data());
	auto *was = reinterpret_cast<uint64_t *>(near.bytes(8, 8).data());
	for (uint64_t i = 0; i < 20; i++) {
		Wr wr = p.rdma_wr(i & 1 ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD,
				  0, 0);
		wr.sg = {sge(src, near.at(8), 8)};
		wr.addr = far.addr(4096);
		wr.rkey = dst->rkey;
		wr.compare_add = i & 1 ? 1000 + i : 7;
		wr.swap = 5;
		*word = 1000 + i;
		near.drop();
		far.drop();
		p.a.send(wr);
		p.a.expect({});
		CHECK_EQ(*was, 1000 + i);
		CHECK_EQ(*word, i & 1 ? 5 : 1007 + i);
	}
}

/* At the same address there is other memory now: that is what is meant. */
void mapped_anew(const Env &env)
{
	Pair p(env);
	need(p.b.dev);
	constexpr size_t length = 1 << 17;
	constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	void *at = mapped(length, PROT_READ | PROT_WRITE, flags, -1);
	auto *bytes = static_cast<uint8_t *>(at);
	Mr mr = reg(p.b.pd.get(), at, length);
	for (unsigned i = 1; i < 20; i++) {
		Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 50000);
		wr.addr = reinterpret_cast<uintptr_t>(at) + i * 100;
		wr.rkey = mr->rkey;
		fill(p.a.mem.bytes(0, 50000), i);
		p.a.send(wr);
		p.a.expect({});
		check_filled({bytes + i * 100, 50000}, i);
		if (i & 1)
			munmap(at, length);
		mapped(length, PROT_READ | PROT_WRITE, flags | MAP_FIXED, -1, at);
		check_all({bytes, length}, 0);
	}
	mr.reset();
	munmap(at, length);
}

/* The pages move (the kernel copies them elsewhere), the bytes do not. */
void moved(const Env &env)
{
	Pair p(env);
	need(p.b.dev);
	constexpr size_t length = 1 << 16;
	constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	auto *bytes = static_cast<uint8_t *>(mapped(length, PROT_READ | PROT_WRITE, flags, -1));
	Mr mr = reg(p.b.pd.get(), bytes, length);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, length);
	wr.addr = reinterpret_cast<uintptr_t>(bytes);
	wr.rkey = mr->rkey;
	fill(p.a.mem.bytes(0, length), 1);
	p.a.send(wr);
	p.a.expect({});
	/* moved away: the region's addresses are empty */
	void *elsewhere = mremap(bytes, length, length, MREMAP_MAYMOVE | MREMAP_DONTUNMAP);
	if (elsewhere == MAP_FAILED)
		throw Skip("no mremap() that leaves the mapping");
	fill(p.a.mem.bytes(0, length), 2);
	p.a.send(wr);
	p.a.expect({});
	check_filled({static_cast<uint8_t *>(elsewhere), length}, 1);
	check_filled({bytes, length}, 2);
	munmap(elsewhere, length);
	mr.reset();
	munmap(bytes, length);
}

/*
 * After fork() parent and child share pages until one of them writes: what a peer writes is a write
 * by the parent, and the child does not see it.
 */
void forked(const Env &env)
{
	Pair p(env);
	need(p.b.dev);
	constexpr size_t length = 40000;
	auto *bytes = static_cast<uint8_t *>(
		mapped(length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1));
	Mr mr = reg(p.b.pd.get(), bytes, length);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, length);
	wr.addr = reinterpret_cast<uintptr_t>(bytes);
	wr.rkey = mr->rkey;
	fill(p.a.mem.bytes(0, length), 1);
	p.a.send(wr);
	p.a.expect({});

	int go[2];
	CHECK(!pipe(go));
	pid_t pid = fork();
	if (pid == 0) {
		char c;
		close(go[1]);
		if (read(go[0], &c, 1))
			_exit(2);
		try {
			check_filled({bytes, length}, 1);
		} catch (const Failure &) {
			_exit(1);
		}
		_exit(0);
	}
	fill(p.a.mem.bytes(0, length), 2);
	p.a.send(wr);
	p.a.expect({});
	check_filled({bytes, length}, 2);
	close(go[1]);
	int status;
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	close(go[0]);
	mr.reset();
	munmap(bytes, length);
}

/* Memory that the process may only read can be read by a peer, and not written to. */
void read_only(const Env &env)
{
	Pair p(env);
	need(p.b.dev);
	Shared far(1 << 16);
	fill(far.bytes(0, far.size()), 3);
	CHECK(!mprotect(far.at(), far.size(), PROT_READ));
	Mr mr = reg(p.b.pd.get(), far.at(), far.size());
	Wr wr = p.rdma_wr(IBV_WR_RDMA_READ, 0, 50000);
	wr.addr = far.addr();
	wr.rkey = mr->rkey;
	p.a.send(wr);
	p.a.expect({});
	check_filled(p.a.mem.bytes(0, 50000), 3);
	wr.op = IBV_WR_RDMA_WRITE;
	memset(p.a.mem.at(), 0, 50000);
	p.a.send(wr);
	/* The responder has failed, and no receive request tells its owner so. */
	p.a.expect({.status = IBV_WC_REM_OP_ERR});
	p.b.expect_event(IBV_EVENT_QP_FATAL);
	check_filled(far.bytes(0, far.size()), 3);
}

/* A region of which nothing is mapped any more. */
struct Unmapped {
	explicit Unmapped(const End &end) :
		at(mapped(8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1)),
		mr(reg(end.pd.get(), at, 8192))
	{
		munmap(at, 8192);
	}
	ibv_sge sge() const { return ::ops::sge(mr, at, 5000); }

	void *at;
	Mr mr;
};

/* Local memory that is not there is an error of this side. */
void unmapped_source(const Env &env)
{
	Pair p(env);
	need(p.a.dev);
	Unmapped gone(p.a);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 0);
	wr.sg = {gone.sge()};
	p.a.send(wr);
	p.a.expect({.status = IBV_WC_LOC_PROT_ERR});
}

void unmapped_sink(const Env &env)
{
	Pair p(env);
	need(p.a.dev);
	Unmapped gone(p.a);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_READ, 0, 5000);
	wr.sg = {gone.sge()};
	p.a.send(wr);
	p.a.expect({.status = IBV_WC_LOC_PROT_ERR});
}

void unmapped_receive(const Env &env)
{
	Pair p(env);
	need(p.b.dev);
	Unmapped gone(p.b);
	p.b.recv({gone.sge()});
	p.a.send(p.send_wr(0, 5000));
	p.a.expect({.status = IBV_WC_REM_OP_ERR});
	p.b.expect_recv({.status = IBV_WC_LOC_PROT_ERR});
}

/*
 * A thread takes the pages away, again and again; not a byte is wrong. It leaves a while in between: a
 * copy needs all its pages at once.
 */
void churn(const Env &env)
{
	Pair p(env);
	need(p.a.dev, IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ);
	constexpr size_t length = 30000;
	Shared near(1 << 16), far(1 << 16);
	Mr src = reg(p.a.pd.get(), near.at(), near.size()),
	   dst = reg(p.b.pd.get(), far.at(), far.size());
	std::atomic<bool> stop = false;
	std::thread thief([&] {
		while (!stop) {
			madvise(near.at(), near.size(), MADV_DONTNEED);
			madvise(far.at(), far.size(), MADV_DONTNEED);
			std::this_thread::sleep_for(std::chrono::milliseconds(2));
		}
	});
	try {
		for (unsigned i = 1; i <= 100; i++) {
			Wr wr = p.rdma_wr(i & 1 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, 0, 0);
			wr.sg = {sge(src, near.at(i), length)};
			wr.addr = far.addr(i * 7);
			wr.rkey = dst->rkey;
			auto from = i & 1 ? near.bytes(i, length) : far.bytes(i * 7, length);
			auto to = i & 1 ? far.bytes(i * 7, length) : near.bytes(i, length);
			fill(from, i);
			p.a.send(wr);
			p.a.expect({});
			check_filled(to, i);
		}
	} catch (...) {
		stop = true;
		thief.join();
		throw;
	}
	stop = true;
	thief.join();
}

/*
 * One after the other without waiting, so that the ring is looked at without doorbells; the pages of some are
 * missing, and who has waited for one takes what was posted meanwhile.
 */
void stream(const Env &env)
{
	Pair p(env);
	need(p.a.dev, IBV_ODP_SUPPORT_WRITE);
	constexpr size_t page = 4096, batch = 60;
	Shared from(batch * page);
	Mr src = reg(p.a.pd.get(), from.at(), from.size());
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 0);
	for (unsigned round = 1; round <= 100; round++) {
		fill(from.bytes(0, from.size()), round);
		from.drop();
		for (size_t i = 0; i < batch; i++) {
			wr.sg = {sge(src, from.at(i % 8 == round % 8 ? i * page : 0), 64)};
			wr.addr = p.b.mem.addr(i * 64);
			p.a.send(wr);
		}
		for (size_t i = 0; i < batch; i++)
			p.a.expect({});
	}
}

/* All of the process is one region, also what it maps later. */
void implicit(const Env &env)
{
	Pair p(env);
	need_implicit(p.b.dev);
	Mr src = reg(p.a.pd.get(), nullptr, SIZE_MAX), dst = reg(p.b.pd.get(), nullptr, SIZE_MAX);
	for (unsigned i = 1; i < 6; i++) {
		Shared near(5 << 20), far(5 << 20);
		constexpr size_t length = 3 << 20;
		fill(near.bytes(i, length), i);
		near.drop();
		Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 0);
		wr.sg = {sge(src, near.at(i), length)};
		wr.addr = far.addr(i * 3);
		wr.rkey = dst->rkey;
		p.a.send(wr);
		p.a.expect({});
		check_filled(far.bytes(i * 3, length), i);
	}
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 100);
	wr.addr = 64;
	wr.rkey = dst->rkey;
	p.a.send(wr);
	ibv_wc wc = p.a.completion();
	CHECK(wc.status == IBV_WC_REM_ACCESS_ERR || wc.status == IBV_WC_REM_OP_ERR);
}

/* Far above what a process can have. */
void implicit_beyond(const Env &env)
{
	Pair p(env);
	need_implicit(p.b.dev);
	Mr dst = reg(p.b.pd.get(), nullptr, SIZE_MAX);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_READ, 0, 100);
	wr.addr = 0xffff888000001000;
	wr.rkey = dst->rkey;
	p.a.send(wr);
	ibv_wc wc = p.a.completion();
	CHECK(wc.status == IBV_WC_REM_ACCESS_ERR || wc.status == IBV_WC_REM_OP_ERR);
}

void reregistered(const Env &env)
{
	Pair p(env);
	need(p.b.dev);
	Shared one(1 << 16), two(1 << 16);
	Mr mr = reg(p.b.pd.get(), one.at(), one.size(), all_access);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 30000);
	wr.rkey = mr->rkey;
	unsigned seed = 0;
	for (Shared *now : {&two, &one, &two}) {
		int flags = IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_ACCESS;
		int access = seed == 1 ? all_access : odp_access;
		if (int err =
			    ibv_rereg_mr(mr.get(), flags, nullptr, now->at(), now->size(), access))
			FAIL("ibv_rereg_mr: " + std::to_string(err));
		fill(p.a.mem.bytes(0, 30000), ++seed);
		wr.addr = now->addr(seed);
		p.a.send(wr);
		p.a.expect({});
		check_filled(now->bytes(seed, 30000), seed);
	}
}

void prefetched(const Env &env)
{
	Pair p(env);
	need(p.b.dev);
	Shared far(4 << 20);
	Mr mr = reg(p.b.pd.get(), far.at(), far.size());
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 60000);
	wr.addr = far.addr(5);
	wr.rkey = mr->rkey;
	unsigned seed = 0;
	for (auto advice : {IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			    IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT})
		for (uint32_t flags : {0u, uint32_t(IBV_ADVISE_MR_FLAG_FLUSH)}) {
			far.drop();
			CHECK_EQ(advise(mr, advice, flags, far.addr(), far.size()), 0);
			fill(p.a.mem.bytes(0, 60000), ++seed);
			p.a.send(wr);
			p.a.expect({});
			check_filled(far.bytes(5, 60000), seed);
		}
}

void prefetch_refused(const Env &env)
{
	Pair p(env);
	need(p.b.dev);
	constexpr auto read = IBV_ADVISE_MR_ADVICE_PREFETCH,
		       write = IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	constexpr uint32_t flush = IBV_ADVISE_MR_FLAG_FLUSH;
	Shared far(1 << 16);
	ibv_pd *pd = p.b.pd.get();
	Mr mr = reg(pd, far.at(), 8192), pinned = reg(pd, far.at(), 8192, all_access);
	Mr reads = reg(pd, far.at(), 8192, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND);
	Pd other(made(ibv_alloc_pd(p.b.dev.ctx.get()), "ibv_alloc_pd"));
	CHECK_EQ(advise(nullptr, read, flush, far.addr(), 4096, pd), ENOENT);
	CHECK_EQ(advise(mr, read, flush, far.addr(), 4096, other.get()), ENOENT);
	CHECK_EQ(advise(mr, read, flush, far.addr(4096), 4097), EFAULT);
	CHECK_EQ(advise(mr, read, 0, far.addr(8192), 1), EFAULT);
	CHECK_EQ(advise(pinned, read, flush, far.addr(), 4096), EINVAL);
	CHECK_EQ(advise(reads, write, flush, far.addr(), 4096), EPERM);
	CHECK_EQ(advise(reads, read, flush, far.addr(), 4096), 0);
	munmap(far.at(4096), 4096);
	CHECK_EQ(advise(mr, read, flush, far.addr(), 8192), EFAULT);
	/* nobody waits for this one */
	CHECK_EQ(advise(mr, read, 0, far.addr(), 8192), 0);
}

/* A READ that was put off for a page comes again, perhaps to a QP that is in error by then: nobody answers it. */
bool refused(ibv_wc_status status)
{
	return status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_RETRY_EXC_ERR;
}

/* The region goes while pages are being brought in for it. */
void deregistered(const Env &env)
{
	for (int round = 0; round < 10; round++) {
		Pair p(env);
		need(p.b.dev);
		Shared far(1 << 20);
		Mr mr = reg(p.b.pd.get(), far.at(), far.size());
		for (unsigned i = 0; i < 16; i++) {
			Wr wr = p.rdma_wr(i & 1 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 0, 60000);
			wr.addr = far.addr(i * 60000);
			wr.rkey = mr->rkey;
			p.a.send(wr);
		}
		mr.reset();
		bool failed = false;
		for (unsigned i = 0; i < 16; i++) {
			ibv_wc_status status = p.a.completion().status;
			if (failed)
				CHECK_EQ(status, IBV_WC_WR_FLUSH_ERR);
			else if (status != IBV_WC_SUCCESS)
				CHECK(refused(status)), failed = true;
		}
	}
}

} // namespace

void add_paging(Suite &suite)
{
	for (ibv_qp_type type : {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD})
		suite.add(std::string("odp.messages.") + type_name(type),
			  [type](Env &env) { messages(env, type); });
	suite.add("odp.scattered", scattered);
	suite.add("odp.rdma", rdma);
	suite.add("odp.quick_page", quick_page);
	suite.add("odp.invalidated_in_batches", invalidated_in_batches);
	suite.add("odp.fence", fence);
	suite.add("odp.atomics", atomics);
	suite.add("odp.mapped_anew", mapped_anew);
	suite.add("odp.moved", moved);
	suite.add("odp.forked", forked);
	suite.add("odp.read_only", read_only);
	suite.add("odp.unmapped_source", unmapped_source);
	suite.add("odp.unmapped_sink", unmapped_sink);
	suite.add("odp.unmapped_receive", unmapped_receive);
	suite.add("odp.churn", churn);
	suite.add("odp.stream", stream);
	suite.add("odp.implicit", implicit);
	suite.add("odp.implicit_beyond", implicit_beyond);
	suite.add("odp.rereg", reregistered);
	suite.add("odp.prefetched", prefetched);
	suite.add("odp.prefetch_refused", prefetch_refused);
	suite.add("odp.deregistered_in_use", deregistered);
}

} // namespace ops

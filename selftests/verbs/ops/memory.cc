// SPDX-License-Identifier: GPL-2.0
/* Memory regions: how they are registered, what they cover, who may use them (10.6). */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "end.h"
#include "suites.h"

namespace ops {

namespace {

/* Pages of the process, unmapped at the end. */
class Pages {
public:
	explicit Pages(size_t length, int prot = PROT_READ | PROT_WRITE,
		       int flags = MAP_PRIVATE | MAP_ANONYMOUS, int fd = -1) : length_(length)
	{
		void *p = mmap(nullptr, length, prot, flags, fd, 0);
		if (p == MAP_FAILED)
			throw Skip("no such memory here");
		base_ = static_cast<uint8_t *>(p);
	}
	~Pages() { munmap(base_, length_); }
	Pages(const Pages &) = delete;
	Pages &operator=(const Pages &) = delete;
	uint8_t *at(size_t offset = 0) const { return base_ + offset; }
	uint64_t addr(size_t offset = 0) const { return reinterpret_cast<uintptr_t>(at(offset)); }

private:
	uint8_t *base_;
	size_t length_;
};

Mr reg(ibv_pd *pd, void *addr, size_t length, int access = all_access)
{
	return Mr(made(ibv_reg_mr(pd, addr, length, access), "ibv_reg_mr"));
}

/* Bytes go there by WRITE and come back by READ, through that key and address. */
void there_and_back(Pair &p, uint64_t addr, uint32_t rkey, size_t length, unsigned seed)
{
	fill(p.a.mem.bytes(0, length), seed);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, length);
	wr.addr = addr;
	wr.rkey = rkey;
	p.a.send(wr);
	p.a.expect({.opcode = IBV_WC_RDMA_WRITE});
	memset(p.a.mem.at(), 0, length);
	wr.op = IBV_WR_RDMA_READ;
	p.a.send(wr);
	p.a.expect({.opcode = IBV_WC_RDMA_READ});
	check_filled(p.a.mem.bytes(0, length), seed);
}

void odd_places(const Env &env)
{
	Pair p(env);
	Pages pages(1 << 20);
	unsigned seed = 0;
	for (size_t offset : {0, 1, 4095, 4096, 5000})
		for (size_t length : {1, 2, 4095, 4096, 4097, 60001}) {
			Mr mr = reg(p.b.pd.get(), pages.at(offset), length);
			there_and_back(p, pages.addr(offset), mr->rkey, length, ++seed);
			check_filled({pages.at(offset), length}, seed);
		}
}

/* The region's addresses are what the user says (the place in the page is not free to choose). */
void other_addresses(const Env &env, uint64_t iova)
{
	Pair p(env);
	Pages pages(1 << 16);
	uint8_t *start = pages.at(iova % 4096);
	Mr mr(made(ibv_reg_mr_iova(p.b.pd.get(), start, 20000, iova, all_access),
		   "ibv_reg_mr_iova"));
	there_and_back(p, iova, mr->rkey, 20000, 1);
	check_filled({start, 20000}, 1);
	there_and_back(p, iova + 7000, mr->rkey, 13000, 2);
	check_filled({start + 7000, 13000}, 2);
	/* One byte more than there is. */
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 2);
	wr.addr = iova + 19999;
	wr.rkey = mr->rkey;
	p.a.send(wr);
	p.a.expect({.status = IBV_WC_REM_ACCESS_ERR});
}

/* IBV_ACCESS_ZERO_BASED: addresses count from the region's first byte, also for local use. */
void zero_based(const Env &env)
{
	Pair p(env);
	Pages pages(1 << 16);
	Mr mr = reg(p.b.pd.get(), pages.at(100), 20000, all_access | IBV_ACCESS_ZERO_BASED);
	there_and_back(p, 0, mr->rkey, 20000, 1);
	check_filled({pages.at(100), 20000}, 1);
	p.b.recv({ibv_sge{500, 64, mr->lkey}});
	fill(p.a.mem.bytes(0, 64), 7);
	p.a.send(p.send_wr(0, 64));
	p.a.expect({});
	p.b.expect_recv({});
	check_filled({pages.at(600), 64}, 7);
}

void refused(const Env &env)
{
	End e(env.open_a(), {});
	Pages pages(8192), read_only(8192, PROT_READ);
	ibv_pd *pd = e.pd.get();
	/* A region that allows remote writes must allow local ones (10.6.3.1). */
	CHECK(!ibv_reg_mr(pd, pages.at(), 8192, IBV_ACCESS_REMOTE_WRITE));
	CHECK(!ibv_reg_mr(pd, pages.at(), 8192, IBV_ACCESS_REMOTE_ATOMIC));
	CHECK(!ibv_reg_mr(pd, read_only.at(), 8192, IBV_ACCESS_LOCAL_WRITE));
	void *gone = mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(gone, 8192);
	CHECK(!ibv_reg_mr(pd, gone, 8192, 0));
	CHECK(!ibv_reg_mr(pd, pages.at(), ~0UL, 0));
	CHECK(!ibv_reg_mr_iova(pd, pages.at(), 8192, -4096ULL, all_access));
	Mr to_the_end(made(ibv_reg_mr_iova(pd, pages.at(), 8192, -8192ULL, all_access),
			   "ibv_reg_mr_iova"));
	Mr fine = reg(pd, read_only.at(), 8192, IBV_ACCESS_REMOTE_READ);
}

/* Relaxed ordering is optional: asking for it harms nothing. */
void relaxed(const Env &env)
{
	Pair p(env);
	Pages pages(1 << 16);
	Mr mr = reg(p.b.pd.get(), pages.at(), 1 << 16, all_access | IBV_ACCESS_RELAXED_ORDERING);
	there_and_back(p, pages.addr(), mr->rkey, 50000, 3);
}

/* Several regions over the same bytes, each with its own rights. */
void overlapping(const Env &env)
{
	Pair p(env);
	Pages pages(1 << 16);
	Mr all = reg(p.b.pd.get(), pages.at(), 1 << 16);
	Mr reads = reg(p.b.pd.get(), pages.at(4096), 8192, IBV_ACCESS_REMOTE_READ);
	there_and_back(p, pages.addr(4096), all->rkey, 8192, 1);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_READ, 0, 8192);
	wr.addr = pages.addr(4096);
	wr.rkey = reads->rkey;
	p.a.send(wr);
	p.a.expect({});
	check_filled(p.a.mem.bytes(0, 8192), 1);
	reads.reset();
	there_and_back(p, pages.addr(4096), all->rkey, 8192, 2);
}

void shared_pages(const Env &env)
{
	Pair p(env);
	int fd = memfd_create("pib", 0);
	CHECK(fd >= 0 && !ftruncate(fd, 1 << 16));
	{
		Pages here(1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd),
			there(1 << 16, PROT_READ, MAP_SHARED, fd);
		Mr mr = reg(p.b.pd.get(), here.at(), 1 << 16);
		there_and_back(p, here.addr(10), mr->rkey, 60000, 5);
		check_filled({there.at(10), 60000}, 5);
	}
	close(fd);
}

void huge_pages(const Env &env)
{
	Pair p(env);
	Pages pages(4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB);
	Mr mr = reg(p.b.pd.get(), pages.at(), 4 << 20);
	there_and_back(p, pages.addr((2 << 20) - 1000), mr->rkey, 60000, 1);
	check_filled({pages.at((2 << 20) - 1000), 60000}, 1);
	Mr part = reg(p.b.pd.get(), pages.at(12345), (2 << 20));
	there_and_back(p, pages.addr(2 << 20), part->rkey, 12345, 2);
}

/* After fork() the pages that were registered are still the parent's. */
void after_fork(const Env &env)
{
	Pair p(env);
	int go[2];
	CHECK(!pipe(go));
	fill(p.a.mem.bytes(0, 8192), 1);
	pid_t pid = fork();
	if (pid == 0) {
		char c;
		close(go[1]);
		_exit(read(go[0], &c, 1) == 0 ? 0 : 1);
	}
	fill(p.a.mem.bytes(0, 8192), 2);
	p.b.recv({p.b.sge(0, 8192)});
	p.a.send(p.send_wr(0, 8192));
	p.a.expect({});
	p.b.expect_recv({});
	check_filled(p.b.mem.bytes(0, 8192), 2);
	close(go[0]);
	close(go[1]);
	int status;
	waitpid(pid, &status, 0);
}

/* Keys are not handed out again at once: a stale one must not fit the next region. */
void keys(const Env &env)
{
	Pair p(env);
	Pages pages(4096);
	uint32_t before = 0;
	for (int i = 0; i < 300; i++) {
		Mr mr = reg(p.b.pd.get(), pages.at(), 4096);
		CHECK(mr->rkey != before);
		CHECK(mr->rkey != 0);
		before = mr->rkey;
	}
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 8);
	wr.addr = pages.addr();
	wr.rkey = before;
	p.a.send(wr);
	p.a.expect({.status = IBV_WC_REM_ACCESS_ERR});
}

/* A region goes while requests use it: each is done or refused, and nobody is hurt. */
void deregistered_in_use(const Env &env)
{
	for (int round = 0; round < 10; round++) {
		Pair p(env);
		Pages pages(1 << 20);
		Mr mr = reg(p.b.pd.get(), pages.at(), 1 << 20);
		EndOptions o;
		Memory big(p.a.pd.get(), 1 << 20);
		for (unsigned i = 0; i < 30; i++) {
			Wr wr = p.rdma_wr(i & 1 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 0, 0);
			wr.sg = {big.sge(0, 1 << 20)};
			wr.addr = pages.addr();
			wr.rkey = mr->rkey;
			p.a.send(wr);
		}
		mr.reset();
		bool failed = false;
		for (unsigned i = 0; i < 30; i++) {
			ibv_wc_status status = p.a.completion().status;
			if (failed)
				CHECK_EQ(status, IBV_WC_WR_FLUSH_ERR);
			else if (status != IBV_WC_SUCCESS)
				CHECK_EQ(status, IBV_WC_REM_ACCESS_ERR), failed = true;
		}
	}
}

int rereg(const Mr &mr, int flags, ibv_pd *pd, void *addr, size_t length, int access)
{
	int err = ibv_rereg_mr(mr.get(), flags, pd, addr, length, access);
	if (err && errno == EOPNOTSUPP)
		throw Skip("not supported");
	return err;
}

void reregister(const Env &env)
{
	Pair p(env);
	Pages one(1 << 16), two(1 << 16);
	Mr mr = reg(p.b.pd.get(), one.at(), 1 << 16);
	there_and_back(p, one.addr(), mr->rkey, 60000, 1);
	CHECK_EQ(rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, two.at(5), 50000, 0), 0);
	there_and_back(p, two.addr(5), mr->rkey, 50000, 2);
	check_filled({two.at(5), 50000}, 2);
	check_filled({one.at(), 60000}, 1);
	CHECK_EQ(rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_REMOTE_READ),
		 0);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_READ, 0, 100);
	wr.addr = two.addr(5);
	wr.rkey = mr->rkey;
	p.a.send(wr);
	p.a.expect({});
	wr.op = IBV_WR_RDMA_WRITE;
	p.a.send(wr);
	p.a.expect({.status = IBV_WC_REM_ACCESS_ERR});
}

void reregister_pd(const Env &env)
{
	Pair p(env);
	Pages pages(4096);
	Pd other(made(ibv_alloc_pd(p.b.dev.ctx.get()), "ibv_alloc_pd"));
	Mr mr = reg(other.get(), pages.at(), 4096);
	CHECK_EQ(rereg(mr, IBV_REREG_MR_CHANGE_PD, p.b.pd.get(), nullptr, 0, 0), 0);
	there_and_back(p, pages.addr(), mr->rkey, 4096, 1);
	CHECK_EQ(rereg(mr, IBV_REREG_MR_CHANGE_PD, other.get(), nullptr, 0, 0), 0);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 100);
	wr.addr = pages.addr();
	wr.rkey = mr->rkey;
	p.a.send(wr);
	p.a.expect({.status = IBV_WC_REM_ACCESS_ERR});
}

/* ---- device memory */

void device_memory(const Env &env)
{
	Pair p(env);
	if (!p.b.dev.device_attr.max_dm_size)
		throw Skip("no device memory");
	ibv_alloc_dm_attr attr{};
	attr.length = 16384;
	Dm dm(made(ibv_alloc_dm(p.b.dev.ctx.get(), &attr), "ibv_alloc_dm"));
	Mr mr(made(ibv_reg_dm_mr(p.b.pd.get(), dm.get(), 4096, 8192,
				 all_access | IBV_ACCESS_ZERO_BASED),
		   "ibv_reg_dm_mr"));
	there_and_back(p, 0, mr->rkey, 8192, 3);
	std::vector<uint8_t> got(8192);
	CHECK_EQ(ibv_memcpy_from_dm(got.data(), dm.get(), 4096, got.size()), 0);
	check_filled(got, 3);
	fill(got, 4);
	CHECK_EQ(ibv_memcpy_to_dm(dm.get(), 4096, got.data(), got.size()), 0);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_READ, 0, 8192);
	wr.addr = 0;
	wr.rkey = mr->rkey;
	p.a.send(wr);
	p.a.expect({});
	check_filled(p.a.mem.bytes(0, 8192), 4);
	wr.addr = 1;
	p.a.send(wr);
	p.a.expect({.status = IBV_WC_REM_ACCESS_ERR});
	CHECK(ibv_memcpy_to_dm(dm.get(), 16000, got.data(), got.size()) != 0);
}

/* ---- on demand */

void need_odp(const Device &dev)
{
	if (!(dev.device_attr.odp_caps.general_caps & IBV_ODP_SUPPORT))
		throw Skip("no on-demand paging");
}

void on_demand(const Env &env)
{
	Pair p(env);
	need_odp(p.b.dev);
	Pages pages(1 << 20);
	Mr mr = reg(p.b.pd.get(), pages.at(), 1 << 20, all_access | IBV_ACCESS_ON_DEMAND);
	for (unsigned i = 1; i < 6; i++) {
		there_and_back(p, pages.addr(i * 1000), mr->rkey, 60000, i);
		check_filled({pages.at(i * 1000), 60000}, i);
		/* The pages go; new ones come when they are wanted. */
		CHECK(!madvise(pages.at(), 1 << 20, MADV_DONTNEED));
	}
	Wr wr = p.rdma_wr(IBV_WR_RDMA_READ, 0, 60000);
	wr.addr = pages.addr();
	wr.rkey = mr->rkey;
	memset(p.a.mem.at(), 1, 60000);
	p.a.send(wr);
	p.a.expect({});
	check_all(p.a.mem.bytes(0, 60000), 0);
}

/* Memory that is no longer mapped: an error, not an accident. */
void on_demand_unmapped(const Env &env)
{
	Pair p(env);
	need_odp(p.b.dev);
	void *base =
		mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	Mr mr = reg(p.b.pd.get(), base, 1 << 16, all_access | IBV_ACCESS_ON_DEMAND);
	there_and_back(p, reinterpret_cast<uintptr_t>(base), mr->rkey, 4096, 1);
	munmap(base, 1 << 16);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 100);
	wr.addr = reinterpret_cast<uintptr_t>(base);
	wr.rkey = mr->rkey;
	p.a.send(wr);
	ibv_wc wc = p.a.completion();
	CHECK(wc.status == IBV_WC_REM_ACCESS_ERR || wc.status == IBV_WC_REM_OP_ERR);
}

void implicit(const Env &env)
{
	Pair p(env);
	need_odp(p.b.dev);
	if (!(p.b.dev.device_attr.odp_caps.general_caps & IBV_ODP_SUPPORT_IMPLICIT))
		throw Skip("no implicit regions");
	Mr mr = reg(p.b.pd.get(), nullptr, SIZE_MAX, all_access | IBV_ACCESS_ON_DEMAND);
	Pages one(1 << 16), two(1 << 16);
	there_and_back(p, one.addr(3), mr->rkey, 60000, 1);
	there_and_back(p, two.addr(5), mr->rkey, 60000, 2);
	check_filled({one.at(3), 60000}, 1);
	check_filled({two.at(5), 60000}, 2);
}

/* Pieces of one byte do not make more memory than there is. */
void device_memory_small(const Env &env)
{
	Device dev = env.open_b();
	uint64_t most = dev.device_attr.max_dm_size / sysconf(_SC_PAGESIZE);
	if (!most)
		throw Skip("no device memory");
	ibv_alloc_dm_attr attr{};
	attr.length = 1;
	std::vector<Dm> pieces;
	for (;;) {
		Dm dm(ibv_alloc_dm(dev.ctx.get(), &attr));
		if (!dm)
			break;
		pieces.push_back(std::move(dm));
		CHECK(pieces.size() <= most);
	}
	CHECK_EQ(errno, ENOMEM);
	CHECK_EQ(pieces.size(), most);
	pieces.pop_back();
	CHECK(Dm(ibv_alloc_dm(dev.ctx.get(), &attr)));
}

} // namespace

void add_memory(Suite &suite)
{
	suite.add("mr.odd_places", odd_places);
	suite.add("mr.other_addresses", [](Env &env) { other_addresses(env, 0x1234567000 + 100); });
	suite.add("mr.from_zero", [](Env &env) { other_addresses(env, 0); });
	suite.add("mr.zero_based", zero_based);
	suite.add("mr.refused", refused);
	suite.add("mr.relaxed_ordering", relaxed);
	suite.add("mr.overlapping", overlapping);
	suite.add("mr.shared_pages", shared_pages);
	suite.add("mr.huge_pages", huge_pages);
	suite.add("mr.after_fork", after_fork);
	suite.add("mr.keys", keys);
	suite.add("mr.deregistered_in_use", deregistered_in_use);
	suite.add("mr.rereg", reregister);
	suite.add("mr.rereg_pd", reregister_pd);
	suite.add("mr.device_memory", device_memory);
	suite.add("mr.device_memory_small", device_memory_small);
	suite.add("mr.on_demand", on_demand);
	suite.add("mr.on_demand_unmapped", on_demand_unmapped);
	suite.add("mr.implicit", implicit);
}

} // namespace ops

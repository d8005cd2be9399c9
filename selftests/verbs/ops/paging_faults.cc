// SPDX-License-Identifier: GPL-2.0
/* On-demand paging of memory that is not as it should be: whose owner has gone, whose pages do not come. */
#include <atomic>
#include <memory>
#include <sys/wait.h>

#include "paging.h"
#include "slow.h"
#include "suites.h"

namespace ops {

namespace {

/** A process that does something with what is open here, and ends. */
class Child {
public:
	template <typename Body>
	explicit Child(Body body) : pid_(fork())
	{
		CHECK(pid_ >= 0);
		if (pid_)
			return;
		try {
			body();
		} catch (const std::exception &e) {
			fprintf(stderr, "# in the child: %s\n", e.what());
			_exit(1);
		}
		_exit(0);
	}
	~Child()
	{
		if (pid_ > 0)
			kill(pid_, SIGKILL), waitpid(pid_, nullptr, 0);
	}
	Child(const Child &) = delete;
	Child &operator=(const Child &) = delete;

	bool ended()
	{
		siginfo_t info{};
		return !waitid(P_PID, pid_, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
	}
	void expect_end()
	{
		int status;
		CHECK_EQ(waitpid(pid_, &status, 0), pid_);
		pid_ = -1;
		CHECK_EQ(status, 0);
	}

private:
	pid_t pid_;
};

/** Memory that both processes see. */
template <typename T>
class Common {
public:
	Common() :
		it_(new(mapped(sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1))
			    T)
	{
	}
	~Common() { munmap(it_, sizeof(T)); }
	Common(const Common &) = delete;
	Common &operator=(const Common &) = delete;
	T &operator*() const { return *it_; }
	T *operator->() const { return it_; }

private:
	T *it_;
};

bool refused(ibv_wc_status status)
{
	return status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_OP_ERR;
}

/*
 * The region is all the memory of a process that has ended; the device is still open, here. There is a part that was
 * paged in while it lived and one that was not, and a peer writes to both.
 */
void owner_gone(const Env &env, bool touched)
{
	Pair p(env);
	need_implicit(p.b.dev);
	Shared far(8 << 20);
	Common<uint32_t> key, handle;
	Child owner([&] {
		ibv_mr *mr =
			made(ibv_reg_mr(p.b.pd.get(), nullptr, SIZE_MAX, odp_access), "ibv_reg_mr");
		ibv_sge sg = {far.addr(), 4096, mr->lkey};
		if (touched)
			CHECK_EQ(ibv_advise_mr(mr->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
					       IBV_ADVISE_MR_FLAG_FLUSH, &sg, 1),
				 0);
		*key = mr->rkey;
		*handle = mr->handle;
	});
	owner.expect_end();
	Mr mr(made(ibv_import_mr(p.b.pd.get(), *handle), "ibv_import_mr"));
	fill(p.a.mem.bytes(0, 100), 1);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 100);
	wr.addr = far.addr(touched ? 0 : 4 << 20);
	wr.rkey = *key;
	p.a.send(wr);
	CHECK(refused(p.a.completion().status));
	check_all(far.bytes(0, far.size()), 0);
}

/* A message waits for its page, for as long as that takes, and then is sent. */
void slow_source(const Env &env)
{
	Pair p(env);
	need(p.a.dev, IBV_ODP_SUPPORT_SEND);
	auto slow = slow_file(4);
	Mr src = reg(p.a.pd.get(), slow->at(), slow->size());
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 0);
	wr.sg = {sge(src, slow->at(8192), 4096)};
	p.a.send(wr);
	until_waiting(*slow);
	p.a.expect_none();
	slow->release();
	p.a.expect({});
	check_all(p.b.mem.bytes(0, 4096), SlowFile::content);
}

/*
 * The QP is reset while it waits for a page, which then cannot be had. When the same is sent again the page can: what
 * has been before is not this QP's any more.
 */
void slow_source_reset(const Env &env)
{
	Pair p(env);
	need(p.a.dev, IBV_ODP_SUPPORT_SEND);
	auto slow = slow_file();
	Mr src = reg(p.a.pd.get(), slow->at(), slow->size());
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 0);
	wr.sg = {sge(src, slow->at(), 4096)};
	p.a.send(wr);
	until_waiting(*slow);
	p.a.to(IBV_QPS_RESET);
	p.b.to(IBV_QPS_RESET);
	slow->fail();
	while (slow->waiting())
		usleep(1000);
	slow->release();
	p.connect();
	p.a.send(wr);
	p.a.expect({});
	check_all(p.b.mem.bytes(0, 4096), SlowFile::content);
}

/* So many pieces of advice of a process are followed; and of all these processes more than any queue runs at once. */
constexpr size_t advised = 64, processes = 20;

/* Processes ask for many pages that do not come; others' come as ever. */
void slow_processes(const Env &env)
{
	struct State {
		std::atomic<unsigned> waiting;
		std::atomic<bool> over;
	};
	Common<State> state;
	std::vector<std::unique_ptr<Child>> others;
	for (size_t n = 0; n < processes; n++)
		others.push_back(std::make_unique<Child>([&] {
			Device dev = env.open_b();
			need(dev);
			Pd pd(made(ibv_alloc_pd(dev.ctx.get()), "ibv_alloc_pd"));
			auto slow = slow_file(advised);
			Mr mr = reg(pd.get(), slow->at(), slow->size());
			for (size_t i = 0; i < advised; i++)
				CHECK_EQ(advise(mr, IBV_ADVISE_MR_ADVICE_PREFETCH, 0,
						reinterpret_cast<uintptr_t>(
							slow->at(i * SlowFile::page)),
						1),
					 0);
			until_waiting(*slow);
			state->waiting++;
			while (!state->over)
				usleep(1000);
			slow->release();
		}));
	while (state->waiting < processes)
		for (usleep(1000); auto &other : others)
			if (other->ended())
				throw Skip("no slow pages");

	Pair p(env);
	Shared near(1 << 16), far(1 << 16);
	Mr src = reg(p.a.pd.get(), near.at(), near.size()),
	   dst = reg(p.b.pd.get(), far.at(), far.size());
	fill(near.bytes(0, 30000), 4);
	near.drop();
	far.drop();
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 0);
	wr.sg = {sge(src, near.at(), 30000)};
	wr.addr = far.addr(7);
	wr.rkey = dst->rkey;
	p.a.send(wr);
	p.a.expect({});
	check_filled(far.bytes(7, 30000), 4);
	state->over = true;
	for (auto &other : others)
		other->expect_end();
}

/* Memory that is not even the kernel's to touch: no byte of it goes anywhere, and the request fails. */
class Secret {
public:
	explicit Secret(size_t length) : length_(length), fd_(syscall(SYS_memfd_secret, 0))
	{
		if (fd_ < 0)
			throw Skip("no memfd_secret()");
		CHECK(!ftruncate(fd_, length));
		at_ = static_cast<uint8_t *>(
			mapped(length, PROT_READ | PROT_WRITE, MAP_SHARED, fd_));
		fill({at_, length}, 7);
	}
	~Secret()
	{
		munmap(at_, length_);
		close(fd_);
	}
	Secret(const Secret &) = delete;
	Secret &operator=(const Secret &) = delete;
	uint8_t *at(size_t offset = 0) const { return at_ + offset; }
	uint64_t addr(size_t offset = 0) const { return reinterpret_cast<uintptr_t>(at(offset)); }
	void check_same() const { check_filled({at_, length_}, 7); }

private:
	size_t length_;
	int fd_;
	uint8_t *at_;
};

constexpr size_t secret_size = 16384;

void secret_target(const Env &env, ibv_wr_opcode op)
{
	Pair p(env);
	need(p.b.dev);
	Secret far(secret_size);
	Mr mr = reg(p.b.pd.get(), far.at(), secret_size);
	size_t length = op == IBV_WR_RDMA_WRITE || op == IBV_WR_RDMA_READ ? 5000 : 8;
	memset(p.a.mem.at(), 0, length);
	Wr wr = p.rdma_wr(op, 0, length);
	wr.addr = far.addr(4096);
	wr.rkey = mr->rkey;
	wr.compare_add = 1;
	p.a.send(wr);
	CHECK(refused(p.a.completion().status));
	check_all(p.a.mem.bytes(0, length), 0);
	far.check_same();
}

void secret_source(const Env &env)
{
	Pair p(env);
	need(p.a.dev);
	Secret near(secret_size);
	Mr mr = reg(p.a.pd.get(), near.at(), secret_size);
	memset(p.b.mem.at(), 0, 5000);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 0);
	wr.sg = {sge(mr, near.at(), 5000)};
	p.a.send(wr);
	p.a.expect({.status = IBV_WC_LOC_PROT_ERR});
	check_all(p.b.mem.bytes(0, 5000), 0);
}

void secret_receive(const Env &env)
{
	Pair p(env);
	need(p.b.dev);
	Secret far(secret_size);
	Mr mr = reg(p.b.pd.get(), far.at(), secret_size);
	p.b.recv({sge(mr, far.at(), 5000)});
	p.a.send(p.send_wr(0, 5000));
	p.a.expect({.status = IBV_WC_REM_OP_ERR});
	p.b.expect_recv({.status = IBV_WC_LOC_PROT_ERR});
	far.check_same();
}

/* Prefetch says so; ordinary memory that comes to the same place is as good as any. */
void secret_prefetch(const Env &env)
{
	Pair p(env);
	need(p.b.dev);
	constexpr uint32_t flush = IBV_ADVISE_MR_FLAG_FLUSH;
	Secret far(secret_size);
	Mr mr = reg(p.b.pd.get(), far.at(), secret_size);
	CHECK_EQ(advise(mr, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, flush, far.addr(), secret_size),
		 EFAULT);
	CHECK_EQ(advise(mr, IBV_ADVISE_MR_ADVICE_PREFETCH, flush, far.addr(), secret_size), EFAULT);
	mapped(secret_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
	       far.at());
	CHECK_EQ(advise(mr, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, flush, far.addr(), secret_size),
		 0);
	fill(p.a.mem.bytes(0, 5000), 2);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 5000);
	wr.addr = far.addr(100);
	wr.rkey = mr->rkey;
	p.a.send(wr);
	p.a.expect({});
	check_filled({far.at(100), 5000}, 2);
}

/* MiB that the kernel has allocated in small pieces and cannot give back. */
long kernel_memory()
{
	return meminfo("SUnreclaim:");
}

constexpr size_t part = 2 << 20, parts = 4000;

/** Much room in which nothing is. */
class Room {
public:
	Room() : at_(static_cast<uint8_t *>(mapped((parts + 1) * part, PROT_NONE, flags, -1))) {}
	~Room() { munmap(at_, (parts + 1) * part); }
	Room(const Room &) = delete;
	Room &operator=(const Room &) = delete;

	uint8_t *at(size_t i) const
	{
		return reinterpret_cast<uint8_t *>(
			(reinterpret_cast<uintptr_t>(at_) / part + 1 + i) * part);
	}
	void fill(size_t i) const
	{
		mapped(4096, PROT_READ | PROT_WRITE, flags | MAP_FIXED, -1, at(i));
	}
	void clear(size_t i) const { mapped(4096, PROT_NONE, flags | MAP_FIXED, -1, at(i)); }

private:
	static constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	uint8_t *at_;
};

int prefetch(const Mr &mr, const uint8_t *at)
{
	return advise(mr, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH,
		      reinterpret_cast<uintptr_t>(at), 1);
}

/*
 * Memory that a process has mapped without any rights costs the kernel nothing, whoever asks for
 * it.
 */
void implicit_of_nothing(const Env &env)
{
	Pair p(env);
	need_implicit(p.b.dev);
	Room room;
	Mr mr = reg(p.b.pd.get(), nullptr, SIZE_MAX);
	long before = kernel_memory();
	for (size_t i = 0; i < parts; i++)
		CHECK_EQ(prefetch(mr, room.at(i)), EFAULT);
	CHECK(kernel_memory() - before < 16);
}

/* Memory that comes and goes, at ever new addresses, leaves nothing; nor is what stays lost. */
void implicit_given_back(const Env &env)
{
	Pair p(env);
	need_implicit(p.b.dev);
	Room room;
	Mr mr = reg(p.b.pd.get(), nullptr, SIZE_MAX);
	room.fill(0);
	CHECK_EQ(prefetch(mr, room.at(0)), 0);
	long before = kernel_memory();
	for (size_t i = 1; i < parts; i++) {
		room.fill(i);
		CHECK_EQ(prefetch(mr, room.at(i)), 0);
		room.clear(i);
	}
	CHECK(kernel_memory() - before < 16);
	for (size_t i : {size_t(0), size_t(1), parts / 2, parts - 1}) {
		room.fill(i);
		fill(p.a.mem.bytes(0, 4096), i);
		Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 4096);
		wr.addr = reinterpret_cast<uintptr_t>(room.at(i));
		wr.rkey = mr->rkey;
		p.a.send(wr);
		p.a.expect({});
		check_filled({room.at(i), 4096}, i);
	}
}

} // namespace

void add_paging_faults(Suite &suite)
{
	suite.add("odp.owner_gone", [](Env &env) { owner_gone(env, false); });
	suite.add("odp.owner_gone_touched", [](Env &env) { owner_gone(env, true); });
	suite.add("odp.slow_source", slow_source);
	suite.add("odp.slow_source_reset", slow_source_reset);
	suite.add("odp.slow_processes", slow_processes);
	suite.add("odp.implicit_of_nothing", implicit_of_nothing);
	suite.add("odp.implicit_given_back", implicit_given_back);
	suite.add("odp.secret_write", [](Env &env) { secret_target(env, IBV_WR_RDMA_WRITE); });
	suite.add("odp.secret_read", [](Env &env) { secret_target(env, IBV_WR_RDMA_READ); });
	suite.add("odp.secret_atomic",
		  [](Env &env) { secret_target(env, IBV_WR_ATOMIC_FETCH_AND_ADD); });
	suite.add("odp.secret_source", secret_source);
	suite.add("odp.secret_receive", secret_receive);
	suite.add("odp.secret_prefetch", secret_prefetch);
}

} // namespace ops

// SPDX-License-Identifier: GPL-2.0
/* On-demand paging of memory that is not as it should be: whose owner has gone, whose pages do not come. */
#include <sys/wait.h>

#include "../../lib/slow_file.h"
#include "paging.h"
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
	Common() : it_(new (mapped(sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1)) T) {}
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
		ibv_mr *mr = made(ibv_reg_mr(p.b.pd.get(), nullptr, SIZE_MAX, odp_access), "ibv_reg_mr");
		ibv_sge sg = {far.addr(), 4096, mr->lkey};
		if (touched)
			CHECK_EQ(ibv_advise_mr(mr->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH,
					       &sg, 1), 0);
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

std::unique_ptr<SlowFile> slow_file(size_t pages = 1)
{
	try {
		return std::make_unique<SlowFile>(pages);
	} catch (const std::system_error &e) {
		throw Skip(std::string("no FUSE: ") + e.what());
	}
}

void until_waiting(const SlowFile &slow, unsigned pages = 1)
{
	while (slow.waiting() < pages)
		usleep(1000);
}

/* What is sent waits for its page, for as long as that takes, and then is sent. */
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

} // namespace

void add_paging_faults(Suite &suite)
{
	suite.add("odp.owner_gone", [](Env &env) { owner_gone(env, false); });
	suite.add("odp.owner_gone_touched", [](Env &env) { owner_gone(env, true); });
	suite.add("odp.slow_source", slow_source);
}

} // namespace ops

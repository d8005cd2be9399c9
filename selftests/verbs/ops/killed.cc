// SPDX-License-Identifier: GPL-2.0
/* A process is killed while a page of its memory is awaited: it ends, and does not wait for the page. */
#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paging.h"
#include "slow.h"
#include "suites.h"

namespace ops {

namespace {

/* What the page is wanted for. */
enum class For { Receive, Write, Read, Send, Implicit, Prefetch, Advice };

/* The requests that need the page, which is that of @at. */
void want(Pair &p, const Mr &mr, uint8_t *at, For what)
{
	Wr wr = p.rdma_wr(what == For::Read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 0, 4096);
	wr.addr = reinterpret_cast<uintptr_t>(at);
	wr.rkey = mr->rkey;
	switch (what) {
	case For::Receive:
		p.b.recv({sge(mr, at, 4096)});
		return p.a.send(p.send_wr(0, 4096));
	case For::Send:
		wr = p.send_wr(0, 0);
		wr.sg = {sge(mr, at, 4096)};
		p.b.recv({p.b.sge(0, 4096)});
		return p.a.send(wr);
	case For::Prefetch:
		CHECK_EQ(advise(mr, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, wr.addr, 4096), 0);
		return;
	case For::Advice:
		advise(mr, IBV_ADVISE_MR_ADVICE_PREFETCH, IBV_ADVISE_MR_FLAG_FLUSH, wr.addr, 4096);
		return;
	default:
		return p.a.send(wr);
	}
}

/* What is left of the process when it waits: nothing that would let go of anything by itself. */
[[noreturn]] void live(const Env &env, const SlowFile &slow, For what, const std::function<void()> &then = [] {})
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	try {
		Pair p(env);
		bool all = what == For::Implicit;
		ibv_pd *pd = what == For::Send ? p.a.pd.get() : p.b.pd.get();
		Mr mr = reg(pd, all ? nullptr : slow.at(), all ? SIZE_MAX : slow.size());
		want(p, mr, slow.at(), what);
		until_waiting(slow);
		then();
		for (;;)
			pause();
	} catch (const std::exception &) {
		_exit(1);
	}
}

void kill_and_reap(pid_t pid)
{
	int status = 0;

	CHECK_EQ(kill(pid, SIGKILL), 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* The server keeps the page until its owner has gone, and others are served as ever. */
void killed(const Env &env, For what)
{
	Device dev = env.open_b();
	need(dev);
	if (what == For::Implicit)
		need_implicit(dev);
	auto slow = slow_file();
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		live(env, *slow, what);
	until_waiting(*slow);
	kill_and_reap(pid);
	CHECK_EQ(slow->waiting(), 1u);
	Pair other(env);
	other.ping();
	CHECK_EQ(slow->waiting(), 1u);
}

/*
 * The page's server is the one who waits: his end is that of the wait, whichever of his devices is
 * closed first. @fd: descriptor of FUSE's device, beyond those of the HCA or (1) before them.
 */
void killed_server(const Env &env, int fd)
{
	int ready[2];
	char c;

	need(env.open_b());
	CHECK(!pipe(ready));
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		close(ready[0]);
		std::unique_ptr<SlowFile> slow;
		try {
			slow = slow_file(1, fd);
		} catch (const Skip &) {
			_exit(0);
		}
		live(env, *slow, For::Write, [&] {
			slow->leave_alone();
			CHECK_EQ(write(ready[1], "r", 1), 1);
		});
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1) {
		waitpid(pid, nullptr, 0);
		throw Skip("no FUSE");
	}
	kill_and_reap(pid);
	Pair other(env);
	other.ping();
}

} // namespace

void add_killed(Suite &suite)
{
	for (auto [name, what] : {std::pair{"receive", For::Receive}, {"write", For::Write}, {"read", For::Read},
				  {"send", For::Send}, {"implicit", For::Implicit}, {"prefetch", For::Prefetch},
				  {"advice", For::Advice}})
		suite.add(std::string("isolation.killed.") + name, [=](Env &env) { killed(env, what); });
	suite.add("isolation.killed.server_first", [](Env &env) { killed_server(env, 1); });
	suite.add("isolation.killed.server_last", [](Env &env) { killed_server(env, 500); });
}

} // namespace ops

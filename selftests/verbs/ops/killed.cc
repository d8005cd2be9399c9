// SPDX-License-Identifier: GPL-2.0
/* A page of a process is awaited that does not come: what it has can go all the same, and so can the process itself. */
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paging.h"
#include "slow.h"
#include "suites.h"

namespace ops {

namespace {

/* The use that the page is wanted for. */
enum class For { Receive, Write, Read, Send, Implicit, Prefetch, Advice };

/* The requests that need the page, which is that of @at. */
void want(Pair &p, const Mr &mr, uint8_t *at, For what)
{
	Wr wr = p.rdma_wr(what == For::Read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 0, 4096);
	wr.addr = reinterpret_cast<uintptr_t>(at);
	wr.rkey = mr->rkey;
	switch (what) {
	case For::Receive: p.b.recv({sge(mr, at, 4096)}); return p.a.send(p.send_wr(0, 4096));
	case For::Send:
		wr = p.send_wr(0, 0);
		wr.sg = {sge(mr, at, 4096)};
		p.b.recv({p.b.sge(0, 4096)});
		return p.a.send(wr);
	default: return p.a.send(wr);
	}
}

/*
 * A process of its own, to be killed. The process that has made it hears what it says, one
 * character at a time.
 */
class Victim {
public:
	using Say = std::function<void(char)>;

	explicit Victim(const std::function<void(const Say &)> &life)
	{
		CHECK(!pipe(pipe_));
		pid_ = fork();
		CHECK(pid_ >= 0);
		if (!pid_)
			live(life);
		close(pipe_[1]);
	}
	~Victim()
	{
		close(pipe_[0]);
		if (pid_)
			::kill(pid_, SIGKILL);
	}
	Victim(const Victim &) = delete;

	/** 0: it has ended instead. */
	char heard() const
	{
		char c;
		return read(pipe_[0], &c, 1) == 1 ? c : 0;
	}
	/** It waits for something, and not for us. */
	void until_it_hangs() const
	{
		std::string name, text;
		do {
			usleep(1000);
			std::ifstream stat("/proc/" + std::to_string(pid_) + "/stat");
			std::getline(stat, text);
			CHECK(text.rfind(')') != std::string::npos);
		} while (text.substr(text.rfind(')') + 2, 1) != "D");
	}
	/** Returns when it has ended. */
	void kill()
	{
		int status = 0;
		CHECK_EQ(::kill(pid_, SIGKILL), 0);
		CHECK_EQ(waitpid(pid_, &status, 0), pid_);
		pid_ = 0;
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}

private:
	[[noreturn]] void live(const std::function<void(const Say &)> &life)
	{
		close(pipe_[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		try {
			life([&](char c) {
				if (write(pipe_[1], &c, 1) != 1)
					_exit(1);
			});
			for (;;)
				pause();
		} catch (const std::exception &) {
			_exit(1);
		}
	}

	int pipe_[2];
	pid_t pid_;
};

/* The server still keeps the page, and others are served as ever. */
void check_others(const Env &env, const SlowFile &slow)
{
	CHECK_EQ(slow.waiting(), 1u);
	Pair other(env);
	other.ping();
	CHECK_EQ(slow.waiting(), 1u);
}

/*
 * The region and the queue pair that wait for the page are destroyed, not when it comes, but at once. (After that the
 * process hangs, for it wants to unmap the rings, but not for good.)
 */
void let_go(const Env &env, For what)
{
	Device dev = env.open_b();
	need(dev);
	if (what == For::Implicit)
		need_implicit(dev);
	auto slow = slow_file();
	Victim victim([&](const auto &say) {
		Pair p(env);
		bool all = what == For::Implicit;
		End &end = what == For::Send ? p.a : p.b;
		Mr mr = reg(end.pd.get(), all ? nullptr : slow->at(),
			    all ? SIZE_MAX : slow->size());
		want(p, mr, slow->at(), what);
		until_waiting(*slow);
		mr.reset();
		say('m');
		end.qp.reset();
	});
	CHECK(victim.heard() == 'm');
	victim.until_it_hangs();
	victim.kill();
	check_others(env, *slow);
}

/* It has nothing mapped that would keep the device open until its memory goes: its end is that of the region. */
void killed(const Env &env, For what)
{
	need(env.open_b());
	auto slow = slow_file();
	Victim victim([&](const auto &say) {
		Device dev = env.open_b();
		Pd pd(made(ibv_alloc_pd(dev.ctx.get()), "ibv_alloc_pd"));
		Mr mr = reg(pd.get(), slow->at(), slow->size());
		uint64_t addr = reinterpret_cast<uintptr_t>(slow->at());
		say('r');
		advise(mr, IBV_ADVISE_MR_ADVICE_PREFETCH,
		       what == For::Advice ? IBV_ADVISE_MR_FLAG_FLUSH : 0, addr, 1);
		pause();
	});
	CHECK(victim.heard() == 'r');
	until_waiting(*slow);
	victim.kill();
	check_others(env, *slow);
}

/*
 * The page's server is the one who waits: his end is that of the wait, whichever of his devices is
 * closed first. @fd: descriptor of FUSE's device, beyond those of the HCA or (1) before them.
 */
void killed_server(const Env &env, int fd)
{
	need(env.open_b());
	Victim victim([&](const auto &say) {
		auto slow = slow_file(1, fd);
		Device dev = env.open_b();
		Pd pd(made(ibv_alloc_pd(dev.ctx.get()), "ibv_alloc_pd"));
		Mr mr = reg(pd.get(), slow->at(), slow->size());
		CHECK_EQ(advise(mr, IBV_ADVISE_MR_ADVICE_PREFETCH, 0,
				reinterpret_cast<uintptr_t>(slow->at()), 1),
			 0);
		until_waiting(*slow);
		slow->leave_alone();
		say('w');
		pause();
	});
	if (victim.heard() != 'w')
		throw Skip("no FUSE");
	victim.kill();
	Pair other(env);
	other.ping();
}

/* A QP that was reset and connected again waits for no page of the time before. */
void reset(const Env &env, For what)
{
	Pair p(env);
	need(p.b.dev);
	auto slow = slow_file();
	Mr mr = reg(p.b.pd.get(), slow->at(), slow->size());
	want(p, mr, slow->at(), what);
	until_waiting(*slow);
	p.a.to(IBV_QPS_RESET);
	p.b.to(IBV_QPS_RESET);
	p.connect();
	p.ping();
	CHECK_EQ(slow->waiting(), 1u);
	slow->release();
}

void run(const char *command)
{
	if (system(command))
		FAIL(command);
}

/*
 * An HCA goes, too, whose process has let go of all: its removal does not wait for a stranger's
 * page.
 */
void device_goes(const Env &env)
{
	need(env.open_b());
	auto slow = slow_file();
	run("ip link add gone0 type dummy && ip link set gone0 up && pibctl add pibgone netdev gone0 standalone");
	Victim victim([&](const auto &say) {
		{
			Device dev("pibgone");
			Pd pd(made(ibv_alloc_pd(dev.ctx.get()), "ibv_alloc_pd"));
			Mr mr = reg(pd.get(), slow->at(), slow->size());
			advise(mr, IBV_ADVISE_MR_ADVICE_PREFETCH, 0,
			       reinterpret_cast<uintptr_t>(slow->at()), 1);
			until_waiting(*slow);
		}
		say('c');
	});
	CHECK(victim.heard() == 'c');
	run("timeout 60 pibctl del pibgone && ip link del gone0");
	CHECK_EQ(slow->waiting(), 1u);
	slow->release();
	while (slow->waiting())
		usleep(1000);
}

} // namespace

void add_killed(Suite &suite)
{
	for (auto [name, what] : {std::pair{"receive", For::Receive},
				  {"write", For::Write},
				  {"read", For::Read},
				  {"send", For::Send},
				  {"implicit", For::Implicit}})
		suite.add(std::string("isolation.let_go.") + name,
			  [=](Env &env) { let_go(env, what); });
	suite.add("isolation.killed.prefetch", [](Env &env) { killed(env, For::Prefetch); });
	suite.add("isolation.killed.advice", [](Env &env) { killed(env, For::Advice); });
	suite.add("isolation.reset.receive", [](Env &env) { reset(env, For::Receive); });
	suite.add("isolation.reset.write", [](Env &env) { reset(env, For::Write); });
	suite.add("isolation.device_goes", device_goes);
	suite.add("isolation.killed.server_first", [](Env &env) { killed_server(env, 1); });
	suite.add("isolation.killed.server_last", [](Env &env) { killed_server(env, 500); });
}

} // namespace ops

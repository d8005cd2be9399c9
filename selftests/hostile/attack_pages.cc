// SPDX-License-Identifier: GPL-2.0
/* Pages that never come: a user's queue pairs wait for them for as long as he likes. */
#include <csignal>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/slow_file.h"
#include "attack.h"

namespace hostile {

namespace {

constexpr unsigned waiters = 48;
constexpr unsigned on_demand = ops::all_access | IBV_ACCESS_ON_DEMAND;

ops::Mr on_slow_pages(const SlowFile &slow, ibv_pd *pd)
{
	return ops::Mr(ops::made(ibv_reg_mr(pd, slow.at(), slow.size(), on_demand), "ibv_reg_mr"));
}

/* A member of IPoIB's broadcast group whose receives lie where no page comes. */
struct Listener {
	Listener(const ops::Env &env, const SlowFile &slow) :
		pair(env, datagrams()), mr(on_slow_pages(slow, pair.b.pd.get()))
	{
		memcpy(group.raw, "\xff\x12\x40\x1b\xff\xff\0\0\0\0\0\0\xff\xff\xff\xff", 16);
		for (unsigned i = 0; i < 32; i++)
			pair.b.recv({{(uintptr_t)slow.at(4096 * i), 4096, mr->lkey}});
		joined = !ibv_attach_mcast(pair.b.qp.get(), &group, 0xc000);
	}
	/* libibverbs' QPs are busy while they are attached. */
	~Listener()
	{
		if (joined && ibv_detach_mcast(pair.b.qp.get(), &group, 0xc000))
			ops::note_failure("the listener cannot be detached");
	}

	void begin() { pair.a.send(pair.send_wr(0, 1000)); }

	static ops::EndOptions datagrams()
	{
		ops::EndOptions o;
		o.type = IBV_QPT_UD;
		o.qkey = 0xb1b;
		return o;
	}

	ops::Pair pair;
	ops::Mr mr;
	ibv_gid group{};
	bool joined;
};

/* A connection of one's own, whose WRITE is to go to a page that does not come. */
struct Waiter {
	Waiter(const ops::Env &env, const SlowFile &slow, unsigned n) :
		pair(env, {}), mr(on_slow_pages(slow, pair.b.pd.get()))
	{
		wr = pair.rdma_wr(IBV_WR_RDMA_WRITE, 0, 4096);
		wr.addr = (uintptr_t)slow.at(4096 * (64 + n));
		wr.rkey = mr->rkey;
	}

	void begin() { pair.a.send(wr); }

	ops::Pair pair;
	ops::Mr mr;
	ops::Wr wr;
};

struct Address {
	uint32_t qpn, rkey;
	uint64_t addr;
};

/* Both ends are on one device and begin with the same number: the peer's QPN is all that it takes. */
void connect(ops::End &e, uint32_t qpn)
{
	e.opt.dest_qpn = qpn;
	e.to_init();
	e.to_rtr(e);
	e.to_rts();
}

void tell(int fd, const Address &a)
{
	CHECK_EQ(::write(fd, &a, sizeof(a)), sizeof(a));
}

Address told(int fd)
{
	Address a{};
	CHECK_EQ(read(fd, &a, sizeof(a)), sizeof(a));
	return a;
}

/* He lets others write to where no page comes. */
[[noreturn]] void ill_willed(const Options &o, int in, int out)
{
	try {
		SlowFile slow(16);
		become_nobody();
		ops::End e(ops::Device(o.dev), {});
		ops::Mr mr = on_slow_pages(slow, e.pd.get());
		tell(out, {e.qpn(), mr->rkey, (uintptr_t)slow.at()});
		connect(e, told(in).qpn);
		tell(out, {});
		for (;;)
			pause();
	} catch (const std::exception &failure) {
		ops::note_failure(failure.what());
	}
	_exit(1);
}

/* Writes there, and wants his memory and his queue pair back. */
[[noreturn]] void well_meaning(const Options &o, int in, int out)
{
	try {
		ops::EndOptions options;
		options.memory = 1 << 17;
		ops::End e(ops::Device(o.dev), options);
		Address peer = told(in);
		tell(out, {e.qpn(), 0, 0});
		connect(e, peer.qpn);
		told(in);
		ops::Wr wr;
		wr.op = IBV_WR_RDMA_WRITE;
		wr.sg = {e.sge(0, 65536)};
		wr.addr = peer.addr;
		wr.rkey = peer.rkey;
		e.send(wr);
		usleep(300000);
		e.mem.drop_mr();
		e.qp.reset();
	} catch (const std::exception &failure) {
		ops::note_failure(failure.what());
	}
	_exit(failed());
}

bool ends_within(pid_t pid, int seconds, int &status)
{
	for (int n = 0; n < seconds * 20; n++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return true;
		usleep(50000);
	}
	return false;
}

} // namespace

/* Runs as root until it has the file. */
void attack_pages(const Options &o, Tally &tally)
{
	SlowFile slow(128);
	become_nobody();
	ops::Env env{.dev_a = o.dev, .dev_b = o.dev};
	std::vector<std::unique_ptr<Waiter>> all;
	auto end = o.end();

	/* All of it is there before the first page is waited for: that holds the lock on the process's map. */
	Listener listener(env, slow);
	tally.note("listener", listener.joined);
	for (unsigned i = 0; i < waiters; i++)
		all.push_back(std::make_unique<Waiter>(env, slow, i));
	listener.begin();
	for (auto &waiter : all)
		waiter->begin();
	while (Clock::now() < end)
		usleep(10000);
	tally.note("pages that are waited for", slow.waiting() > 0);
	slow.release();
}

/* One round: whoever sent to somebody who waits gets everything back all the same. */
void attack_peer(const Options &o, Tally &tally)
{
	auto end = o.end();

	do {
		int there[2], back[2], status = 0;
		CHECK(!pipe(there) && !pipe(back));
		pid_t ill = fork();
		if (ill == 0)
			ill_willed(o, back[0], there[1]);
		pid_t well = fork();
		if (well == 0)
			well_meaning(o, there[0], back[1]);
		bool ended = ends_within(well, 60, status);
		kill(ill, SIGKILL);
		if (!ended)
			waitpid(well, &status, 0);
		waitpid(ill, nullptr, 0);
		for (int fd : {there[0], there[1], back[0], back[1]})
			close(fd);
		CHECK(ended);
		tally.note("objects back", WIFEXITED(status) && WEXITSTATUS(status) == 0);
	} while (Clock::now() < end);
}

} // namespace hostile

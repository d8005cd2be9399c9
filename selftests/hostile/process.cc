// SPDX-License-Identifier: GPL-2.0
/*
 * A process that means ill: random verbs by several threads, each command sent again with something
 * changed in it, mapped rings written to, memory that comes and goes. It runs as nobody, in some lives
 * with a context that it was handed or that it had opened as another user, and ends in the middle.
 * Some have memory of a file system whose server answers late, or never: the latter are killed where they hang.
 * Only the kernel is tested: the process may crash, and another one is begun.
 */
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <map>
#include <memory>
#include <rdma/ib_user_verbs.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "late.h"
#include "mutate.h"
#include "rings.h"
#include "world.h"

namespace hostile {

namespace {

constexpr auto never = Clock::time_point::max();

enum Mood { Plain, Mutating, Scribbling, Both };

struct Life {
	const Options &o;
	Tally &tally;
	uint64_t seed;
	Mood mood;
	Clock::time_point end;
	bool before_setuid; /* the device was opened as root */
	Answers answers;
};

void live(const Life &life, World &world)
{
	std::vector<std::thread> threads;
	auto run = [&](unsigned n, auto &&step) {
		threads.emplace_back([&, n, step] {
			Rng rng(life.seed + n);
			Mutator mutator(life.seed + n, life.tally, life.o.tries("contexts"));
			if (life.mood & Mutating)
				call_hook = &mutator;
			while (Clock::now() < life.end)
				step(rng);
		});
	};

	run(1, [&](Rng &rng) { world.step(rng); });
	run(2, [&](Rng &rng) { world.step(rng); });
	run(3, [&](Rng &rng) { world.ring_bells(rng); });
	if (life.mood & Mutating)
		run(6, [&](Rng &rng) { World::come_and_go(rng, world.ctx()); });
	run(4, [&](Rng &rng) {
		world.stir_memory(rng);
		if (rng.one_in(200) && !fork())
			_exit(0);
		usleep(rng.below(1000));
	});
	if (life.mood & Scribbling)
		run(5, [&](Rng &rng) { scribble(rng, life.tally, life.end); });
	for (auto &t : threads)
		t.join();
}

/* A second context on the same file, as a process has that was handed the descriptor. */
void import(Tally &tally, ibv_context *ctx)
{
	int fd = dup(ctx->cmd_fd);
	ibv_context *other = ibv_import_device(fd);

	tally.note("verb import_device", other);
	if (!other)
		return;
	ibv_pd *pd = ibv_alloc_pd(other);
	tally.note("verb alloc_pd, imported", pd);
	ibv_cq *cq = ibv_create_cq(other, 16, nullptr, nullptr, 0);
	if (pd && cq) {
		ibv_qp_init_attr a{.send_cq = cq,
				   .recv_cq = cq,
				   .cap = {4, 4, 1, 1, 0},
				   .qp_type = IBV_QPT_RC};
		tally.note("verb create_qp, imported", ibv_create_qp(pd, &a));
	}
	/* Neither is given back: the end of the process has to. */
}

[[noreturn]] void begin_life(const Life &life)
{
	rlimit none{};
	setrlimit(RLIMIT_CORE, &none);
	signal(SIGCHLD, SIG_IGN);
	alarm(life.o.seconds + 60 * ops::slowness());
	try {
		LateMemory late(life.answers, life.seed, life.end, life.tally);
		ibv_context *ctx = nullptr;
		if (life.before_setuid)
			ctx = open_device(life.o.dev);
		become_nobody();
		if (!ctx)
			ctx = open_device(life.o.dev);
		if (!ctx)
			_exit(2);
		late.begin();
		World world(ctx, life.o, life.tally, life.seed, late.file());
		import(life.tally, ctx);
		live(life, world);
		if (life.seed & 1)
			ibv_close_device(ctx);
		_exit(0);
	} catch (const std::exception &failure) {
		fprintf(stderr, "%s\n", failure.what());
		_exit(2);
	}
}

pid_t fork_life(const Life &life)
{
	pid_t pid = fork();
	if (pid == 0)
		begin_life(life);
	return pid;
}

struct Child {
	Mood mood;
	Clock::time_point kill, gone; /* when it is killed, and when a kill must have got through */
};

struct Ends {
	unsigned lives = 0, killed = 0, stillborn = 0;
	bool unkillable = false;
	unsigned crashed[4] = {}; /* by mood */
	/* of those in a row */
	unsigned stillborn_now = 0;
};

void kill_one(pid_t pid, Child &child, Ends &ends)
{
	ends.killed += !kill(pid, SIGKILL);
	child.kill = never;
	child.gone =
		std::min(child.gone, Clock::now() + std::chrono::seconds(60) * ops::slowness());
}

/* Kills those whose time is over, and looks whether that of those who were killed is. */
void kill_due(std::map<pid_t, Child> &children, Ends &ends)
{
	auto now = Clock::now();

	for (auto &[pid, child] : children) {
		if (now > child.gone) {
			ops::note_failure("a kill does not get through to " + std::to_string(pid));
			ends.unkillable = true;
		}
		if (now > child.kill)
			kill_one(pid, child, ends);
	}
}

/* Waits for a child, or kills one, at times in the middle of what it does. */
void reap(std::map<pid_t, Child> &children, Rng &rng, Ends &ends)
{
	int status = 0;
	pid_t pid = waitpid(-1, &status, WNOHANG);

	if (pid <= 0) {
		if (rng.one_in(500) && !children.empty()) {
			auto &[any, child] =
				*std::next(children.begin(), rng.below(children.size()));
			kill_one(any, child, ends);
		}
		kill_due(children, ends);
		usleep(10000);
		return;
	}
	ends.crashed[children[pid].mood] += WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL;
	children.erase(pid);
	bool stillborn = WIFEXITED(status) && WEXITSTATUS(status) == 2;
	ends.stillborn += stillborn;
	ends.stillborn_now = stillborn ? ends.stillborn_now + 1 : 0;
	if (stillborn)
		usleep(100000);
}

struct Count {
	uint64_t tried, ok;
};

/*
 * Without doorbells, which are judged for themselves: where all else waits for a page that never comes, they alone
 * go on, by the ten thousand, at queue pairs that hardly ever are there.
 */
Count changed_commands(const Tally &tally)
{
	static const std::string posts[] = {
		"changed write, command " + std::to_string(IB_USER_VERBS_CMD_POST_SEND),
		"changed write, command " + std::to_string(IB_USER_VERBS_CMD_POST_RECV)};
	Count c{tally.tried("changed"), tally.succeeded("changed")};

	for (const std::string &post : posts) {
		c.tried -= tally.tried(post.c_str());
		c.ok -= tally.succeeded(post.c_str());
	}
	return c;
}

/* A hostile process that never gets anywhere shows nothing. */
void judge(const Options &o, const Tally &tally, const Ends &ends)
{
	printf("lives %u, killed %u, crashed by themselves %u (with changed commands %u, rings %u, both %u), without a device %u\n",
	       ends.lives, ends.killed, ends.crashed[Plain], ends.crashed[Mutating],
	       ends.crashed[Scribbling], ends.crashed[Both], ends.stillborn);
	tally.print();
	if (std::string names = tally.never("verb", 200) + tally.never("post", 200) +
				tally.never("doorbell", 200);
	    !names.empty())
		ops::note_failure("never succeeded:" + names);
	if (Count changed = changed_commands(tally); changed.ok * 50 < changed.tried || !changed.ok)
		ops::note_failure("changed commands hardly ever succeed");
	if (!tally.succeeded("work completed") ||
	    tally.succeeded("work completed") * 8 < tally.tried("work completed"))
		ops::note_failure("hardly any work request succeeds");
	for (const char *name : {"page that is late", "page that never comes"})
		if (o.tries("fuse") && ends.lives >= 4 && !tally.succeeded(name))
			ops::note_failure(std::string("nobody has waited for a ") + name);
}

/* The memory that the @n-th of them has. */
Answers answers_of(const Options &o, unsigned n)
{
	static constexpr Answers turns[] = {Answers::None, Answers::Late, Answers::None,
					    Answers::Never};

	return o.tries("fuse") ? turns[n % 4] : Answers::None;
}

} // namespace

int run_process(const Options &o)
{
	Tally tally;
	Rng rng(o.seed);
	Ends ends;
	std::map<pid_t, Child> children;
	auto end = o.end();

	while ((Clock::now() < end || !children.empty()) && !ends.unkillable) {
		while (children.size() < o.processes && Clock::now() < end) {
			auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
				end - Clock::now());
			auto span =
				std::min(left, std::chrono::milliseconds(2000 + rng.below(12000)));
			Life life{o,
				  tally,
				  rng.next(),
				  Mood(rng.below(4)),
				  Clock::now() + span,
				  rng.one_in(4),
				  answers_of(o, ends.lives)};
			children[fork_life(life)] = {
				life.mood, life.answers == Answers::Never ? life.end : never,
				never};
			ends.lives++;
		}
		reap(children, rng, ends);
		if (ends.stillborn_now > 100) {
			ops::note_failure("the device cannot be opened");
			break;
		}
	}
	judge(o, tally, ends);
	return failed();
}

} // namespace hostile

/* SPDX-License-Identifier: GPL-2.0 */
/* For cases in which a CPU has no time for the kernel's threads. */
#pragma once

#include <csignal>
#include <fstream>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

namespace ops {

/**
 * A value in a file of the kernel's, as long as this object is there; where there is no such file,
 * nothing.
 */
class Setting {
public:
	Setting(const char *path, const char *value) : path_(path)
	{
		std::ifstream in(path_);
		std::getline(in, before_);
		std::ofstream(path_) << value << std::flush;
	}
	~Setting() { std::ofstream(path_) << before_ << std::flush; }
	Setting(const Setting &) = delete;

private:
	std::string path_, before_;
};

/**
 * The thread that comes first on one of the first two CPUs has all of it, and nothing complains
 * that others wait.
 */
struct NoneForOthers {
	Setting complaints{"/sys/module/workqueue/parameters/watchdog_thresh", "0"};
	Setting realtime{"/proc/sys/kernel/sched_rt_runtime_us", "-1"};
	/* from 6.12 on */
	Setting others[2]{{"/sys/kernel/debug/sched/fair_server/cpu0/runtime", "0"},
			  {"/sys/kernel/debug/sched/fair_server/cpu1/runtime", "0"}};
};

inline void stay_on(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

/** Before all threads of the usual class, those of the kernel among them; or not any more. */
inline void come_first(bool first)
{
	sched_param p{first ? 1 : 0};
	CHECK_EQ(sched_setscheduler(0, first ? SCHED_FIFO : SCHED_OTHER, &p), 0);
}

/**
 * Somebody has a CPU for himself until this goes, but for what interrupts do: the kernel's threads have to wait, for the class that
 * he is of comes before theirs.
 */
class TakenCpu {
public:
	explicit TakenCpu(int cpu)
	{
		int pipe_[2];
		char c;
		CHECK_EQ(pipe(pipe_), 0);
		pid_ = fork();
		CHECK(pid_ >= 0);
		if (!pid_)
			spin(cpu, pipe_[1]);
		close(pipe_[1]);
		bool spins = read(pipe_[0], &c, 1) == 1;
		close(pipe_[0]);
		CHECK(spins);
	}
	~TakenCpu()
	{
		kill(pid_, SIGKILL);
		waitpid(pid_, nullptr, 0);
	}
	TakenCpu(const TakenCpu &) = delete;

private:
	[[noreturn]] static void spin(int cpu, int told)
	{
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		try {
			stay_on(cpu);
			come_first(true);
		} catch (const Failure &) {
			_exit(1);
		}
		if (write(told, "s", 1) != 1)
			_exit(1);
		for (;;)
			;
	}

	pid_t pid_;
};

} // namespace ops

// SPDX-License-Identifier: GPL-2.0
// The two-QP simulator: seeded runs of the transport against a reference model.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

namespace {

struct Options {
	uint64_t runs = 1000, seed = 1;
	unsigned jobs = 1;
	int only = -1;
	bool trace = false;
	const char *self = "sim";
};

[[noreturn]] void usage(int status)
{
	std::fprintf(status ? stderr : stdout,
		     "usage: sim [--runs N] [--seed S] [--jobs J] [--only rc|uc|ud|xrc] [--trace]\n"
		     "Simulates N connections, with seeds S, S + 1, ... Each is checked against a\n"
		     "model of what its work requests must do. A failure prints the command that\n"
		     "repeats it.\n");
	std::exit(status);
}

int transport(const char *name)
{
	static const struct {
		const char *name;
		int tp;
	} all[] = {
		{"rc", PIB_TP_RC},
		{"uc", PIB_TP_UC},
		{"ud", PIB_TP_UD},
		{"xrc", PIB_TP_XRC},
	};

	for (const auto &t : all)
		if (!std::strcmp(name, t.name))
			return t.tp;
	usage(2);
}

Options parse(int argc, char **argv)
{
	Options o;

	o.self = argv[0];
	for (int i = 1; i < argc; i++) {
		const char *a = argv[i];

		if (!std::strcmp(a, "--trace")) {
			o.trace = true;
			continue;
		}
		if (!std::strcmp(a, "--help"))
			usage(0);
		if (i + 1 == argc)
			usage(2);
		if (!std::strcmp(a, "--runs"))
			o.runs = std::strtoull(argv[++i], nullptr, 0);
		else if (!std::strcmp(a, "--seed"))
			o.seed = std::strtoull(argv[++i], nullptr, 0);
		else if (!std::strcmp(a, "--jobs"))
			o.jobs = std::strtoul(argv[++i], nullptr, 0);
		else if (!std::strcmp(a, "--only"))
			o.only = transport(argv[++i]);
		else
			usage(2);
	}
	return o;
}

// The results of one process, where all can see them.
struct Share {
	uint64_t done, failed;
	uint64_t seed; // being run
	sim::Outcome sum;
};

void add(sim::Outcome &sum, const sim::Outcome &r)
{
	sum.packets += r.packets;
	sum.lost += r.lost;
	sum.retransmits += r.retransmits;
	sum.timeouts += r.timeouts;
	sum.rnr += r.rnr;
	sum.completions += r.completions;
	sum.messages += r.messages;
	sum.errors += r.errors;
}

// The runs, dealt out to processes: one that crashes is told from the others.
class Campaign {
public:
	explicit Campaign(const Options &o) : o_(o), jobs_(std::max(1u, o.jobs))
	{
		size_t size = jobs_ * sizeof(Share);
		void *p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			       -1, 0);

		if (p == MAP_FAILED)
			std::abort();
		shares_ = static_cast<Share *>(p);
	}

	int go()
	{
		if (o_.runs == 1)
			work(0); // in this process, for a debugger
		else
			spread();
		return sum_up();
	}

private:
	void spread()
	{
		std::vector<pid_t> pids;

		for (unsigned i = 0; i < jobs_; i++) {
			pid_t pid = fork();

			if (pid < 0)
				std::abort();
			if (!pid) {
				work(i);
				std::fflush(stdout);
				_exit(0);
			}
			pids.push_back(pid);
		}
		for (unsigned i = 0; i < jobs_; i++)
			await(pids[i], shares_[i]);
	}

	void await(pid_t pid, Share &share)
	{
		int status = 0;

		waitpid(pid, &status, 0);
		if (WIFEXITED(status) && !WEXITSTATUS(status))
			return;
		share.done++;
		share.failed++;
		complain(share.seed, sim::make_params(share.seed, o_.only), "the process has died");
	}

	void work(unsigned job)
	{
		Share &share = shares_[job];

		for (uint64_t i = job; i < o_.runs && share.failed < 5; i += jobs_) {
			share.seed = o_.seed + i;
			share.failed += !one(share.seed, share.sum);
			share.done++;
			if (isatty(1) && !job && share.done % 1000 == 0) {
				std::printf("\r%llu runs", (unsigned long long)share.done * jobs_);
				std::fflush(stdout);
			}
		}
	}

	bool one(uint64_t seed, sim::Outcome &sum)
	{
		sim::Params p = sim::make_params(seed, o_.only);

		if (o_.trace)
			std::printf("%s\n", p.describe().c_str());
		try {
			add(sum, sim::Run(p, o_.trace).go());
		} catch (const sim::Failure &e) {
			complain(seed, p, e.what());
			return false;
		} catch (const std::out_of_range &e) {
			complain(seed, p, e.what());
			return false;
		}
		return true;
	}

	void complain(uint64_t seed, const sim::Params &p, const char *what)
	{
		static const char *const names[] = {"rc", "uc", "", "ud", "", "xrc"};
		std::string only = o_.only < 0 ? "" : std::string(" --only ") + names[o_.only];

		std::printf("FAILED: %s\n%s\nrepeat: %s --runs 1 --seed %llu%s --trace\n", what,
			    p.describe().c_str(), o_.self, (unsigned long long)seed, only.c_str());
		std::fflush(stdout);
	}

	int sum_up()
	{
		Share all{};

		for (unsigned i = 0; i < jobs_; i++) {
			all.done += shares_[i].done;
			all.failed += shares_[i].failed;
			add(all.sum, shares_[i].sum);
		}
		std::printf(
			"%ssim: %llu runs, %llu failed: %llu packets, %llu lost, %llu sent again, "
			"%llu timeouts, %llu RNR, %llu completions, %llu messages, %llu errors\n",
			isatty(1) ? "\r" : "", (unsigned long long)all.done,
			(unsigned long long)all.failed, (unsigned long long)all.sum.packets,
			(unsigned long long)all.sum.lost, (unsigned long long)all.sum.retransmits,
			(unsigned long long)all.sum.timeouts, (unsigned long long)all.sum.rnr,
			(unsigned long long)all.sum.completions,
			(unsigned long long)all.sum.messages, (unsigned long long)all.sum.errors);
		return all.failed || all.done != o_.runs ? 1 : 0;
	}

	const Options &o_;
	unsigned jobs_;
	Share *shares_;
};

} // namespace

int main(int argc, char **argv)
{
	Options o = parse(argc, argv);

	return Campaign(o).go();
}

// SPDX-License-Identifier: GPL-2.0
// The two-QP simulator: seeded runs of the transport against a reference model.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

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
	std::fprintf(
		status ? stderr : stdout,
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
		{ "rc", PIB_TP_RC },
		{ "uc", PIB_TP_UC },
		{ "ud", PIB_TP_UD },
		{ "xrc", PIB_TP_XRC },
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

class Campaign {
public:
	explicit Campaign(const Options &o) : o_(o) {}

	int go()
	{
		std::vector<std::thread> threads;

		for (unsigned i = 0; i < o_.jobs; i++)
			threads.emplace_back([this] { work(); });
		for (auto &t : threads)
			t.join();
		std::printf(
			"%ssim: %llu runs, %llu failed: %llu packets, %llu lost, %llu sent again, "
			"%llu timeouts, %llu RNR, %llu completions, %llu messages, %llu errors\n",
			tty_ ? "\r" : "", (unsigned long long)done_, (unsigned long long)failed_,
			(unsigned long long)sum_.packets, (unsigned long long)sum_.lost,
			(unsigned long long)sum_.retransmits, (unsigned long long)sum_.timeouts,
			(unsigned long long)sum_.rnr, (unsigned long long)sum_.completions,
			(unsigned long long)sum_.messages, (unsigned long long)sum_.errors);
		return failed_ ? 1 : 0;
	}

private:
	void work()
	{
		for (uint64_t i; (i = next_++) < o_.runs && failed_ < 10;)
			one(o_.seed + i);
	}

	void one(uint64_t seed)
	{
		sim::Params p = sim::make_params(seed, o_.only);
		sim::Outcome r;

		if (o_.trace)
			std::printf("%s\n", p.describe().c_str());
		try {
			r = sim::Run(p, o_.trace).go();
		} catch (const sim::Failure &e) {
			complain(seed, p, e.what());
			return;
		} catch (const std::out_of_range &e) {
			complain(seed, p, e.what());
			return;
		}
		std::lock_guard lock(mutex_);
		done_++;
		if (tty_ && done_ % 1000 == 0) {
			std::printf("\r%llu runs", (unsigned long long)done_);
			std::fflush(stdout);
		}
		sum_.packets += r.packets;
		sum_.lost += r.lost;
		sum_.retransmits += r.retransmits;
		sum_.timeouts += r.timeouts;
		sum_.rnr += r.rnr;
		sum_.completions += r.completions;
		sum_.messages += r.messages;
		sum_.errors += r.errors;
	}

	void complain(uint64_t seed, const sim::Params &p, const char *what)
	{
		static const char *const names[] = { "rc", "uc", "", "ud", "", "xrc" };
		std::string only = o_.only < 0 ? "" : std::string(" --only ") + names[o_.only];
		std::lock_guard lock(mutex_);

		done_++;
		failed_++;
		std::printf("FAILED: %s\n%s\nrepeat: %s --runs 1 --seed %llu%s --trace\n", what,
			    p.describe().c_str(), o_.self, (unsigned long long)seed, only.c_str());
	}

	const Options &o_;
	std::atomic<uint64_t> next_{ 0 }, failed_{ 0 };
	std::mutex mutex_;
	uint64_t done_ = 0;
	bool tty_ = isatty(1);
	sim::Outcome sum_;
};

}  // namespace

int main(int argc, char **argv)
{
	Options o = parse(argc, argv);

	return Campaign(o).go();
}

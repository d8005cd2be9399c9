// SPDX-License-Identifier: GPL-2.0
/*
 * pib-soak: traffic of every kind between two ports, over a path that loses, doubles, reorders
 * and corrupts. Every byte that arrives is compared, every completion accounted for.
 */
#include <cstdlib>
#include <getopt.h>
#include <iostream>
#include <random>
#include <unistd.h>

#include "lane.h"

namespace ops {

static bool noted;

void note_failure(const std::string &what)
{
	std::cout << what << std::endl;
	noted = true;
}

} // namespace ops

using namespace soak;

namespace {

struct Options {
	std::string dev, peer;
	unsigned seconds = 60;
	uint64_t seed = std::random_device{}();
	bool may_fail = false;
	std::string only;
};

[[noreturn]] void usage(int status)
{
	(status ? std::cerr : std::cout)
		<< "usage: pib-soak --dev DEVICE --peer DEVICE [OPTION]...\n"
		   "  --seconds N    how long (60)\n"
		   "  --seed N       of the random choices\n"
		   "  --only NAME    connections whose names begin so\n"
		   "  --may-fail     retries may be used up now and then (not more than once in 10000 work requests)\n";
	exit(status);
}

Options parse(int argc, char **argv)
{
	static const option options[] = {{"dev", required_argument, nullptr, 'd'},
					 {"peer", required_argument, nullptr, 'p'},
					 {"seconds", required_argument, nullptr, 's'},
					 {"seed", required_argument, nullptr, 'r'},
					 {"only", required_argument, nullptr, 'o'},
					 {"may-fail", no_argument, nullptr, 'f'},
					 {"help", no_argument, nullptr, 'h'},
					 {}};
	Options o;

	for (int c; (c = getopt_long(argc, argv, "", options, nullptr)) != -1;) {
		switch (c) {
		case 'd': o.dev = optarg; break;
		case 'p': o.peer = optarg; break;
		case 's': o.seconds = strtoul(optarg, nullptr, 0); break;
		case 'r': o.seed = strtoull(optarg, nullptr, 0); break;
		case 'o': o.only = optarg; break;
		case 'f': o.may_fail = true; break;
		case 'h': usage(0);
		default: usage(2);
		}
	}
	if (o.dev.empty() || o.peer.empty() || optind != argc)
		usage(2);
	return o;
}

std::vector<LaneOptions> lanes(SharedReceives *shared_a, SharedReceives *shared_b)
{
	const EndOptions rc{}, xrc{.type = IBV_QPT_XRC_SEND}, uc{.type = IBV_QPT_UC},
		ud{.type = IBV_QPT_UD};
	std::vector<LaneOptions> v;

	auto add = [&](const char *name, EndOptions end, ibv_mtu mtu, uint32_t max_length,
		       unsigned depth, bool sparing, bool shared = false) {
		end.mtu = mtu;
		end.depth = depth;
		v.push_back(
			{.name = name, .end = end, .max_length = max_length, .sparing = sparing});
		if (shared) {
			v.back().shared[0] = shared_a;
			v.back().shared[1] = shared_b;
		}
	};
	add("rc-256", rc, IBV_MTU_256, 4096, 16, false);
	add("rc-1024", rc, IBV_MTU_1024, 32768, 32, false);
	add("rc-4096", rc, IBV_MTU_4096, 32768, 32, false);
	add("rc-large", rc, IBV_MTU_2048, 262144, 4, false);
	add("rc-rnr", rc, IBV_MTU_1024, 8192, 32, true);
	add("rc-srq-1", rc, IBV_MTU_1024, 8192, 32, false, true);
	add("rc-srq-2", rc, IBV_MTU_2048, 8192, 16, true, true);
	add("xrc-1", xrc, IBV_MTU_1024, 16384, 32, false);
	add("xrc-2", xrc, IBV_MTU_2048, 16384, 16, true);
	add("uc-512", uc, IBV_MTU_512, 4096, 32, false);
	add("uc-2048", uc, IBV_MTU_2048, 16384, 16, false);
	add("ud", ud, IBV_MTU_2048, 2048, 32, false);
	return v;
}

std::vector<std::unique_ptr<Lane>> make_lanes(const Options &o, Host &a, Host &b,
					      SharedReceives *sa, SharedReceives *sb, Rng &rng)
{
	std::vector<std::unique_ptr<Lane>> v;

	for (auto &options : lanes(sa, sb)) {
		if (options.name.rfind(o.only, 0) != 0)
			continue;
		options.may_fail = o.may_fail;
		v.push_back(std::make_unique<Lane>(a, b, options, rng));
	}
	return v;
}

/* Goes round until all are finished. */
void soak_all(std::vector<std::unique_ptr<Lane>> &all, Host &a, Host &b, unsigned seconds)
{
	auto end = Clock::now() + std::chrono::seconds(seconds);
	bool left = true;

	while (left) {
		bool any = left = false, over = Clock::now() > end;

		for (auto &lane : all) {
			if (over)
				lane->finish();
			any |= lane->step();
			left |= !lane->finished();
		}
		a.drop_events();
		b.drop_events();
		if (!any)
			usleep(200);
	}
}

void report(const std::vector<std::unique_ptr<Lane>> &all)
{
	std::map<std::string, uint64_t> by_name;
	uint64_t messages = 0, exceeded = 0;

	for (const auto &lane : all) {
		std::cout << lane->summary() << '\n';
		messages += lane->messages();
		exceeded += lane->retries_exceeded();
		for (const auto &t : lane->traffic())
			for (const auto &[name, n] : t->counts.by_name)
				by_name[name] += n;
	}
	std::cout << messages << " work requests:";
	for (const auto &[name, n] : by_name)
		std::cout << ' ' << name << ' ' << n;
	std::cout << std::endl;
	if (exceeded > 2 + messages / 10000)
		FAIL("retries were used up too often");
}

void run(const Options &o)
{
	Rng rng(o.seed);
	Host a(o.dev, rng), b(o.peer, rng);
	SharedReceives shared_a(a, 64, 8192, 1), shared_b(b, 64, 8192, 1);
	auto all = make_lanes(o, a, b, &shared_a, &shared_b, rng);

	if (all.empty())
		usage(2);
	soak_all(all, a, b, o.seconds);
	report(all);
}

} // namespace

int main(int argc, char **argv)
{
	Options o = parse(argc, argv);

	std::cout << "repeat: pib-soak --dev " << o.dev << " --peer " << o.peer << " --seed "
		  << o.seed << std::endl;
	try {
		run(o);
	} catch (const std::exception &failure) {
		std::cout << "FAILED: " << failure.what() << std::endl;
		/* Not by way of the destructors: the queues are wanted as they are. */
		_exit(1);
	}
	return ops::noted ? 1 : 0;
}

// SPDX-License-Identifier: GPL-2.0
/* pib-hostile: those who mean ill, and those who must not notice. */
#include <cstdlib>
#include <getopt.h>
#include <iostream>
#include <random>
#include <unistd.h>

#include "common.h"

using namespace hostile;

namespace {

struct Part {
	const char *name, *help;
	int (*run)(const Options &o);
};

constexpr Part parts[] = {
	{"process", "random commands, written rings, strange memory", run_process},
	{"victim", "traffic whose every byte is looked at", run_victim},
	{"attack", "--what: one of those that \"attack --what list\" tells", run_attack},
	{"allocations", "allocation failures on every control call; --what: one call",
	 run_allocations},
	{"objects", "objects of every kind and traffic, until the device goes", run_objects},
	{"threads", "control calls against traffic; --what: one contest", run_threads},
};

[[noreturn]] void usage(int status)
{
	auto &out = status ? std::cerr : std::cout;
	out << "usage: pib-hostile PART --dev DEVICE [OPTION]...\n"
	       "  --seconds N     how long (60)\n"
	       "  --seed N        of the random choices\n"
	       "  --processes N   at a time (2)\n"
	       "  --what NAME     of PART\n"
	       "  --without NAMES not these: secret, fuse (memory), migration, contexts (that may be\n"
	       "                  refused)\n";
	for (const Part &p : parts)
		out << "  " << p.name << ": " << p.help << '\n';
	exit(status);
}

Options parse(int argc, char **argv)
{
	static const option options[] = {{"dev", required_argument, nullptr, 'd'},
					 {"seconds", required_argument, nullptr, 's'},
					 {"seed", required_argument, nullptr, 'r'},
					 {"processes", required_argument, nullptr, 'n'},
					 {"what", required_argument, nullptr, 'w'},
					 {"without", required_argument, nullptr, 'x'},
					 {"help", no_argument, nullptr, 'h'},
					 {}};
	Options o;

	o.seed = std::random_device{}();
	for (int c; (c = getopt_long(argc, argv, "", options, nullptr)) != -1;) {
		switch (c) {
		case 'd': o.dev = optarg; break;
		case 's': o.seconds = strtoul(optarg, nullptr, 0); break;
		case 'r': o.seed = strtoull(optarg, nullptr, 0); break;
		case 'n': o.processes = strtoul(optarg, nullptr, 0); break;
		case 'w': o.what = optarg; break;
		case 'x': o.without = optarg; break;
		case 'h': usage(0);
		default: usage(2);
		}
	}
	if (o.dev.empty() || optind + 1 != argc)
		usage(2);
	return o;
}

} // namespace

int main(int argc, char **argv)
{
	Options o = parse(argc, argv);
	const char *name = argv[optind];

	for (const Part &p : parts) {
		if (strcmp(p.name, name))
			continue;
		std::cout << "repeat: pib-hostile " << name << " --dev " << o.dev << " --seconds "
			  << o.seconds << " --seed " << o.seed << std::endl;
		try {
			return p.run(o);
		} catch (const std::exception &failure) {
			std::cout << "FAILED: " << failure.what() << std::endl;
			/* Not by way of the destructors: the objects are wanted as they are. */
			_exit(1);
		}
	}
	usage(2);
}

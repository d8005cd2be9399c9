// SPDX-License-Identifier: GPL-2.0
/*
 * pib-ops: every opcode, every error and every event that libibverbs offers, on
 * one device or between two.
 */
#include <cstdlib>
#include <getopt.h>
#include <iostream>

#include "end.h"
#include "suites.h"

using namespace ops;

namespace {

[[noreturn]] void usage(int status)
{
	(status ? std::cerr : std::cout)
		<< "usage: pib-ops [OPTION]... [PART OF A CASE'S NAME]...\n"
		   "  --dev DEVICE       device to run on\n"
		   "  --peer DEVICE      the other end; default: the same device\n"
		   "  --port N           port of both (1)\n"
		   "  --gid-index N      GID of both\n"
		   "  --capture NS:DEV   look at the packets on that netdev\n"
		   "  --timeout S        for each case (60)\n"
		   "  --list             names of the cases\n";
	exit(status);
}

Suite all_cases()
{
	Suite suite;
	for (auto add :
	     {add_messages,	 add_rdma,	add_atomics,   add_windows,	  add_local_errors,
	      add_remote_errors, add_retries,	add_states,    add_completions,	  add_shared_queues,
	      add_xrc,		 add_datagrams, add_multicast, add_memory,	  add_isolation,
	      add_flapping,	 add_killed,	add_paging,    add_paging_faults, add_dmabuf,
	      add_limits,	 add_shares,	add_migration, add_modify,	  add_interface,
	      add_forged,	 add_turns})
		add(suite);
	return suite;
}

} // namespace

int main(int argc, char **argv)
{
	static const option options[] = {{"dev", required_argument, nullptr, 'd'},
					 {"peer", required_argument, nullptr, 'p'},
					 {"port", required_argument, nullptr, 'i'},
					 {"gid-index", required_argument, nullptr, 'g'},
					 {"capture", required_argument, nullptr, 'c'},
					 {"timeout", required_argument, nullptr, 't'},
					 {"list", no_argument, nullptr, 'l'},
					 {"help", no_argument, nullptr, 'h'},
					 {}};
	Env env;
	Suite suite = all_cases();
	int seconds = 60;
	bool list = false;

	for (int c; (c = getopt_long(argc, argv, "d:p:i:g:c:t:lh", options, nullptr)) != -1;) {
		switch (c) {
		case 'd': env.dev_a = optarg; break;
		case 'p': env.dev_b = optarg; break;
		case 'i': env.port = atoi(optarg); break;
		case 'g': env.gid_index = atoi(optarg); break;
		case 'c': env.capture = optarg; break;
		case 't': seconds = atoi(optarg); break;
		case 'l': list = true; break;
		case 'h': usage(0);
		default: usage(2);
		}
	}
	if (env.dev_b.empty())
		env.dev_b = env.dev_a;
	suite.select({argv + optind, argv + argc});
	if (list) {
		suite.list();
		return 0;
	}
	if (env.dev_a.empty())
		usage(2);
	return suite.run(env, seconds) ? 0 : 1;
}

// SPDX-License-Identifier: GPL-2.0
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <iostream>

#include "cli/cli.h"
#include "netlink/mnl_transport.h"

int main(int argc, char **argv)
{
	try {
		return pib::ctl::run(argc, argv, pib::ctl::open_mnl_transport, std::cout, std::cerr,
				     isatty(STDERR_FILENO) == 1);
	} catch (const std::exception &error) {
		std::fprintf(stderr, "pibctl: internal error: %s\n", error.what());
		return 1;
	}
}

// SPDX-License-Identifier: GPL-2.0
// For tests: pibctl's command line over a module that answers as told.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "netlink/fake_kernel.h"

namespace pib::ctl::fake {

class Shell : public testing::Test {
protected:
	/// Runs `pibctl WORDS...`: its exit status; what it wrote is in printed and complained.
	int pibctl(std::vector<const char *> words)
	{
		words.insert(words.begin(), "pibctl");
		std::ostringstream out;
		std::ostringstream err;
		const int status = run(static_cast<int>(words.size()), words.data(),
				       kernel.factory(), out, err);
		printed = out.str();
		complained = err.str();
		return status;
	}

	Kernel kernel;
	std::string printed;
	std::string complained;
};

} // namespace pib::ctl::fake

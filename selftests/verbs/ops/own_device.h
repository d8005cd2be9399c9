/* SPDX-License-Identifier: GPL-2.0 */
/* A device that is made for one case, and goes with it. */
#pragma once

#include <cstdlib>
#include <string>
#include <unistd.h>

#include "harness.h"

namespace ops {

inline int shell(const std::string &line)
{
	return system((line + " >/dev/null 2>&1").c_str());
}

/** A device of the case's own. */
struct OwnDevice {
	/** @options: of pibctl add. */
	explicit OwnDevice(const std::string &options = "netdev eth0 standalone")
	{
		if (shell("pibctl add " + name + " " + options))
			throw Skip("no device of its own to be had");
	}
	~OwnDevice() { remove(); }
	void remove()
	{
		if (!gone)
			gone = shell("pibctl del " + name) == 0;
	}

	std::string name = "ops" + std::to_string(getpid());
	bool gone = false;
};

} // namespace ops

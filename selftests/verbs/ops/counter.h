/* SPDX-License-Identifier: GPL-2.0 */
/* Hardware counters of the second device's port. */
#pragma once

#include <fstream>
#include <string>
#include <unistd.h>

#include "env.h"
#include "harness.h"

namespace ops {

/** Only the first network namespace's sysfs has counters: that which process 1 sees. */
class Counter {
public:
	Counter(const Env &env, const char *name) :
		path_("/proc/1/root/sys/class/infiniband/" + env.dev_b + "/ports/" +
		      std::to_string(env.port) + "/hw_counters/" + name),
		before_(value())
	{
	}

	bool more() const { return value() > before_; }
	void until_more() const
	{
		while (!more())
			usleep(1000);
	}

private:
	uint64_t value() const
	{
		uint64_t n;
		if (!(std::ifstream(path_) >> n))
			throw Skip("no such counter: " + path_);
		return n;
	}

	std::string path_;
	uint64_t before_;
};

} // namespace ops

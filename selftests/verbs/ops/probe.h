/* SPDX-License-Identifier: GPL-2.0 */
/* Watches calls of a function of the kernel, by a kprobe. */
#pragma once

#include <string>
#include <vector>

namespace ops {

class Probe {
public:
	enum Who { anybody, this_thread };

	/** Calls by @who. Throws Skip where the kernel or the user's rights do not allow it. */
	explicit Probe(const std::string &function, Who who = anybody);
	~Probe();
	Probe(const Probe &) = delete;
	Probe &operator=(const Probe &) = delete;

	/** Forgets the calls seen. */
	void clear();
	/** The CPU of each call, in the order of time. */
	std::vector<int> cpus() const;
	/** The number of calls. */
	size_t calls() const { return cpus().size(); }

private:
	std::string name_;
};

} // namespace ops

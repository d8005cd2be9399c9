/* SPDX-License-Identifier: GPL-2.0 */
/* Watches calls of a function of the kernel, by a kprobe. */
#pragma once

#include <string>
#include <vector>

namespace ops {

class Probe {
public:
	/** Throws Skip where the kernel or the user's rights do not allow it. */
	explicit Probe(const std::string &function);
	~Probe();
	Probe(const Probe &) = delete;
	Probe &operator=(const Probe &) = delete;

	/** Forgets the calls seen. */
	void clear();
	/** The CPU of each call, in the order of time. */
	std::vector<int> cpus() const;

private:
	std::string name_;
};

} // namespace ops

// SPDX-License-Identifier: GPL-2.0
// A program that is started by this one, and runs from a moment on.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "model/result.h"

namespace pib::ctl {

class Child {
public:
	/// Its process is there, and waits. quiet: its standard output is this program's standard error.
	static Result<Child> start(const std::vector<std::string> &words, bool quiet);
	~Child();
	Child(Child &&other) noexcept;
	Child &operator=(Child &&) = delete;

	pid_t pid() const { return pid_; }
	/// It runs the program; or why it cannot.
	Status go();
	/// The status of wait(2) if it has ended; does not wait.
	std::optional<int> status();

private:
	Child(pid_t pid, int start, int failure) : pid_(pid), start_(start), failure_(failure) {}

	pid_t pid_;
	/// It waits for a byte.
	int start_;
	/// Gives an errno if the program cannot run, or end of file once it runs.
	int failure_;
	std::optional<int> status_;
};

} // namespace pib::ctl

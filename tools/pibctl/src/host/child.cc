// SPDX-License-Identifier: GPL-2.0
#include "host/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace pib::ctl {
namespace {

using Pipe = std::array<int, 2>;

Error start_error(int code, const std::string &program)
{
	return Error{fmt::format("cannot start {}: {}", program, std::strerror(code)), code};
}

/// Runs the program in the child process. Allocates no memory.
[[noreturn]] void become(char *const *words, const Pipe &start, const Pipe &failure, bool quiet)
{
	char byte = 0;
	close(start[1]);
	if (read(start[0], &byte, 1) != 1)
		_exit(1);
	if (quiet)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
		std::signal(number, SIG_DFL);
	execvp(words[0], words);
	const int code = errno;
	(void)!write(failure[1], &code, sizeof(code));
	_exit(1);
}

} // namespace

Result<Child> Child::start(const std::vector<std::string> &words, bool quiet)
{
	std::vector<char *> list;
	for (const std::string &word : words)
		list.push_back(const_cast<char *>(word.c_str()));
	list.push_back(nullptr);
	Pipe start{-1, -1};
	Pipe failure{-1, -1};
	if (pipe2(start.data(), O_CLOEXEC) || pipe2(failure.data(), O_CLOEXEC)) {
		const int code = errno;
		for (const int fd : {start[0], start[1]})
			if (fd >= 0)
				close(fd);
		return start_error(code, words.front());
	}
	const pid_t pid = fork();
	const int code = errno;
	if (!pid)
		become(list.data(), start, failure, quiet);
	close(start[0]);
	close(failure[1]);
	if (pid < 0) {
		close(start[1]);
		close(failure[0]);
		return start_error(code, words.front());
	}
	return Child(pid, start[1], failure[0]);
}

Child::Child(Child &&other) noexcept :
	pid_(std::exchange(other.pid_, 0)), start_(std::exchange(other.start_, -1)),
	failure_(std::exchange(other.failure_, -1)), status_(other.status_)
{
}

/// Nothing is left running: what was not told to go ends by itself.
Child::~Child()
{
	if (start_ >= 0)
		close(start_);
	if (failure_ >= 0)
		close(failure_);
	if (pid_ <= 0 || status_)
		return;
	kill(pid_, SIGTERM);
	waitpid(pid_, nullptr, 0);
}

Status Child::go()
{
	(void)!write(start_, "", 1);
	close(std::exchange(start_, -1));
	int code = 0;
	ssize_t length = 0;
	do
		length = read(failure_, &code, sizeof(code));
	while (length < 0 && errno == EINTR);
	close(std::exchange(failure_, -1));
	if (length != sizeof(code))
		return success();
	return Error{std::strerror(code), code};
}

std::optional<int> Child::status()
{
	int status = 0;
	if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_)
		status_ = status;
	return status_;
}

} // namespace pib::ctl

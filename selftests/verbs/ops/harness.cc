// SPDX-License-Identifier: GPL-2.0
#include "harness.h"

#include <csignal>
#include <cstring>
#include <iostream>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ops {

namespace {

std::string noted;

enum class Kind : char { Pass = 'p', Fail = 'f', Skip = 's' };

struct Outcome {
	Kind kind;
	std::string text;
};

Outcome run_here(const Case &test, Env &env)
{
	try {
		test.run(env);
	} catch (const Skip &skip) {
		return {Kind::Skip, skip.what()};
	} catch (const std::exception &failure) {
		return {Kind::Fail, failure.what() + noted};
	}
	if (!noted.empty())
		return {Kind::Fail, noted};
	return {Kind::Pass, ""};
}

[[noreturn]] void run_as_child(const Case &test, Env &env, int fd)
{
	Outcome outcome = run_here(test, env);
	std::string text = static_cast<char>(outcome.kind) + outcome.text;
	ssize_t n = write(fd, text.data(), text.size());
	_exit(n == static_cast<ssize_t>(text.size()) ? 0 : 1);
}

/* Reads into @text until the other end closes; false when nothing comes for @seconds. */
bool read_all(int fd, int seconds, std::string &text)
{
	char buffer[4096];
	for (;;) {
		pollfd p{fd, POLLIN, 0};
		if (poll(&p, 1, seconds * 1000) <= 0)
			return false;
		ssize_t n = read(fd, buffer, sizeof(buffer));
		if (n <= 0)
			return true;
		text.append(buffer, n);
	}
}

Outcome run_apart(const Case &test, Env &env, int seconds)
{
	int fds[2];
	if (pipe(fds))
		return {Kind::Fail, "no pipe"};
	std::cout.flush();
	pid_t pid = fork();
	if (pid < 0)
		return {Kind::Fail, "no process"};
	if (pid == 0) {
		close(fds[0]);
		run_as_child(test, env, fds[1]);
	}
	close(fds[1]);
	std::string text;
	bool in_time = read_all(fds[0], seconds, text);
	close(fds[0]);
	if (!in_time)
		kill(pid, SIGKILL);
	int status = 0;
	waitpid(pid, &status, 0);
	if (!in_time)
		return {Kind::Fail, "no end after " + std::to_string(seconds) + " s"};
	if (WIFSIGNALED(status))
		return {Kind::Fail, std::string("died: ") + strsignal(WTERMSIG(status))};
	if (text.empty())
		return {Kind::Fail, "ended without saying how"};
	return {static_cast<Kind>(text[0]), text.substr(1)};
}

void explain(const std::string &text)
{
	std::istringstream in(text);
	for (std::string line; std::getline(in, line);)
		std::cout << "# " << line << '\n';
}

} // namespace

void note_failure(const std::string &what)
{
	noted += "\n" + what;
}

void Suite::select(const std::vector<std::string> &patterns)
{
	if (patterns.empty())
		return;
	std::erase_if(cases_, [&](const Case &test) {
		for (const auto &pattern : patterns)
			if (test.name.find(pattern) != std::string::npos)
				return false;
		return true;
	});
}

void Suite::list() const
{
	for (const auto &test : cases_)
		std::cout << test.name << '\n';
}

bool Suite::run(Env &env, int seconds) const
{
	unsigned n = 0, pass = 0, failed = 0, skipped = 0;
	std::cout << "KTAP version 1\n1.." << cases_.size() << std::endl;
	for (const auto &test : cases_) {
		Outcome outcome = run_apart(test, env, seconds);
		std::cout << (outcome.kind == Kind::Fail ? "not ok " : "ok ") << ++n << ' '
			  << test.name;
		if (outcome.kind == Kind::Skip)
			std::cout << " # SKIP " << outcome.text;
		std::cout << '\n';
		if (outcome.kind == Kind::Fail)
			explain(outcome.text);
		std::cout.flush();
		pass += outcome.kind == Kind::Pass;
		failed += outcome.kind == Kind::Fail;
		skipped += outcome.kind == Kind::Skip;
	}
	std::cout << "# Totals: pass:" << pass << " fail:" << failed << " skip:" << skipped
		  << std::endl;
	return failed == 0;
}

} // namespace ops

// SPDX-License-Identifier: GPL-2.0
#include "probe.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/mount.h>
#include <unistd.h>

#include "harness.h"

namespace ops {

namespace {

const std::string tracing = "/sys/kernel/tracing/";

/* 0 or errno */
int put(const std::string &file, const std::string &text, int flags = O_TRUNC)
{
	int fd = open((tracing + file).c_str(), O_WRONLY | flags);
	if (fd < 0)
		return errno;
	ssize_t n = write(fd, text.data(), text.size());
	int err = n == static_cast<ssize_t>(text.size()) ? 0 : errno;
	close(fd);
	return err;
}

} // namespace

Probe::Probe(const std::string &function, Who who) :
	name_("ops" + std::to_string(getpid()) + "_" + function)
{
	if (access((tracing + "kprobe_events").c_str(), W_OK))
		mount("tracefs", tracing.c_str(), "tracefs", 0, nullptr);
	if (int err = put("kprobe_events", "p:ops/" + name_ + " " + function + "\n", O_APPEND))
		throw Skip("no kprobe on " + function + ": " + strerror(err));
	const std::string event = "events/ops/" + name_;
	if ((who == this_thread &&
	     put(event + "/filter", "common_pid == " + std::to_string(gettid()))) ||
	    put(event + "/enable", "1") || put("tracing_on", "1"))
		throw Failure("the kprobe on " + function + " cannot be enabled");
	clear();
}

Probe::~Probe()
{
	put("events/ops/" + name_ + "/enable", "0");
	put("kprobe_events", "-:ops/" + name_ + "\n", O_APPEND);
}

void Probe::clear()
{
	put("trace", "");
}

std::vector<int> Probe::cpus() const
{
	/* Reading may call the function, too, and would have no end. */
	put("events/ops/" + name_ + "/enable", "0");
	std::ifstream in(tracing + "trace");
	std::vector<int> found;

	/* TASK-PID [CPU] FLAGS TIME: NAME: (...) */
	for (std::string line; std::getline(in, line);) {
		auto at = line.find('[');
		if (line.find(" " + name_ + ":") != std::string::npos && at != std::string::npos)
			found.push_back(atoi(line.c_str() + at + 1));
	}
	put("events/ops/" + name_ + "/enable", "1");
	return found;
}

} // namespace ops

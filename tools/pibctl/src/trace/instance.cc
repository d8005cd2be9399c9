// SPDX-License-Identifier: GPL-2.0
#include "trace/instance.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <optional>

#include "trace/files.h"

namespace pib::ctl {
namespace {

constexpr std::string_view kInstance = "pibctl-";
/// A number that no process has is one that has this added some times: pids are below it.
constexpr pid_t kPids = 1 << 22;
/// So many processes of one number, each in a PID namespace of its own, may trace.
constexpr pid_t kSameNumber = 256;
/// Signals are looked for that often.
constexpr int kPollMs = 100;

/// Names of the module's events, without "pib_".
std::vector<std::string> known_events(const std::string &instance)
{
	std::vector<std::string> events;
	for (const std::string &name : names_in(instance + "/events/pib"))
		if (name.starts_with("pib_"))
			events.push_back(name.substr(4));
	return events;
}

/// Of the process that has made the instance; nothing: it is none of ours.
std::optional<pid_t> owner(std::string_view name)
{
	if (!name.starts_with(kInstance))
		return std::nullopt;
	name.remove_prefix(kInstance.size());
	pid_t pid = 0;
	const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
	if (error != std::errc{} || end != name.data() + name.size() || pid <= 0 ||
	    name.front() == '0')
		return std::nullopt;
	return pid;
}

std::string instance_path(const std::string &tracefs, pid_t pid)
{
	return fmt::format("{}/instances/{}{}", tracefs, kInstance, pid);
}

/// Paths of those to which a mark goes.
std::vector<std::string> ours(const std::string &tracefs)
{
	std::vector<std::string> paths;
	for (const std::string &name : names_in(tracefs + "/instances"))
		if (name == kTraceRing || owner(name))
			paths.push_back(fmt::format("{}/instances/{}", tracefs, name));
	return paths;
}

std::vector<pid_t> owners(const std::string &tracefs)
{
	std::vector<pid_t> pids;
	for (const std::string &name : names_in(tracefs + "/instances"))
		if (const auto pid = owner(name))
			pids.push_back(*pid);
	return pids;
}

/// Makes an instance; errno says why not. An instance with our own number is that of a process that
/// is gone, or of one in another PID namespace. The latter reads it, so it cannot be removed.
std::optional<std::string> make_instance(const std::string &tracefs)
{
	for (pid_t i = 0; i < kSameNumber; i++) {
		auto path = instance_path(tracefs, getpid() + i * kPids);
		rmdir(path.c_str());
		if (!mkdir(path.c_str(), 0750))
			return path;
		if (errno != EEXIST)
			break;
	}
	return std::nullopt;
}

Status enable_event(const std::string &instance, const std::string &event,
		    const std::string &filter)
{
	const auto path = fmt::format("{}/events/pib/pib_{}", instance, event);
	if (!filter.empty())
		if (auto written = write_file(path + "/filter", filter); !written)
			return written;
	return write_file(path + "/enable", "1");
}

/// A mark's error where the instance does not trace yet, is being removed, or is gone.
bool begins_or_ends(int code)
{
	return code == EBADF || code == ENODEV || code == ENOENT;
}

} // namespace

Result<std::string> find_tracefs(const std::vector<std::string> &places)
{
	for (const std::string &place : places) {
		if (!access((place + "/instances").c_str(), R_OK | W_OK | X_OK))
			return place;
		if (errno == EACCES || errno == EPERM)
			return trace_error("use", place);
	}
	return Error{fmt::format("there is no tracefs at {}: 'mount -t tracefs nodev {}'",
				 places.front(), places.front()),
		     ENOENT};
}

Result<std::string> find_tracefs()
{
	// "ip netns exec" mounts another sysfs, in which it is not; the first process has it.
	return find_tracefs({"/sys/kernel/tracing", "/sys/kernel/debug/tracing",
			     "/proc/1/root/sys/kernel/tracing"});
}

void sweep_instances(const std::string &tracefs)
{
	for (const pid_t pid : owners(tracefs))
		if (kill(pid, 0) && errno == ESRCH)
			rmdir(instance_path(tracefs, pid).c_str());
}

Result<std::size_t> mark_traces(const std::string &tracefs, const std::string &text,
				const TraceWriter &write)
{
	std::size_t marked = 0;
	std::optional<Error> failed;
	for (const std::string &path : ours(tracefs)) {
		const auto written = write(path + "/trace_marker", text);
		if (written)
			++marked;
		else if (!failed && !begins_or_ends(written.error().code))
			failed = written.error();
	}
	if (failed)
		return *failed;
	return marked;
}

Result<std::size_t> mark_traces(const std::string &tracefs, const std::string &text)
{
	return mark_traces(tracefs, text, write_file);
}

Status start_instance(const std::string &path, const TraceRequest &request)
{
	const auto known = known_events(path);
	if (known.empty())
		return Error{
			"the kernel has no events of pib: is the module loaded ('modprobe pib')?",
			ENOENT};
	const auto chosen = choose_events(request.events, known);
	if (!chosen)
		return chosen.error();
	/// Lines come at once, with a clock that other logs have, too.
	for (const auto &[file, value] :
	     {std::pair{"/tracing_on", "0"}, {"/trace_clock", "mono"}, {"/buffer_percent", "0"}})
		if (auto written = write_file(path + file, value); !written)
			return written;
	if (request.ring_kib)
		if (auto written =
			    write_file(path + "/buffer_size_kb", std::to_string(request.ring_kib));
		    !written)
			return written;
	for (const std::string &event : *chosen) {
		const auto fields = parse_event_fields(
			read_file(fmt::format("{}/events/pib/pib_{}/format", path, event)));
		const auto filter = event_filter(request, fields);
		if (!filter && !request.events.empty())
			return usage_error(
				fmt::format("event '{}' does not say what is asked for by {}",
					    event, lacking_words(request, fields)));
		if (!filter)
			continue;
		if (auto enabled = enable_event(path, event, *filter); !enabled)
			return enabled;
	}
	return write_file(path + "/tracing_on", "1");
}

Result<std::unique_ptr<TraceInstance>> TraceInstance::create(std::string tracefs)
{
	sweep_instances(tracefs);
	const auto path = make_instance(tracefs);
	if (!path)
		return trace_error("make", instance_path(tracefs, getpid()));
	std::unique_ptr<TraceInstance> instance(new TraceInstance(*path));
	/// Open, it keeps others from taking the instance away.
	const auto pipe = *path + "/trace_pipe";
	instance->pipe_ = open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (instance->pipe_ < 0)
		return trace_error("open", pipe);
	return instance;
}

TraceInstance::~TraceInstance()
{
	if (pipe_ >= 0)
		close(pipe_);
	rmdir(path_.c_str());
}

Status TraceInstance::start(const TraceRequest &request)
{
	return start_instance(path_, request);
}

/// False: there is nothing to be read now.
Result<bool> TraceInstance::read_some(const std::function<bool(std::string_view)> &take)
{
	std::array<char, 1 << 16> buffer;
	const auto length = ::read(pipe_, buffer.data(), buffer.size());
	if (length < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (length < 0)
		return trace_error("read", path_ + "/trace_pipe");
	rest_.append(buffer.data(), static_cast<std::size_t>(length));
	std::size_t begin = 0;
	for (auto end = rest_.find('\n'); end != rest_.npos && !ended_;
	     end = rest_.find('\n', begin)) {
		ended_ = !take(std::string_view(rest_).substr(begin, end - begin));
		begin = end + 1;
	}
	rest_.erase(0, begin);
	return length > 0;
}

Status TraceInstance::read(const std::function<bool(std::string_view)> &take,
			   const std::function<bool()> &go_on)
{
	bool running = true;
	while (!ended_) {
		if (running && !go_on()) {
			running = false;
			if (auto written = write_file(path_ + "/tracing_on", "0"); !written)
				return written;
		}
		const auto more = read_some(take);
		if (!more)
			return more.error();
		if (*more)
			continue;
		if (!running)
			break;
		pollfd wait{pipe_, POLLIN, 0};
		poll(&wait, 1, kPollMs);
	}
	return success();
}

} // namespace pib::ctl

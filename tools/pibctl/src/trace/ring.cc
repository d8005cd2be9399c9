// SPDX-License-Identifier: GPL-2.0
#include "trace/ring.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <ctime>
#include <fstream>
#include <string_view>

#include "trace/files.h"
#include "trace/instance.h"

namespace pib::ctl {
namespace {

constexpr std::string_view kCpu = "cpu";
constexpr std::string_view kOverrun = "overrun: ";

std::string ring_path(const std::string &tracefs)
{
	return fmt::format("{}/instances/{}", tracefs, kTraceRing);
}

/// Why there is no ring to be read or ended, by errno.
Error ring_error(std::string_view doing, const std::string &path)
{
	if (errno == ENOENT)
		return Error{"no ring is on: 'pibctl trace start' begins one", ENOENT};
	if (errno == EBUSY)
		return Error{"the ring is being read: it stays until that has ended", EBUSY};
	return trace_error(doing, path);
}

/// Seconds of the clock of the ring.
double now()
{
	timespec time{};
	clock_gettime(CLOCK_MONOTONIC, &time);
	return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

template <typename T>
T number_in(std::string_view text)
{
	T value = 0;
	std::from_chars(text.data(), text.data() + text.size(), value);
	return value;
}

/// Events of a CPU that were overwritten.
std::uint64_t overwritten(const std::string &ring, const std::string &cpu)
{
	const auto stats = read_file(fmt::format("{}/per_cpu/{}/stats", ring, cpu));
	const auto at = stats.find(kOverrun);
	return at == stats.npos ? 0
				: number_in<std::uint64_t>(
					  std::string_view(stats).substr(at + kOverrun.size()));
}

std::vector<TraceRecord> lost_records(const std::string &ring)
{
	std::vector<TraceRecord> records;
	for (const std::string &cpu : names_in(ring + "/per_cpu")) {
		TraceRecord record;
		record.kind = TraceRecord::Kind::kLost;
		record.event = "lost";
		record.count = overwritten(ring, cpu);
		record.cpu = number_in<std::uint32_t>(std::string_view(cpu).substr(kCpu.size()));
		if (record.count)
			records.push_back(record);
	}
	return records;
}

/// A record that came while the ring is read.
bool is_later(const TraceRecord &record, double end)
{
	return !record.time.empty() && number_in<double>(record.time) > end;
}

} // namespace

Status start_ring(const std::string &tracefs, const TraceRequest &request)
{
	const auto path = ring_path(tracefs);
	if (mkdir(path.c_str(), 0750)) {
		if (errno == EEXIST)
			return Error{"a ring is on already: 'pibctl trace stop' ends it", EEXIST};
		return trace_error("make", path);
	}
	auto started = start_instance(path, request);
	/// Else lines that are no events stand between them.
	if (started)
		started = write_file(path + "/options/annotate", "0");
	if (!started)
		rmdir(path.c_str());
	return started;
}

Status show_ring(const std::string &tracefs, const std::function<bool(const TraceRecord &)> &take)
{
	const auto path = ring_path(tracefs);
	const auto end = now();
	std::ifstream stream(path + "/trace");
	if (!stream)
		return ring_error("open", path + "/trace");
	for (const TraceRecord &record : lost_records(path))
		if (!take(record))
			return success();
	TraceLines lines;
	bool is_header = true;
	for (std::string line; std::getline(stream, line);) {
		is_header = is_header && line.starts_with('#');
		if (is_header)
			continue;
		for (const TraceRecord &record : lines.take(line))
			if (is_later(record, end) || !take(record))
				return success();
	}
	return success();
}

Status stop_ring(const std::string &tracefs)
{
	const auto path = ring_path(tracefs);
	if (rmdir(path.c_str()))
		return ring_error("remove", path);
	return success();
}

} // namespace pib::ctl

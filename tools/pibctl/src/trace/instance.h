// SPDX-License-Identifier: GPL-2.0
// An instance of tracefs of this process's own, "pibctl-PID": its ring, its filters, its lines.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "trace/filter.h"

namespace pib::ctl {

/// The root of tracefs, or why there is none for us.
Result<std::string> find_tracefs(const std::vector<std::string> &places);
Result<std::string> find_tracefs();

/// Removes instances of processes that are gone. An instance that another still reads stays.
void sweep_instances(const std::string &tracefs);

/// Writes a text into a file by one write.
using TraceWriter = std::function<Status(const std::string &path, std::string_view text)>;

/// Writes a line into each trace that is running, but not into those that begin or end meanwhile.
/// Returns how many have it, or the first of other errors, when all the rest have it.
Result<std::size_t> mark_traces(const std::string &tracefs, const std::string &text,
				const TraceWriter &write);
Result<std::size_t> mark_traces(const std::string &tracefs, const std::string &text);

/// The instance of "trace start" (trace/ring.h), which is no process's: marks go to it, too.
inline constexpr std::string_view kTraceRing = "pibctl-ring";

/// The instance at this path traces the events that are asked for, from now on.
Status start_instance(const std::string &path, const TraceRequest &request);

class TraceInstance {
public:
	static Result<std::unique_ptr<TraceInstance>> create(std::string tracefs);
	~TraceInstance();
	TraceInstance(const TraceInstance &) = delete;
	TraceInstance &operator=(const TraceInstance &) = delete;

	/// From now on the events that are asked for are traced.
	Status start(const TraceRequest &request);
	/// Gives each line to take(), until that or go_on() says no; in the latter case what has been
	/// traced until then is given, too.
	Status read(const std::function<bool(std::string_view)> &take,
		    const std::function<bool()> &go_on);

private:
	explicit TraceInstance(std::string path) : path_(std::move(path)) {}
	Result<bool> read_some(const std::function<bool(std::string_view)> &take);
	std::string path_;
	int pipe_ = -1;
	/// The beginning of a line that was read in part.
	std::string rest_;
	bool ended_ = false;
};

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
// Report of the behavior on which a program was seen to rely.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "manners/watcher.h"

namespace pib::ctl {

struct MannersReport {
	std::vector<MannerFinding> findings;
	/// Events that are missing.
	std::uint64_t missed = 0;
	/// Messages of the preloaded library that are missing: each is of something that it has found.
	std::uint64_t unheard = 0;
	/// The process has called verbs at all.
	bool has_seen = false;
	/// It has the preloaded library.
	bool has_library = false;

	bool has_found() const { return !findings.empty() || unheard; }
};

/// Makes the report of a process. If it was killed, what the kernel did after that is no fault of
/// the process.
MannersReport make_report(const MannersWatcher &watcher, bool was_killed);

/// The function at an offset of an object file; empty: not known.
using FunctionNames = std::function<std::string(const std::string &file, std::uint64_t offset)>;

/// Names the functions on the stacks, which end with main().
void name_stacks(MannersReport &report, const FunctionNames &name);

/// With line ends.
std::string manners_text(const MannersReport &report);
std::string manners_json(const MannersReport &report);

} // namespace pib::ctl

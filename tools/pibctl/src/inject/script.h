// SPDX-License-Identifier: GPL-2.0
// A bug told as a file: lines "TIME COMMAND...", where TIME counts from the start, or with a plus from the line before, and
// $NAME stands for a word that is given beside the file.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include "model/result.h"

namespace pib::ctl {

/// One line of a script.
struct ScriptStep {
	/// Its line in the file, for messages.
	unsigned line;
	/// ns since the start; never less than that of the step before.
	std::uint64_t at;
	std::vector<std::string> words;
};

using ScriptWords = std::map<std::string, std::string, std::less<>>;

/// Errors name the line. A word that is given and not used is an error, as it is a mistake more often than not.
Result<std::vector<ScriptStep>> parse_script(std::istream &in, const ScriptWords &given);

} // namespace pib::ctl

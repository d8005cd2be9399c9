// SPDX-License-Identifier: GPL-2.0
// Words after a command: places first, then keywords, as in "NAME netdev DEV standalone".
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"

namespace pib::ctl {

/// A word known by its position.
struct Place {
	std::string_view name;
	std::string_view help;
	bool required = true;
	/// The last one: it takes all words from the first on that is no option.
	bool is_rest = false;
};

/// A word that is followed by its value, or stands alone if value is empty.
struct Keyword {
	std::string_view name;
	std::string_view value;
	std::string_view help;
	bool required = false;
	bool repeats = false;
};

class Arguments {
public:
	bool has(std::string_view name) const { return values_.contains(name); }
	/// The word of a place or the value of a keyword; must be there.
	const std::string &one(std::string_view name) const
	{
		return values_.find(name)->second.front();
	}
	std::optional<std::string> maybe(std::string_view name) const;
	std::vector<std::string> all(std::string_view name) const;

	void add(std::string_view name, std::string value);

private:
	std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

Result<Arguments> read_arguments(const std::vector<Place> &places,
				 const std::vector<Keyword> &keywords,
				 const std::vector<std::string> &words);

} // namespace pib::ctl

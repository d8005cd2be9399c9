// SPDX-License-Identifier: GPL-2.0
// For tests: words in texts of the tree, whose folder is PIB_TOP.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace pib {

using Words = std::set<std::string>;

inline std::string content(const std::string &path)
{
	std::ifstream file(std::string(PIB_TOP) + "/" + path);
	EXPECT_TRUE(file.good()) << path;
	std::ostringstream text;
	text << file.rdbuf();
	return text.str();
}

/// From the first place that has the one to the next that has the other; empty: there is none.
inline std::string between(const std::string &text, const std::string &first,
			   const std::string &last)
{
	const auto begin = text.find(first);
	if (begin == std::string::npos)
		return {};
	return text.substr(begin, text.find(last, begin + first.size()) - begin);
}

/// The group of the pattern, of each match.
inline Words found(const std::string &text, const std::string &pattern)
{
	Words words;
	const std::regex regex(pattern);
	for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end;
	     ++match)
		words.insert((*match)[1]);
	return words;
}

} // namespace pib

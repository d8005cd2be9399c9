// SPDX-License-Identifier: GPL-2.0
#include "inject/script.h"

#include <fmt/format.h>

#include <set>
#include <sstream>
#include <string_view>

#include "model/words/fault_words.h"

namespace pib::ctl {
namespace {

constexpr std::uint64_t kLongest = 86'400'000'000'000;

Error line_error(unsigned line, std::string_view text)
{
	return usage_error(fmt::format("line {}: {}", line, text));
}

bool in_name(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

class Parser {
public:
	explicit Parser(const ScriptWords &given) : given_(given) {}

	Status take(const std::string &text)
	{
		++line_;
		std::istringstream in(text.substr(0, text.find('#')));
		std::string time;
		if (!(in >> time))
			return success();
		ScriptStep step{line_, 0, {}};
		if (auto read = read_time(time, step); !read)
			return read;
		for (std::string word; in >> word;) {
			auto whole = put_words_in(word);
			if (!whole)
				return whole.error();
			step.words.push_back(std::move(*whole));
		}
		if (step.words.empty())
			return line_error(line_, "a command is missing behind the time");
		steps_.push_back(std::move(step));
		return success();
	}

	Result<std::vector<ScriptStep>> end()
	{
		for (const auto &[name, word] : given_)
			if (!used_.contains(name))
				return usage_error(
					fmt::format("nothing in the script is '${}'", name));
		return std::move(steps_);
	}

private:
	Status read_time(std::string_view word, ScriptStep &step)
	{
		const bool relative = word.starts_with('+');
		const auto time =
			parse_duration("the time", word.substr(relative ? 1 : 0), kLongest);
		if (!time)
			return line_error(line_, time.error().text);
		const std::uint64_t before = steps_.empty() ? 0 : steps_.back().at;
		step.at = relative ? before + *time : *time;
		if (step.at < before)
			return line_error(line_, "the line before is later");
		return success();
	}

	Result<std::string> put_words_in(const std::string &word)
	{
		std::string whole;
		for (std::size_t i = 0; i < word.size();) {
			if (word[i] != '$') {
				whole += word[i++];
				continue;
			}
			std::size_t end = ++i;
			while (end < word.size() && in_name(word[end]))
				++end;
			const auto name = word.substr(i, end - i);
			const auto found = given_.find(name);
			if (found == given_.end())
				return line_error(
					line_,
					fmt::format(
						"'${}' is not given: with {}=WORD says what it is",
						name, name.empty() ? "NAME" : name));
			used_.insert(name);
			whole += found->second;
			i = end;
		}
		return whole;
	}

	const ScriptWords &given_;
	std::set<std::string> used_;
	std::vector<ScriptStep> steps_;
	unsigned line_ = 0;
};

} // namespace

Result<std::vector<ScriptStep>> parse_script(std::istream &in, const ScriptWords &given)
{
	Parser parser(given);
	for (std::string text; std::getline(in, text);)
		if (auto taken = parser.take(text); !taken)
			return taken.error();
	return parser.end();
}

} // namespace pib::ctl

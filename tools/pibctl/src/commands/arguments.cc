// SPDX-License-Identifier: GPL-2.0
#include "commands/arguments.h"

#include <fmt/format.h>

#include <algorithm>

namespace pib::ctl {
namespace {

const Keyword *find_keyword(const std::vector<Keyword> &keywords, std::string_view word)
{
	const auto found = std::ranges::find(keywords, word, &Keyword::name);
	return found == keywords.end() ? nullptr : &*found;
}

std::string list_of(const std::vector<Keyword> &keywords)
{
	std::string list;
	for (const Keyword &keyword : keywords)
		list += fmt::format("{}{}", list.empty() ? "" : ", ", keyword.name);
	return list;
}

/// One pass over the words of a command.
class Reader {
public:
	Reader(const std::vector<Keyword> &keywords, const std::vector<std::string> &words) :
		keywords_(keywords), words_(words)
	{
	}

	Status take_place(const Place &place)
	{
		const bool there = at_ < words_.size();
		// A required place takes even a keyword: something may well be called "peer".
		if (place.required && !there)
			return usage_error(fmt::format("{} is missing", place.name));
		if (!there || (!place.required && find_keyword(keywords_, words_[at_])))
			return success();
		taken_.add(place.name, words_[at_++]);
		return success();
	}

	/// Options stand before it.
	Status take_rest(const Place &place)
	{
		while (at_ < words_.size() && find_keyword(keywords_, words_[at_]))
			if (auto taken = take_keyword(); !taken)
				return taken;
		if (done())
			return usage_error(fmt::format("{} is missing", place.name));
		while (!done())
			taken_.add(place.name, words_[at_++]);
		return success();
	}

	Status take_keyword()
	{
		const std::string &word = words_[at_++];
		const Keyword *keyword = find_keyword(keywords_, word);
		if (!keyword)
			return unexpected(word);
		if (taken_.has(word) && !keyword->repeats)
			return usage_error(fmt::format("'{}' is given twice", word));
		if (keyword->value.empty()) {
			taken_.add(word, "");
			return success();
		}
		if (at_ == words_.size())
			return usage_error(
				fmt::format("'{}' must be followed by {}", word, keyword->value));
		taken_.add(word, words_[at_++]);
		return success();
	}

	Status check_required() const
	{
		for (const Keyword &keyword : keywords_)
			if (keyword.required && !taken_.has(keyword.name))
				return usage_error(fmt::format("'{} {}' is missing", keyword.name,
							       keyword.value));
		return success();
	}

	bool done() const { return at_ == words_.size(); }
	Arguments taken() const { return taken_; }

private:
	Error unexpected(std::string_view word) const
	{
		if (keywords_.empty())
			return usage_error(fmt::format("'{}' is one word too many", word));
		return usage_error(fmt::format("'{}' is not known here; accepted: {}", word,
					       list_of(keywords_)));
	}

	const std::vector<Keyword> &keywords_;
	const std::vector<std::string> &words_;
	std::size_t at_ = 0;
	Arguments taken_;
};

} // namespace

std::optional<std::string> Arguments::maybe(std::string_view name) const
{
	if (!has(name))
		return std::nullopt;
	return one(name);
}

std::vector<std::string> Arguments::all(std::string_view name) const
{
	const auto found = values_.find(name);
	return found == values_.end() ? std::vector<std::string>{} : found->second;
}

void Arguments::add(std::string_view name, std::string value)
{
	values_[std::string(name)].push_back(std::move(value));
}

Result<Arguments> read_arguments(const std::vector<Place> &places,
				 const std::vector<Keyword> &keywords,
				 const std::vector<std::string> &words)
{
	Reader reader(keywords, words);
	for (const Place &place : places)
		if (auto taken = place.is_rest ? reader.take_rest(place) : reader.take_place(place);
		    !taken)
			return taken.error();
	while (!reader.done())
		if (auto taken = reader.take_keyword(); !taken)
			return taken.error();
	if (auto complete = reader.check_required(); !complete)
		return complete.error();
	return reader.taken();
}

} // namespace pib::ctl

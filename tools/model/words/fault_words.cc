// SPDX-License-Identifier: GPL-2.0
#include "model/words/fault_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>

namespace pib::inline model {
namespace {

constexpr std::uint64_t kFlapMost = 3'600'000'000'000;

struct Unit {
	std::string_view name;
	double factor;
};
// Those that end in another's name come first.
constexpr Unit kTimes[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
constexpr Unit kSizes[] = {{"k", 1024}, {"", 1}};
constexpr Unit kRates[] = {{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}, {"", 1}};

struct Code {
	std::string_view name;
	std::uint16_t code;
};
constexpr Code kWidths[] = {{"1x", 1}, {"2x", 16}, {"4x", 2}, {"8x", 4}, {"12x", 8}};
constexpr Code kSpeeds[] = {{"sdr", 1},	 {"ddr", 2},  {"qdr", 4},   {"fdr", 16},
			    {"edr", 32}, {"hdr", 64}, {"ndr", 128}, {"xdr", 256}};

/// A number that is not negative and is all of the word.
std::optional<double> read_real(std::string_view word)
{
	double value = 0;
	const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
	if (error != std::errc{} || end != word.data() + word.size())
		return std::nullopt;
	if (!std::isfinite(value) || value < 0)
		return std::nullopt;
	return value;
}

/// A number and one of the units, in terms of the unit whose factor is 1.
template <typename Units>
std::optional<double> read_with_unit(std::string_view word, const Units &units)
{
	const auto unit =
		std::ranges::find_if(units, [&](const Unit &u) { return word.ends_with(u.name); });
	if (unit == std::end(units))
		return std::nullopt;
	const auto value = read_real(word.substr(0, word.size() - unit->name.size()));
	if (!value)
		return std::nullopt;
	return *value * unit->factor;
}

std::string lower(std::string_view word)
{
	std::string all(word);
	std::ranges::transform(all, all.begin(), [](char c) {
		return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
	});
	return all;
}

template <typename Codes>
Result<std::uint16_t> read_code(std::string_view what, std::string_view word, const Codes &codes)
{
	const auto found = std::ranges::find(codes, lower(word), &Code::name);
	if (found != std::end(codes))
		return found->code;
	std::string list;
	for (const Code &code : codes)
		list += fmt::format("{}{}", list.empty() ? "" : ", ", code.name);
	return usage_error(fmt::format("'{}' is no {}: accepted are {}", word, what, list));
}

} // namespace

Result<std::uint64_t> parse_probability(std::string_view what, std::string_view word, double scale,
					double most)
{
	const bool percent = word.ends_with('%');
	const auto value = read_real(word.substr(0, word.size() - percent));
	const double share = value.value_or(-1) / (percent ? 100 : 1);
	if (share < 0 || share > most)
		return usage_error(
			fmt::format("{} must be a share from 0 to {:g}, as in 1% or 1e-9, not '{}'",
				    what, most, word));
	const auto units = static_cast<std::uint64_t>(std::llround(share * scale));
	if (share > 0 && !units)
		return usage_error(fmt::format("{} '{}' is too small: the least is {:g}", what,
					       word, 1 / scale));
	return units;
}

Result<std::uint64_t> parse_duration(std::string_view what, std::string_view word,
				     std::uint64_t most)
{
	const auto value = word == "0" ? 0.0 : read_with_unit(word, kTimes);
	if (!value || *value > static_cast<double>(most))
		return usage_error(fmt::format(
			"{} must be a time of at most {:g}s, as in 500ns, 10us, 2ms, 1s, "
			"not '{}'",
			what, static_cast<double>(most) / 1e9, word));
	return static_cast<std::uint64_t>(std::llround(*value));
}

Result<std::uint64_t> parse_rate(std::string_view word)
{
	if (word == "none")
		return std::uint64_t{0};
	const auto value = read_with_unit(word, kRates);
	if (!value || *value < 1000 || *value > 1e14)
		return usage_error(fmt::format(
			"a rate is in bits per second, from 1k to 100000G, as in 2.5G or 100M, or 'none', not '{}'",
			word));
	return static_cast<std::uint64_t>(std::llround(*value));
}

Result<std::uint64_t> parse_buffer(std::string_view word)
{
	if (word == "none")
		return std::uint64_t{0};
	const auto value = read_with_unit(word, kSizes);
	if (!value || *value < 4352 || *value > 131072)
		return usage_error(fmt::format(
			"a buffer has from 4352 bytes to 128k, as in 16k, or is 'none', not '{}'",
			word));
	return static_cast<std::uint64_t>(*value);
}

Result<std::pair<std::uint32_t, std::uint32_t>> parse_flap(std::string_view word)
{
	using Times = std::pair<std::uint32_t, std::uint32_t>;
	if (word == "none")
		return Times{0, 0};
	const auto slash = word.find('/');
	if (slash == word.npos)
		return usage_error(
			fmt::format("a cable flaps as in 10s/500ms, in for the first time and out "
				    "for the second, or 'none', not '{}'",
				    word));
	const auto up = parse_duration("the time in", word.substr(0, slash), kFlapMost);
	if (!up)
		return up.error();
	const auto down = parse_duration("the time out", word.substr(slash + 1), kFlapMost);
	if (!down)
		return down.error();
	const Times times{static_cast<std::uint32_t>(*up / 1'000'000),
			  static_cast<std::uint32_t>(*down / 1'000'000)};
	if (!times.first || !times.second)
		return usage_error(fmt::format(
			"a cable that flaps is in and out for 1ms at least, not '{}'", word));
	return times;
}

Result<std::uint8_t> parse_width(std::string_view word)
{
	const auto code = read_code("link width", word, kWidths);
	if (!code)
		return code.error();
	return static_cast<std::uint8_t>(*code);
}

Result<std::uint16_t> parse_speed(std::string_view word)
{
	return read_code("link speed", word, kSpeeds);
}

} // namespace pib::inline model

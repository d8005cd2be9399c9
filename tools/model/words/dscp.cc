// SPDX-License-Identifier: GPL-2.0
#include "model/words/dscp.h"

#include <bitset>

#include <fmt/format.h>

#include "model/words/parse.h"

namespace pib::inline model {
namespace {

constexpr std::uint64_t kMostDscp = 63;

struct Entry {
	std::size_t sl;
	std::uint8_t dscp;
};

Result<Entry> parse_entry(std::string_view word)
{
	const auto equals = word.find('=');
	if (equals == std::string_view::npos)
		return usage_error(
			fmt::format("'{}' is not a service level and its DSCP, as 3=46", word));
	const auto sl =
		parse_number("a service level", word.substr(0, equals), 0, DscpTable{}.size() - 1);
	if (!sl)
		return sl.error();
	const auto dscp = parse_number("a DSCP", word.substr(equals + 1), 0, kMostDscp);
	if (!dscp)
		return dscp.error();
	return Entry{static_cast<std::size_t>(*sl), static_cast<std::uint8_t>(*dscp)};
}

} // namespace

std::string format_dscp(const DscpTable &dscp)
{
	std::string list;
	for (std::size_t sl = 0; sl < dscp.size(); sl++)
		if (dscp[sl])
			list += fmt::format("{}{}={}", list.empty() ? "" : ",", sl, dscp[sl]);
	return list.empty() ? "none" : list;
}

Result<DscpTable> parse_dscp(std::string_view list)
{
	DscpTable dscp{};
	std::bitset<DscpTable{}.size()> named;
	if (list == "none")
		return dscp;
	for (bool more = true; more;) {
		const auto comma = list.find(',');
		more = comma != std::string_view::npos;
		const auto entry = parse_entry(list.substr(0, comma));
		if (!entry)
			return entry.error();
		if (named[entry->sl])
			return usage_error(
				fmt::format("service level {} is named twice", entry->sl));
		named.set(entry->sl);
		dscp[entry->sl] = entry->dscp;
		if (more)
			list.remove_prefix(comma + 1);
	}
	return dscp;
}

} // namespace pib::inline model

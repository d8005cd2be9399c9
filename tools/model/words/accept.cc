// SPDX-License-Identifier: GPL-2.0
#include "model/words/accept.h"

#include <linux/pib.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace pib::inline model {
namespace {

constexpr std::array<const char *, PIB_ACCEPT_ANYBODY + 1> kNames = {"nobody", "peers", "link",
								     "anybody"};

} // namespace

std::optional<std::string> accept_name(std::uint8_t accept)
{
	if (accept >= kNames.size())
		return {};
	return kNames[accept];
}

Result<std::uint8_t> parse_accept(std::string_view word)
{
	const auto at = std::find(kNames.begin(), kNames.end(), word);
	if (at == kNames.end())
		return usage_error(
			fmt::format("'{}' is not one of nobody, peers, link and anybody", word));
	return static_cast<std::uint8_t>(at - kNames.begin());
}

} // namespace pib::inline model

// SPDX-License-Identifier: GPL-2.0
// Selection and order of the ports, cables and queue pairs that are shown.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "watch/rates.h"

namespace pib::ctl {

enum class SortKey { kBytes, kPackets, kWaits, kRetries, kErrors, kName };

/// "bytes"; its first letter is the key of a terminal.
std::string_view sort_name(SortKey key);
Result<SortKey> parse_sort(const std::string &word);
std::optional<SortKey> sort_of_letter(char letter);

struct Selection {
	std::string node;
	std::optional<std::uint32_t> port;
	std::optional<std::uint64_t> pid;
	std::optional<std::uint64_t> qpn;
	bool ports = true;
	bool cables = true;
	bool queue_pairs = true;
	/// Leaves out what does not move and waits for nothing.
	bool busy = false;
	SortKey sort = SortKey::kBytes;
};

/// Refuses a name and a port that are not there.
Status check_names(const FabricSnapshot &fabric, const Selection &selection);

/// The selected rates, the greatest first.
Rates select(Rates rates, const Selection &selection);

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
#include "model/words/count.h"

#include <fmt/format.h>

namespace pib::inline model {

std::string format_count(std::uint64_t count, std::string_view one)
{
	return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

} // namespace pib::inline model

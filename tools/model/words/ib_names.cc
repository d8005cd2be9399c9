// SPDX-License-Identifier: GPL-2.0
#include "model/words/ib_names.h"

#include <algorithm>
#include <iterator>

namespace pib::inline model {
namespace {

constexpr const char *kStates[] = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
constexpr const char *kPhysicalStates[] = {
	"NOP",	   "SLEEP", "POLLING", "DISABLED", "ARMED", "LINK_UP", "LINK_ERROR_RECOVER",
	"PHY_TEST"};

struct Width {
	std::uint8_t code;
	std::uint8_t lanes;
};
constexpr Width kWidths[] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};

/// Codes of enum ib_port_speed; the first three are PortInfo's.
struct Speed {
	std::uint16_t code;
	const char *name;
	double per_lane;
};
constexpr Speed kSpeeds[] = {{1, "SDR", 2.5},  {2, "DDR", 5},	  {4, "QDR", 10},
			     {8, "FDR10", 10}, {16, "FDR", 14},	  {32, "EDR", 25},
			     {64, "HDR", 50},  {128, "NDR", 100}, {256, "XDR", 200}};

template <typename Table, typename Code>
auto find(const Table &table, Code code)
{
	return std::ranges::find_if(table, [&](const auto &row) { return row.code == code; });
}

} // namespace

std::string state_name(std::uint8_t state)
{
	return state < std::size(kStates) ? kStates[state] : "UNKNOWN";
}

std::string physical_state_name(std::uint8_t state)
{
	return state < std::size(kPhysicalStates) ? kPhysicalStates[state] : "UNKNOWN";
}

std::optional<std::string> width_name(std::uint8_t width)
{
	const auto found = find(kWidths, width);
	if (found == std::end(kWidths))
		return std::nullopt;
	return std::to_string(found->lanes) + "X";
}

std::optional<std::string> speed_name(std::uint16_t speed)
{
	const auto found = find(kSpeeds, speed);
	if (found == std::end(kSpeeds))
		return std::nullopt;
	return found->name;
}

std::optional<double> rate(std::uint8_t width, std::uint16_t speed)
{
	const auto lanes = find(kWidths, width);
	const auto lane = find(kSpeeds, speed);
	if (lanes == std::end(kWidths) || lane == std::end(kSpeeds))
		return std::nullopt;
	return lanes->lanes * lane->per_lane;
}

} // namespace pib::inline model

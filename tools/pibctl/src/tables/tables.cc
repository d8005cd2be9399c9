// SPDX-License-Identifier: GPL-2.0
#include "tables/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "tables/umad.h"

namespace pib::ctl {
namespace {

constexpr std::uint8_t kNowhere = 0xFF;
constexpr std::uint16_t kFirstGroup = 0xC000;
constexpr std::uint16_t kLastUnicast = kFirstGroup - 1;
constexpr unsigned int kRoutesOfBlock = 64;
constexpr unsigned int kGroupsOfBlock = 32;
constexpr unsigned int kPortsOfPosition = 16;
/// No subnet manager that is known gives more LIDs to groups; it bounds the time.
constexpr unsigned int kMostGroups = 1024;
constexpr unsigned int kPositionShift = 28;
/// Most HCAs that ask, one after another, while none gets an answer.
constexpr std::size_t kMostPaths = 4;
/// Time for all questions to a switch.
constexpr std::chrono::seconds kPatience{5};

std::uint16_t number_at(const SmpData &data, std::size_t at)
{
	return static_cast<std::uint16_t>(data[at] << 8 | data[at + 1]);
}

void add_route(std::vector<LidRoute> &routes, std::uint16_t lid, std::uint8_t port)
{
	if (port == kNowhere)
		return;
	if (!routes.empty() && routes.back().port == port && routes.back().last + 1 == lid)
		routes.back().last = lid;
	else
		routes.push_back({lid, lid, port});
}

Status read_routes(const AskSmp &ask, std::uint16_t top, std::vector<LidRoute> &routes)
{
	top = std::min(top, kLastUnicast);
	for (unsigned int block = 0; block <= top / kRoutesOfBlock; ++block) {
		const auto data = ask(PIB_SM_LFT, block);
		if (!data)
			return data.error();
		for (unsigned int i = 0; i < kRoutesOfBlock; ++i) {
			const unsigned int lid = block * kRoutesOfBlock + i;
			if (lid && lid <= top)
				add_route(routes, static_cast<std::uint16_t>(lid), (*data)[i]);
		}
	}
	return success();
}

using GroupPorts = std::map<std::uint16_t, std::vector<unsigned int>>;

void add_groups(const SmpData &data, unsigned int block, unsigned int position, GroupPorts &groups)
{
	for (unsigned int i = 0; i < kGroupsOfBlock; ++i) {
		const auto mask = number_at(data, 2 * i);
		const auto lid =
			static_cast<std::uint16_t>(kFirstGroup + block * kGroupsOfBlock + i);
		for (unsigned int bit = 0; bit < kPortsOfPosition; ++bit)
			if (mask >> bit & 1)
				groups[lid].push_back(position * kPortsOfPosition + bit);
	}
}

/// top: the last group of the table, 0 if it was not told.
Status read_groups(const AskSmp &ask, unsigned int count, std::uint32_t num_ports,
		   GroupPorts &groups)
{
	count = std::min(count, kMostGroups);
	for (unsigned int block = 0; block * kGroupsOfBlock < count; ++block)
		for (unsigned int position = 0; position <= num_ports / kPortsOfPosition;
		     ++position) {
			const auto data = ask(PIB_SM_MFT, position << kPositionShift | block);
			if (!data)
				return data.error();
			add_groups(*data, block, position, groups);
		}
	return success();
}

/// Number of groups in the table, by the top if there is one, else by its capacity.
unsigned int groups_of(const SmpData &info)
{
	constexpr std::size_t kCapacity = 4;
	constexpr std::size_t kTop = 18;
	const auto top = number_at(info, kTop);
	if (top == 0xFFFF)
		return 0;
	if (top >= kFirstGroup)
		return top - kFirstGroup + 1u;
	return number_at(info, kCapacity);
}

} // namespace

Result<Tables> read_tables(const AskSmp &ask, std::uint32_t num_ports)
{
	constexpr std::size_t kLinearTop = 6;
	const auto info = ask(PIB_SM_SWITCH_INFO, 0);
	if (!info)
		return info.error();
	Tables tables;
	GroupPorts groups;
	if (auto read = read_routes(ask, number_at(*info, kLinearTop), tables.routes); !read)
		return read.error();
	if (auto read = read_groups(ask, groups_of(*info), num_ports, groups); !read)
		return read.error();
	for (auto &[lid, ports] : groups)
		tables.groups.push_back({lid, std::move(ports)});
	return tables;
}

Result<TablesQuestion> plan_tables(const FabricSnapshot &fabric, const std::string &node)
{
	const auto found = std::ranges::find(fabric.switches, node, &Switch::name);
	if (found == fabric.switches.end())
		return Error{"there is no switch of this name", ENOENT};
	auto paths = find_paths(fabric, node);
	if (paths.empty())
		return Error{"no HCA here has a way to the switch", EHOSTUNREACH};
	paths.resize(std::min(paths.size(), kMostPaths));
	return TablesQuestion{node, found->node_guid.value_or(0), found->num_ports.value_or(0),
			      std::move(paths)};
}

AskSmp ask_until(AskSmp ask, std::chrono::steady_clock::time_point end, std::stop_token stop)
{
	return [=](pib_sm_attr attribute, std::uint32_t modifier) -> Result<SmpData> {
		if (stop.stop_requested())
			return Error{"the question was given up", EINTR};
		if (std::chrono::steady_clock::now() >= end)
			return Error{"the switch takes too long to tell its tables", ETIMEDOUT};
		return ask(attribute, modifier);
	};
}

Result<Tables> read_tables_of(const TablesQuestion &question, const AskSmp &ask)
{
	const auto check = [&]() -> Status {
		const auto info = ask(PIB_SM_NODE_INFO, 0);
		if (!info)
			return info.error();
		if (node_guid_in(*info) != question.guid)
			return Error{"another node answers in place of the switch: the cables have "
				     "changed",
				     EAGAIN};
		return success();
	};
	if (auto checked = check(); !checked)
		return checked.error();
	auto tables = read_tables(ask, question.num_ports);
	if (!tables)
		return tables;
	// They may have changed since.
	if (auto checked = check(); !checked)
		return checked.error();
	return tables;
}

namespace {

Result<Tables> ask_by(const DirectedPath &path, const TablesQuestion &question,
		      std::chrono::steady_clock::time_point end, const std::stop_token &stop)
{
	const auto umad = Umad::open(path.hca, path.ports.front());
	if (!umad)
		return umad.error();
	std::uint32_t transaction = 0;
	const auto ask = [&](pib_sm_attr attribute, std::uint32_t modifier) -> Result<SmpData> {
		const auto answer =
			umad->ask(make_smp_get(path.ports, attribute, modifier, ++transaction));
		return answer ? read_smp(*answer) : Result<SmpData>(answer.error());
	};
	return read_tables_of(question, ask_until(ask, end, stop));
}

} // namespace

Result<Tables> ask_tables(const TablesQuestion &question, std::stop_token stop)
{
	const auto end = std::chrono::steady_clock::now() + kPatience;
	Result<Tables> tables = Error{"no HCA here has a way to the switch", EHOSTUNREACH};
	for (const DirectedPath &path : question.paths)
		if (tables = ask_by(path, question, end, stop); tables)
			break;
	return tables;
}

} // namespace pib::ctl

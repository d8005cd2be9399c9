// SPDX-License-Identifier: GPL-2.0
#include "top/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "model/words/count.h"
#include "model/words/parse.h"

namespace pib::ctl {
namespace {

using Row = std::vector<std::string>;

struct Column {
	const char *title;
	std::size_t width;
	bool left = false;
};

struct Section {
	std::vector<Column> columns;
	std::vector<Row> rows;
};

/// Names of processes may hold what steers a terminal.
std::string printable(std::string_view text)
{
	std::string clean(text);
	std::ranges::replace_if(clean, [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
	return clean;
}

Section ports_section(const std::vector<PortRates> &ports)
{
	Section section;
	section.columns = {{"PORT", 16, true}, {"STATE", 6, true}, {"OUT B/s", 8},
			   {"IN B/s", 8},      {"OUT p/s", 8},	   {"IN p/s", 8},
			   {"WAITS", 6},       {"DROPS", 6},	   {"ERRORS", 6}};
	for (const PortRates &port : ports)
		section.rows.push_back(
			{format_end(port.end), port.state, short_number(port.flow.xmit_bytes),
			 short_number(port.flow.rcv_bytes), short_number(port.flow.xmit_packets),
			 short_number(port.flow.rcv_packets), short_number(port.flow.waits),
			 short_number(port.flow.discards), short_number(port.flow.errors)});
	return section;
}

std::string cable_state(const CableRates &cable)
{
	return cable.plugged ? cable.state : "PULLED";
}

Section cables_section(const std::vector<CableRates> &cables)
{
	Section section;
	section.columns = {{"CABLE", 16, true}, {"TO", 16, true}, {"STATE", 6, true},
			   {"OUT B/s", 8},	{"IN B/s", 8},	  {"OUT p/s", 8},
			   {"IN p/s", 8},	{"WAITS", 6},	  {"LOST", 6}};
	for (const CableRates &cable : cables)
		section.rows.push_back({format_end(cable.a), cable.far, cable_state(cable),
					short_number(cable.bytes_out), short_number(cable.bytes_in),
					short_number(cable.packets_out),
					short_number(cable.packets_in), short_number(cable.waits),
					short_number(cable.lost)});
	return section;
}

Section queue_pairs_section(const std::vector<QueuePairRates> &queue_pairs)
{
	Section section;
	section.columns = {
		{"QP", 16, true},      {"TYPE", 7, true}, {"STATE", 5, true}, {"PID", 7},
		{"SEND/s", 7},	       {"RECV/s", 7},	  {"OUT p/s", 7},     {"IN p/s", 7},
		{"RETRY", 6},	       {"TMOUT", 6},	  {"POSTED", 6},      {"OWNER", 15, true},
		{"WAITS FOR", 9, true}};
	for (const QueuePairRates &qp : queue_pairs)
		section.rows.push_back({fmt::format("{} {}", qp.hca, qp.qpn), qp.type, qp.state,
					qp.pid ? fmt::format("{}", *qp.pid) : "-",
					short_number(qp.sends), short_number(qp.receives),
					short_number(qp.packets_out), short_number(qp.packets_in),
					short_number(qp.retransmits), short_number(qp.timeouts),
					fmt::format("{}", qp.posted), qp.owner, qp.waits_for});
	return section;
}

std::string line_of(const std::vector<Column> &columns, const Row &row)
{
	std::string line;
	for (std::size_t i = 0; i < columns.size(); ++i) {
		const std::string_view gap = i ? " " : "";
		if (columns[i].left)
			line += fmt::format("{}{:<{}}", gap, printable(row[i]), columns[i].width);
		else
			line += fmt::format("{}{:>{}}", gap, row[i], columns[i].width);
	}
	while (line.ends_with(' '))
		line.pop_back();
	return line;
}

/// A name that is longer than its column moves none of the others.
void widen(Section &section)
{
	for (const Row &row : section.rows)
		for (std::size_t i = 0; i < row.size(); ++i)
			section.columns[i].width =
				std::max(section.columns[i].width, row[i].size());
}

std::vector<std::string> section_lines(Section &section, std::size_t room)
{
	widen(section);
	std::vector<std::string> lines;
	Row titles;
	for (const Column &column : section.columns)
		titles.emplace_back(column.title);
	lines.push_back(line_of(section.columns, titles));
	const std::size_t shown = std::min(section.rows.size(), room);
	for (std::size_t i = 0; i < shown; ++i)
		lines.push_back(line_of(section.columns, section.rows[i]));
	return lines;
}

/// Shares the rows for which there is room: each section gets as many, and rows that one does not
/// need go to the others.
std::vector<std::size_t> share_room(const std::vector<Section> &sections, std::size_t room)
{
	std::vector<std::size_t> shares(sections.size(), 0);
	for (bool given = true; given && room;) {
		given = false;
		for (std::size_t i = 0; i < sections.size() && room; ++i)
			if (shares[i] < sections[i].rows.size()) {
				++shares[i];
				--room;
				given = true;
			}
	}
	return shares;
}

std::vector<Section> sections_of(const Rates &rates, const Selection &selection)
{
	const bool others = !selection.pid && !selection.qpn;
	std::vector<Section> sections;
	if (selection.ports && others)
		sections.push_back(ports_section(rates.ports));
	if (selection.cables && others)
		sections.push_back(cables_section(rates.cables));
	if (selection.queue_pairs)
		sections.push_back(queue_pairs_section(rates.queue_pairs));
	return sections;
}

std::string heading(const Rates &rates, const Selection &selection)
{
	return fmt::format("{}, {}, {}; {:.1f} s, by {}{}",
			   format_count(rates.ports.size(), "port"),
			   format_count(rates.cables.size(), "cable"),
			   format_count(rates.queue_pairs.size(), "queue pair"), rates.seconds,
			   sort_name(selection.sort), selection.busy ? ", busy ones only" : "");
}

void cut(std::vector<std::string> &lines, const Extent &extent)
{
	if (extent.lines && lines.size() > *extent.lines)
		lines.resize(*extent.lines);
	if (extent.columns)
		for (std::string &line : lines)
			line.resize(std::min(line.size(), *extent.columns));
}

} // namespace

std::string short_number(double number)
{
	constexpr std::array kUnits = {"", "k", "M", "G", "T", "P"};
	std::size_t unit = 0;
	for (; number >= 999.5 && unit + 1 < kUnits.size(); ++unit)
		number /= 1000;
	// A rate below one a second must not look like 0.
	const bool fine = number < 9.95 && (unit || (number > 0 && number < 0.95));
	return fmt::format("{:.{}f}{}", number, fine ? 1 : 0, kUnits[unit]);
}

std::vector<std::string> format_rates(const Rates &rates, const Selection &selection,
				      const Extent &extent)
{
	std::vector<Section> sections = sections_of(rates, selection);
	// Above each section an empty line and its titles.
	const std::size_t taken = 1 + 2 * sections.size();
	const std::size_t room = !extent.lines ? std::numeric_limits<std::size_t>::max()
					       : *extent.lines - std::min(*extent.lines, taken);
	const auto shares = share_room(sections, room);
	std::vector<std::string> lines = {heading(rates, selection)};
	for (std::size_t i = 0; i < sections.size(); ++i) {
		lines.emplace_back();
		std::ranges::move(section_lines(sections[i], shares[i]), std::back_inserter(lines));
	}
	cut(lines, extent);
	return lines;
}

} // namespace pib::ctl

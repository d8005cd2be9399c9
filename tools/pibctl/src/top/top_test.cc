// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>
#include <pty.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "host/screen.h"
#include "top/json.h"
#include "top/select.h"
#include "top/table.h"
#include "watch/fake_looks.h"

namespace pib::ctl {
namespace {

using Json = nlohmann::json;
using Names = std::vector<std::string>;

PortRates port(const char *node, std::uint32_t number, double bytes, double packets)
{
	PortRates made;
	made.end = {node, number};
	made.state = "ACTIVE";
	made.flow.xmit_bytes = bytes;
	made.flow.rcv_packets = packets;
	return made;
}

QueuePairRates queue_pair(std::uint64_t qpn, std::uint32_t pid, double retries)
{
	QueuePairRates made;
	made.hca = "pib0";
	made.qpn = qpn;
	made.pid = pid;
	made.port = 1;
	made.owner = "evil\x1b[2J";
	made.retransmits = retries;
	return made;
}

Rates some()
{
	Rates rates;
	rates.seconds = 1;
	rates.ports = {port("pib0", 1, 10, 5), port("pib0", 2, 0, 0), port("sw0", 2, 30, 1)};
	CableRates cable;
	cable.a = {"pib0", 1};
	cable.b = End{"sw0", 2};
	cable.far = "sw0/2";
	cable.state = "ACTIVE";
	cable.bytes_out = 2.5e6;
	rates.cables = {cable};
	rates.queue_pairs = {queue_pair(17, 100, 1), queue_pair(18, 200, 9)};
	return rates;
}

Names port_names(const Selection &selection)
{
	Names names;
	for (const PortRates &row : select(some(), selection).ports)
		names.push_back(row.end.node + "/" + std::to_string(row.end.port));
	return names;
}

std::vector<std::uint64_t> numbers(const Selection &selection)
{
	std::vector<std::uint64_t> all;
	for (const QueuePairRates &row : select(some(), selection).queue_pairs)
		all.push_back(row.qpn);
	return all;
}

TEST(Select, TheMostFirst)
{
	Selection selection;
	EXPECT_EQ(port_names(selection), (Names{"sw0/2", "pib0/1", "pib0/2"}));
	selection.sort = SortKey::kPackets;
	EXPECT_EQ(port_names(selection), (Names{"pib0/1", "sw0/2", "pib0/2"}));
	selection.sort = SortKey::kName;
	EXPECT_EQ(port_names(selection), (Names{"pib0/1", "pib0/2", "sw0/2"}));
	selection.sort = SortKey::kRetries;
	EXPECT_EQ(numbers(selection), (std::vector<std::uint64_t>{18, 17}));
}

TEST(Select, ByNodeAndPort)
{
	Selection selection;
	selection.node = "pib0";
	EXPECT_EQ(port_names(selection), (Names{"pib0/1", "pib0/2"}));
	selection.port = 2;
	EXPECT_EQ(port_names(selection), (Names{"pib0/2"}));
	EXPECT_TRUE(select(some(), selection).cables.empty());
	EXPECT_TRUE(numbers(selection).empty());
	selection.node = "sw0";
	EXPECT_EQ(select(some(), selection).cables.size(), 1U);
}

TEST(Select, AProcessHasQueuePairsOnly)
{
	Selection selection;
	selection.pid = 200;
	EXPECT_TRUE(port_names(selection).empty());
	EXPECT_EQ(numbers(selection), (std::vector<std::uint64_t>{18}));
	selection.qpn = 17;
	EXPECT_TRUE(numbers(selection).empty());
}

TEST(Select, BusyOnes)
{
	Selection selection;
	selection.busy = true;
	EXPECT_EQ(port_names(selection), (Names{"sw0/2", "pib0/1"}));
	EXPECT_TRUE(select(some(), selection).cables.empty());
	selection.ports = false;
	EXPECT_TRUE(port_names(selection).empty());
}

TEST(Select, NamesThatAreNotThereAreRefused)
{
	const FabricSnapshot fabric = fake::Fabric().fabric;
	Selection selection;
	EXPECT_TRUE(check_names(fabric, selection));
	for (const char *name : {"pib0", "sw1"}) {
		selection.node = name;
		EXPECT_TRUE(check_names(fabric, selection)) << name;
	}
	selection.port = 4;
	EXPECT_TRUE(check_names(fabric, selection));
	selection.port = 5;
	EXPECT_EQ(check_names(fabric, selection).error().text, "'sw1' has no port 5");
	selection.node = "nowhere";
	EXPECT_EQ(check_names(fabric, selection).error().text,
		  "no HCA and no switch 'nowhere' in this network namespace");
}

TEST(Select, KeysAndWords)
{
	EXPECT_EQ(*parse_sort("waits"), SortKey::kWaits);
	EXPECT_EQ(sort_of_letter('w'), SortKey::kWaits);
	EXPECT_FALSE(sort_of_letter('q'));
	EXPECT_FALSE(parse_sort("size"));
}

TEST(Table, ShortNumbers)
{
	EXPECT_EQ(short_number(0), "0");
	EXPECT_EQ(short_number(0.25), "0.2");
	EXPECT_EQ(short_number(3), "3");
	EXPECT_EQ(short_number(999), "999");
	EXPECT_EQ(short_number(999.7), "1.0k");
	EXPECT_EQ(short_number(12345), "12k");
	EXPECT_EQ(short_number(2.5e6), "2.5M");
	EXPECT_EQ(short_number(3e18), "3000P");
}

TEST(Table, FitsIntoTheWindow)
{
	const auto lines = format_rates(select(some(), {}), {}, {40, 9});
	EXPECT_EQ(lines.size(), 9U);
	for (const std::string &line : lines)
		EXPECT_LE(line.size(), 40U);
	// The room for two rows is shared: a port and the cable.
	EXPECT_TRUE(lines[3].starts_with("sw0/2")) << lines[3];
	EXPECT_TRUE(lines[6].starts_with("pib0/1")) << lines[6];
	EXPECT_EQ(format_rates(some(), {}, {10, 1}).size(), 1U);
	EXPECT_TRUE(format_rates(some(), {}, {10, 0}).empty());
}

TEST(Table, ShowsAllWithoutAWindow)
{
	const auto lines = format_rates(some(), {}, {});
	EXPECT_EQ(lines.size(), 1U + 3 * 2 + 3 + 1 + 2);
	EXPECT_TRUE(lines[0].starts_with("3 ports, 1 cable, 2 queue pairs; ")) << lines[0];
	EXPECT_NE(lines[8].find("2.5M"), std::string::npos) << lines[8];
}

TEST(Table, TheNameOfAProcessDoesNotSteerTheTerminal)
{
	for (const std::string &line : format_rates(some(), {}, {}))
		EXPECT_EQ(line.find('\x1b'), std::string::npos);
}

TEST(Table, OnlyTheKindsThatAreWanted)
{
	Selection selection;
	selection.ports = selection.cables = false;
	const auto lines = format_rates(select(some(), selection), selection, {});
	ASSERT_EQ(lines.size(), 5U);
	EXPECT_TRUE(lines[2].starts_with("QP ")) << lines[2];
}

TEST(TopJson, IsOneLine)
{
	const std::string line = rates_json(some(), 12.3456);
	EXPECT_EQ(line.find('\n'), std::string::npos);
	const Json json = Json::parse(line);
	EXPECT_EQ(json.at("time"), 12.346);
	EXPECT_EQ(json.at("ports").at(0).at("node"), "pib0");
	EXPECT_EQ(json.at("ports").at(0).at("xmit_bytes"), 10);
	EXPECT_EQ(json.at("cables").at(0).at("b"), (Json{{"node", "sw0"}, {"port", 2}}));
	EXPECT_EQ(json.at("cables").at(0).at("bytes_out"), 2.5e6);
	EXPECT_EQ(json.at("qps").at(1).at("retransmits"), 9);
	EXPECT_FALSE(json.at("qps").at(0).contains("waits_for"));
}

TEST(TopJson, ANameOfAnyBytes)
{
	Rates rates = some();
	rates.queue_pairs[0].owner = "a\xff\"b";
	EXPECT_EQ(Json::parse(rates_json(rates, 0)).at("qps").at(0).at("owner"), "a\ufffd\"b");
}

/// A terminal in place of standard input and output, as long as it lives.
class Terminal {
public:
	Terminal()
	{
		int theirs = -1;
		EXPECT_EQ(openpty(&ours_, &theirs, nullptr, nullptr, nullptr), 0);
		for (const int file : {STDIN_FILENO, STDOUT_FILENO})
			dup2(theirs, file);
		close(theirs);
	}
	~Terminal()
	{
		for (const int file : {STDIN_FILENO, STDOUT_FILENO}) {
			dup2(before_[file], file);
			close(before_[file]);
		}
		close(ours_);
	}
	Terminal(const Terminal &) = delete;
	Terminal &operator=(const Terminal &) = delete;

	void press(char key) const { EXPECT_EQ(write(ours_, &key, 1), 1); }
	static termios settings()
	{
		termios now{};
		tcgetattr(STDIN_FILENO, &now);
		return now;
	}

private:
	int ours_ = -1;
	std::array<int, 2> before_ = {dup(STDIN_FILENO), dup(STDOUT_FILENO)};
};

TEST(Screen, NoKeyStopsOrKillsIt)
{
	const Terminal terminal;
	const Interruption interruption;
	const Screen screen;
	const termios raw = Terminal::settings();
	for (const int key : {VSUSP, VQUIT})
		EXPECT_EQ(raw.c_cc[key], _POSIX_VDISABLE);
	terminal.press('b');
	EXPECT_EQ(screen.key(60000, interruption), 'b');
	terminal.press(0x1C);
	EXPECT_EQ(screen.key(60000, interruption), 'q');
}

TEST(Screen, EachLineIsErasedBeforeItIsWritten)
{
	EXPECT_EQ(screen_text({"a", "b"}), "\033[H\033[Ka\r\n\033[Kb\r\n\033[J");
}

} // namespace
} // namespace pib::ctl

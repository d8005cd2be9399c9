// SPDX-License-Identifier: GPL-2.0
#include "top/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <tuple>

namespace pib::ctl {
namespace {

constexpr std::array<std::string_view, 6> kSortNames = {"bytes",   "packets", "waits",
							"retries", "errors",  "name"};

bool has(const Selection &selection, const std::string &node, std::optional<std::uint64_t> port)
{
	return selection.node.empty() ||
	       (selection.node == node && (!selection.port || selection.port == port));
}

bool has(const Selection &selection, const End &end)
{
	return has(selection, end.node, end.port);
}

bool has(const Selection &selection, const CableRates &cable)
{
	return has(selection, cable.a) || (cable.b && has(selection, *cable.b));
}

bool has(const Selection &selection, const QueuePairRates &qp)
{
	return has(selection, qp.hca, qp.port) && (!selection.pid || selection.pid == qp.pid) &&
	       (!selection.qpn || selection.qpn == qp.qpn);
}

bool is_busy(const PortRates &port)
{
	const PortFlow &flow = port.flow;
	return flow.xmit_packets + flow.rcv_packets + flow.waits + flow.discards + flow.errors > 0;
}

bool is_busy(const CableRates &cable)
{
	return cable.packets_out + cable.packets_in + cable.waits + cable.lost > 0;
}

bool is_busy(const QueuePairRates &qp)
{
	return qp.sends + qp.receives + qp.packets_out + qp.packets_in + qp.retransmits +
			       qp.timeouts >
		       0 ||
	       qp.posted;
}

// The amount by which a key sorts. Objects that do not have it are equal.

double amount(const PortRates &port, SortKey key)
{
	const PortFlow &flow = port.flow;
	switch (key) {
	case SortKey::kBytes: return flow.xmit_bytes + flow.rcv_bytes;
	case SortKey::kPackets: return flow.xmit_packets + flow.rcv_packets;
	case SortKey::kWaits: return flow.waits;
	case SortKey::kRetries:
	case SortKey::kErrors: return flow.discards + flow.errors;
	default: return 0;
	}
}

double amount(const CableRates &cable, SortKey key)
{
	switch (key) {
	case SortKey::kBytes: return cable.bytes_out + cable.bytes_in;
	case SortKey::kPackets: return cable.packets_out + cable.packets_in;
	case SortKey::kWaits: return cable.waits;
	case SortKey::kRetries:
	case SortKey::kErrors: return cable.lost;
	default: return 0;
	}
}

double amount(const QueuePairRates &qp, SortKey key)
{
	switch (key) {
	case SortKey::kBytes:
	case SortKey::kPackets: return qp.packets_out + qp.packets_in;
	case SortKey::kWaits: return qp.posted ? 1 + static_cast<double>(qp.posted) : 0;
	case SortKey::kRetries:
	case SortKey::kErrors: return qp.retransmits + qp.timeouts;
	default: return 0;
	}
}

auto name(const PortRates &port)
{
	return std::tie(port.end.node, port.end.port);
}
auto name(const CableRates &cable)
{
	return std::tie(cable.a.node, cable.a.port);
}
auto name(const QueuePairRates &qp)
{
	return std::tie(qp.hca, qp.qpn);
}

template <typename Row>
bool before(const Row &a, const Row &b, SortKey key)
{
	const double of_a = amount(a, key);
	const double of_b = amount(b, key);
	return of_a != of_b ? of_a > of_b : name(a) < name(b);
}

bool has(const Selection &selection, const PortRates &port)
{
	return has(selection, port.end);
}

template <typename Row>
void choose(std::vector<Row> &rows, bool wanted, const Selection &selection)
{
	std::erase_if(rows, [&](const Row &row) {
		return !wanted || !has(selection, row) || (selection.busy && !is_busy(row));
	});
	std::ranges::stable_sort(
		rows, [&](const Row &a, const Row &b) { return before(a, b, selection.sort); });
}

/// The ports of a node; null if there is none of this name.
const std::vector<Port> *ports_of(const FabricSnapshot &fabric, const std::string &name)
{
	for (const Hca &node : fabric.hcas)
		if (node.name == name)
			return &node.ports;
	for (const Switch &node : fabric.switches)
		if (node.name == name)
			return &node.ports;
	return nullptr;
}

} // namespace

Status check_names(const FabricSnapshot &fabric, const Selection &selection)
{
	if (selection.node.empty())
		return success();
	const auto *ports = ports_of(fabric, selection.node);
	if (!ports)
		return Error{fmt::format("no HCA and no switch '{}' in this network namespace",
					 selection.node),
			     ENOENT};
	if (selection.port &&
	    std::ranges::find(*ports, *selection.port, &Port::number) == ports->end())
		return Error{fmt::format("'{}' has no port {}", selection.node, *selection.port),
			     ENOENT};
	return success();
}

std::string_view sort_name(SortKey key)
{
	return kSortNames[static_cast<std::size_t>(key)];
}

Result<SortKey> parse_sort(const std::string &word)
{
	const auto found = std::ranges::find(kSortNames, word);
	if (found == kSortNames.end())
		return usage_error(fmt::format("'{}' is nothing to sort by; accepted: {}", word,
					       fmt::join(kSortNames, ", ")));
	return static_cast<SortKey>(found - kSortNames.begin());
}

std::optional<SortKey> sort_of_letter(char letter)
{
	const auto found = std::ranges::find_if(
		kSortNames, [&](std::string_view each) { return each.front() == letter; });
	if (found == kSortNames.end())
		return std::nullopt;
	return static_cast<SortKey>(found - kSortNames.begin());
}

Rates select(Rates rates, const Selection &selection)
{
	// A process and a number mean queue pairs.
	const bool others = !selection.pid && !selection.qpn;
	choose(rates.ports, selection.ports && others, selection);
	choose(rates.cables, selection.cables && others, selection);
	choose(rates.queue_pairs, selection.queue_pairs, selection);
	return rates;
}

} // namespace pib::ctl

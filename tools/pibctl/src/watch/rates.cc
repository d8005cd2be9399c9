// SPDX-License-Identifier: GPL-2.0
#include "watch/rates.h"

#include <fmt/format.h>
#include <linux/pib.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "fabric/ports.h"
#include "inspect/words.h"
#include "model/words/ib_names.h"
#include "model/words/parse.h"

namespace pib::ctl {
namespace {

constexpr unsigned int kPsnBits = 24;
constexpr unsigned int kIndexBits = 32;

double per_second(std::uint64_t amount, double seconds)
{
	return seconds > 0 ? static_cast<double>(amount) / seconds : 0;
}

/// The flow through ports between two looks.
class Flows {
public:
	Flows(const Look &before, const Look &now) :
		before_(before.fabric), now_(now.fabric), seconds_(seconds_between(before, now))
	{
	}

	PortFlow of(const End &end) const
	{
		const auto rate = [&](std::initializer_list<const char *> names) {
			std::uint64_t sum = 0;
			for (const char *name : names)
				sum += counted(counter_of(before_.at(end).counters, name),
					       counter_of(now_.at(end).counters, name));
			return per_second(sum, seconds_);
		};
		PortFlow flow;
		flow.xmit_bytes = rate({"port_xmit_bytes"});
		flow.rcv_bytes = rate({"port_rcv_bytes"});
		flow.xmit_packets = rate({"port_xmit_packets"});
		flow.rcv_packets = rate({"port_rcv_packets"});
		flow.waits = rate({"port_xmit_wait"});
		flow.discards = rate({"port_xmit_discards", "VL15_dropped", "qp1_dropped",
				      "port_xmit_constraint_errors"});
		flow.errors = rate({"port_rcv_errors", "port_rcv_switch_relay_errors",
				    "port_rcv_constraint_errors"});
		return flow;
	}

	std::string state(const End &end) const
	{
		return state_name(now_.at(end).state.value_or(0));
	}
	/// That of the end which is further behind.
	std::string state(const End &a, const End &b) const
	{
		return state_name(
			std::min(now_.at(a).state.value_or(0), now_.at(b).state.value_or(0)));
	}
	double seconds() const { return seconds_; }

private:
	PortTable before_;
	PortTable now_;
	double seconds_;
};

template <typename Node>
void add_ports(const std::vector<Node> &nodes, const Flows &flows, std::vector<PortRates> &ports)
{
	for (const Node &node : nodes)
		for (const Port &port : node.ports) {
			const End end{node.name, port.number};
			ports.push_back({end, flows.state(end), flows.of(end)});
		}
}

/// Packets that bad cables have lost or damaged, by cable.
class Losses {
public:
	explicit Losses(const FabricSnapshot &fabric)
	{
		for (const Link &link : fabric.links)
			if (link.faults)
				losses_[format_end(link.a)] = sum(*link.faults);
	}
	std::uint64_t at(const End &a) const
	{
		const auto found = losses_.find(format_end(a));
		return found == losses_.end() ? 0 : found->second;
	}

private:
	static std::uint64_t sum(const Faults &faults)
	{
		std::uint64_t lost = 0;
		for (const FaultCounts &counts : faults.counts)
			lost += counts.lost + counts.damaged;
		return lost;
	}

	std::unordered_map<std::string, std::uint64_t> losses_;
};

/// True if the cable harms packets.
bool harms(const Faults &faults)
{
	return faults.loss || faults.duplicate || faults.reorder || faults.bit_errors ||
	       faults.flap_down;
}

std::string far_name(const Link &link)
{
	if (link.b)
		return format_end(*link.b);
	if (!link.udp || !link.udp->peer)
		return "?";
	return format_endpoint(*link.udp->peer);
}

CableRates cable_of(const Link &link, const Flows &flows)
{
	CableRates cable;
	const PortFlow a = flows.of(link.a);
	cable.a = link.a;
	cable.b = link.b;
	cable.far = far_name(link);
	cable.state = link.b ? flows.state(link.a, *link.b) : flows.state(link.a);
	cable.plugged = link.plugged.value_or(true);
	cable.faulty = link.faults && harms(*link.faults);
	cable.bytes_out = a.xmit_bytes;
	cable.packets_out = a.xmit_packets;
	cable.waits = a.waits;
	// Packets that the far end has sent may be lost before they come to this one.
	const PortFlow b = link.b ? flows.of(*link.b) : PortFlow{};
	cable.bytes_in = link.b ? b.xmit_bytes : a.rcv_bytes;
	cable.packets_in = link.b ? b.xmit_packets : a.rcv_packets;
	cable.waits += b.waits;
	return cable;
}

void add_cables(const Look &before, const Look &now, const Flows &flows,
		std::vector<CableRates> &cables)
{
	const Losses lost_before(before.fabric);
	const Losses lost_now(now.fabric);
	for (const Link &link : now.fabric.links) {
		CableRates cable = cable_of(link, flows);
		cable.lost = per_second(counted(lost_before.at(link.a), lost_now.at(link.a)),
					flows.seconds());
		cables.push_back(std::move(cable));
	}
}

/// A queue pair at two times; before: null if it is new.
class Advance {
public:
	Advance(const VerbsObject *before, const VerbsObject &now, double seconds) :
		before_(before), now_(now), seconds_(seconds)
	{
	}

	/// Numbers that begin again after so many bits; those of another state are not compared.
	double number(std::uint16_t attribute, unsigned int bits) const
	{
		const auto now = now_.fact(attribute);
		if (!before_ || !now || before_->fact(PIB_O_STATE) != now_.fact(PIB_O_STATE))
			return 0;
		const auto before = before_->fact(attribute);
		if (!before)
			return 0;
		return per_second(moved(*before, *now, bits), seconds_);
	}
	double count(std::uint16_t attribute) const
	{
		const std::uint64_t before = before_ ? before_->fact(attribute).value_or(0) : 0;
		return per_second(counted(before, now_.fact(attribute).value_or(0)), seconds_);
	}

private:
	const VerbsObject *before_;
	const VerbsObject &now_;
	double seconds_;
};

std::string fact_text(const VerbsObject &object, std::uint16_t attribute)
{
	const auto value = object.fact(attribute);
	if (!value)
		return "";
	return fact_words(object, {attribute, *value}).value_or(fmt::format("{}", *value));
}

QueuePairRates queue_pair_of(const VerbsObject &object, const Advance &advance)
{
	QueuePairRates qp;
	qp.hca = object.hca;
	qp.qpn = object.fact(PIB_O_QPN).value_or(0);
	qp.type = fact_text(object, PIB_O_TYPE);
	qp.state = fact_text(object, PIB_O_STATE);
	qp.pid = object.pid;
	qp.owner = object.uid ? object.owner : fmt::format("[{}]", object.owner);
	qp.port = object.fact(PIB_O_PORT);
	qp.sends = advance.number(PIB_O_SQ_DONE, kIndexBits);
	qp.receives = advance.number(PIB_O_RQ_INDEX, kIndexBits);
	qp.packets_out = object.fact(PIB_O_UNA_PSN) ? advance.number(PIB_O_UNA_PSN, kPsnBits)
						    : advance.number(PIB_O_NEXT_PSN, kPsnBits);
	qp.packets_in = advance.number(PIB_O_EXPECTED_PSN, kPsnBits);
	qp.retransmits = advance.count(PIB_O_RETRANSMITS);
	qp.timeouts = advance.count(PIB_O_TIMEOUTS);
	qp.posted =
		object.fact(PIB_O_SQ_POSTED).value_or(0) + object.fact(PIB_O_SQ_UNREAD).value_or(0);
	qp.waits_for = waits_for(object);
	return qp;
}

void add_queue_pairs(const Look &before, const Look &now, std::vector<QueuePairRates> &queue_pairs)
{
	std::map<std::pair<std::string_view, std::uint64_t>, const VerbsObject *> earlier;
	for (const VerbsObject &object : before.queue_pairs)
		earlier.emplace(std::pair{std::string_view(object.hca), object.id}, &object);
	for (const VerbsObject &object : now.queue_pairs) {
		const auto found = earlier.find({object.hca, object.id});
		const VerbsObject *was = found == earlier.end() ? nullptr : found->second;
		queue_pairs.push_back(
			queue_pair_of(object, {was, object, seconds_between(before, now)}));
	}
}

} // namespace

std::uint64_t counted(std::uint64_t before, std::uint64_t now)
{
	return now >= before ? now - before : now;
}

std::uint64_t moved(std::uint64_t before, std::uint64_t now, unsigned int bits)
{
	return (now - before) & ((std::uint64_t{1} << bits) - 1);
}

Rates compare(const Look &before, const Look &now)
{
	Rates rates;
	const Flows flows(before, now);
	rates.seconds = flows.seconds();
	add_ports(now.fabric.hcas, flows, rates.ports);
	add_ports(now.fabric.switches, flows, rates.ports);
	add_cables(before, now, flows, rates.cables);
	add_queue_pairs(before, now, rates.queue_pairs);
	return rates;
}

} // namespace pib::ctl

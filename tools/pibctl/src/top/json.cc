// SPDX-License-Identifier: GPL-2.0
#include "top/json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace pib::ctl {
namespace {

using Json = nlohmann::ordered_json;

/// Three places are enough for rates by the second.
double rounded(double value)
{
	return std::round(value * 1000) / 1000;
}

Json end_json(const End &end)
{
	return {{"node", end.node}, {"port", end.port}};
}

Json port_json(const PortRates &port)
{
	Json json = end_json(port.end);
	json["state"] = port.state;
	json["xmit_bytes"] = rounded(port.flow.xmit_bytes);
	json["rcv_bytes"] = rounded(port.flow.rcv_bytes);
	json["xmit_packets"] = rounded(port.flow.xmit_packets);
	json["rcv_packets"] = rounded(port.flow.rcv_packets);
	json["waits"] = rounded(port.flow.waits);
	json["discards"] = rounded(port.flow.discards);
	json["errors"] = rounded(port.flow.errors);
	return json;
}

Json cable_json(const CableRates &cable)
{
	Json json;
	json["a"] = end_json(cable.a);
	if (cable.b)
		json["b"] = end_json(*cable.b);
	else
		json["address"] = cable.far;
	json["state"] = cable.state;
	json["plugged"] = cable.plugged;
	json["bytes_out"] = rounded(cable.bytes_out);
	json["bytes_in"] = rounded(cable.bytes_in);
	json["packets_out"] = rounded(cable.packets_out);
	json["packets_in"] = rounded(cable.packets_in);
	json["waits"] = rounded(cable.waits);
	json["lost"] = rounded(cable.lost);
	return json;
}

Json queue_pair_json(const QueuePairRates &qp)
{
	Json json;
	json["hca"] = qp.hca;
	json["qpn"] = qp.qpn;
	json["type"] = qp.type;
	json["state"] = qp.state;
	json["owner"] = qp.owner;
	if (qp.pid)
		json["pid"] = *qp.pid;
	json["sends"] = rounded(qp.sends);
	json["receives"] = rounded(qp.receives);
	json["packets_out"] = rounded(qp.packets_out);
	json["packets_in"] = rounded(qp.packets_in);
	json["retransmits"] = rounded(qp.retransmits);
	json["timeouts"] = rounded(qp.timeouts);
	json["posted"] = qp.posted;
	if (!qp.waits_for.empty())
		json["waits_for"] = qp.waits_for;
	return json;
}

template <typename Row>
Json list(const std::vector<Row> &rows, Json (*row_json)(const Row &))
{
	Json json = Json::array();
	for (const Row &row : rows)
		json.push_back(row_json(row));
	return json;
}

} // namespace

std::string rates_json(const Rates &rates, double time)
{
	Json json;
	json["time"] = rounded(time);
	json["seconds"] = rounded(rates.seconds);
	json["ports"] = list(rates.ports, port_json);
	json["cables"] = list(rates.cables, cable_json);
	json["qps"] = list(rates.queue_pairs, queue_pair_json);
	// A process may have any bytes as its name.
	return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

} // namespace pib::ctl

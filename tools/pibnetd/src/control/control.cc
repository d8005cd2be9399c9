// SPDX-License-Identifier: GPL-2.0
#include "control/control.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "model/words/counter_names.h"
#include "model/words/parse.h"
#include "model/show/show.h"

namespace pib::netd {
namespace {

using Json = nlohmann::ordered_json;

#include "model/words/fault_max.inc"

struct Request {
	Core &core;
	const ControlHooks &hooks;
	const Json &body;
	std::uint64_t now;
};

model::Counters counters_of(const pib_counts &c)
{
	const std::pair<pib_c_attr, std::uint64_t> values[] = {
#define PORT_COUNTER(name, field) {PIB_C_##name, c.field},
		PIB_PORT_COUNTERS(PORT_COUNTER)
#undef PORT_COUNTER
	};
	model::Counters counters;
	for (const auto &name : model::port_counter_names())
		for (const auto &[attribute, value] : values)
			if (attribute == name.attribute)
				counters.push_back({name.name, value});
	return counters;
}

model::Port port_model(const Port &port)
{
	model::Port model;
	const pib_port &p = port.p;
	model.number = p.num;
	model.guid = p.guid;
	model.state = p.state;
	model.physical_state = p.phys;
	model.lid = p.lid;
	model.lmc = p.lmc;
	model.sm_lid = p.sm_lid;
	model.mtu = pib_mtu_bytes(p.nbr_mtu);
	model.width = p.width_act;
	model.speed = pib_port_speed(&p);
	model.counters = counters_of(port.counts);
	return model;
}

std::vector<model::Switch> switch_models(const Core &core)
{
	std::vector<model::Switch> models;
	for (const auto &node : core.switches()) {
		model::Switch &model = models.emplace_back();
		model.name = node->config.name;
		model.description = std::string(node->node.desc);
		model.node_guid = node->node.guid;
		model.num_ports = node->node.num_ports;
		for (const auto &port : node->ports)
			model.ports.push_back(port_model(*port));
	}
	return models;
}

model::Endpoint endpoint(const Address &address)
{
	model::Endpoint model;
	model.v6 = address.family == AF_INET6;
	model.address = address.bytes;
	model.port = address.port;
	return model;
}

std::vector<model::VlWindow> vl_windows(const Link &link, std::uint64_t now)
{
	std::vector<model::VlWindow> windows;
	for (std::uint8_t vl = 0; link.windows && vl < PIB_CREDIT_VLS; vl++) {
		pib_credit_view view;
		if (pib_credits_view(&link.credits, vl, now, &view))
			windows.push_back(
				{vl, view.window, view.on_way, view.waits, view.unbounded});
	}
	return windows;
}

model::UdpLink udp_model(const Link &link, std::uint64_t now)
{
	model::UdpLink model;
	const pib_session &f = link.session;
	model.netdev = "udp";
	model.peer = endpoint(link.path.remote);
	model.local_id = f.local_id;
	model.remote_id = f.remote_id;
	model.up = f.plugged;
	model.restarts = f.restarts;
	if (f.last_heard)
		model.last_heard_ms =
			static_cast<std::uint32_t>((now - f.last_heard) / PIB_NSEC_PER_MSEC);
	if (const char *refusal = link.refusal(now))
		model.refusal = refusal;
	if (!link.established())
		return model;
	model.second_key = f.peer_key != f.key;
	if (const std::uint32_t size = pib_pmtu_size(&f.pmtu))
		model.path_mtu = size;
	model.peer_node_guid = f.peer_node_guid;
	model.peer_port = f.peer_port_num;
	model.peer_description = std::string(f.peer_desc);
	model.windows = link.windows;
	model.vl_windows = vl_windows(link, now);
	return model;
}

model::End end_of(const Port &port)
{
	return {port.owner->config.name, port.p.num};
}

void add_arrivals(model::Faults &model, model::End to, const std::optional<Pipe> &pipe)
{
	if (!pipe)
		return;
	const pib_fault_counts &c = pipe->counts();
	model.counts.push_back(
		{std::move(to), c.packets, c.lost, c.damaged, c.duplicated, c.reordered});
}

model::Faults faults_model(const Port &port)
{
	const Faults &f = port.faults;
	model::Faults model;
	model.seed = f.config.seed;
	model.loss = f.config.loss;
	model.duplicate = f.config.duplicate;
	model.reorder = f.config.reorder;
	model.bit_errors = f.config.bit_errors;
	model.latency = f.config.latency;
	model.rate = f.config.rate;
	model.flap_up = f.flap_up;
	model.flap_down = f.flap_down;
	add_arrivals(model, end_of(port), f.arrival);
	if (port.cable) {
		add_arrivals(model, end_of(*port.cable), port.cable->faults.arrival);
	} else if (port.link) {
		const pib_session &peer = port.link->session;
		add_arrivals(model, {std::string(peer.peer_desc), peer.peer_port_num}, f.departure);
	}
	return model;
}

std::vector<model::Link> link_models(const Core &core, std::uint64_t now)
{
	std::vector<model::Link> models;
	std::set<const Port *> told;
	for (const auto &node : core.switches())
		for (const auto &port : node->ports) {
			// A cable inside is told once, by the end that comes first.
			const bool cable = port->cable && !told.contains(port->cable);
			if (!port->link && !cable)
				continue;
			told.insert(port.get());
			model::Link &model = models.emplace_back();
			model.a = end_of(*port);
			model.plugged = !port->cable_out();
			if (port->faults.any())
				model.faults = faults_model(*port);
			if (cable) {
				model.b = end_of(*port->cable);
				model.plugged = !port->cable_out() && !port->cable->cable_out();
			} else {
				model.udp = udp_model(*port->link, now);
				model.automatic = port->link->kind == LinkKind::accepted;
			}
		}
	return models;
}

/// The JSON that pibctl would print.
Json printed(const std::function<void(model::Output &)> &show)
{
	const auto out = model::make_json_output(false);
	show(*out);
	return Json::parse(out->str());
}

Result<Json> show(const Request &request)
{
	return printed([&](auto &out) { model::show_switches(out, switch_models(request.core)); });
}

Result<Json> links(const Request &request)
{
	return printed([&](auto &out) {
		const auto models = link_models(request.core, request.now);
		model::show_links(out, models);
		model::show_peers(out, models);
	});
}

Result<Json> counters(const Request &request)
{
	return printed([&](auto &out) {
		const auto models = switch_models(request.core);
		std::vector<model::CountedPort> ports;
		for (const auto &node : models)
			for (const auto &port : node.ports)
				ports.push_back({{node.name, port.number}, &port});
		model::show_counters(out, ports);
	});
}

/// All sockets count together; an uplink for each place where the daemon listens would count twice.
Result<Json> uplinks(const Request &request)
{
	return printed([&](auto &out) {
		model::Uplink model;
		const auto listen = request.hooks.listen();
		for (const Address &address : listen)
			model.netdev += (model.netdev.empty() ? "" : ",") + format_address(address);
		if (!listen.empty())
			model.udp_port = listen.front().port;
		model.ecn = request.core.data_class().ecn;
		model.dscp = request.core.data_class().dscp;
		model.windows = request.core.windows();
		for (const auto &name : model::uplink_counter_names())
			if (name.attribute < request.core.stats().counts.size())
				model.counters.push_back(
					{name.name, request.core.stats().counts[name.attribute]});
		model::show_uplinks(out, {model});
	});
}

// ---- what changes something ----

Result<Port *> named_port(const Request &request)
{
	if (!request.body.contains("port") || !request.body["port"].is_string())
		return Error{"'port' must name a port: \"SWITCH/PORT\""};
	const auto end = model::parse_end(request.body["port"].get<std::string>());
	if (!end)
		return end.error();
	return request.core.find_port(*end);
}

Result<Port *> cabled_port(const Request &request)
{
	const auto port = named_port(request);
	if (!port || (*port)->link || (*port)->cable)
		return port;
	return Error{fmt::format("no cable is plugged into {}", model::format_end(end_of(**port)))};
}

Result<Json> plug(const Request &request)
{
	const auto port = cabled_port(request);
	if (!port)
		return port.error();
	if (!request.body.contains("plugged") || !request.body["plugged"].is_boolean())
		return Error{"'plugged' must be true or false"};
	request.core.plug(**port, request.body["plugged"].get<bool>(), request.now);
	return Json::object();
}

/// A share of packets or bits as a count in 1 / scale.
template <typename Count>
Status read_share(const Json &body, const char *key, double scale, double most,
		  std::optional<Count> &out)
{
	if (!body.contains(key))
		return success();
	const Json &value = body[key];
	const bool fits =
		value.is_number() && value.get<double>() >= 0 && value.get<double>() <= most;
	if (!fits)
		return Error{fmt::format("'{}' must be a number from 0 to {:g}", key, most)};
	out = static_cast<Count>(std::llround(value.get<double>() * scale));
	return success();
}

template <typename Count>
Status read_count(const Json &body, const char *key, std::uint64_t most, std::optional<Count> &out)
{
	if (!body.contains(key))
		return success();
	const Json &value = body[key];
	if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
		return Error{fmt::format("'{}' must be a number from 0 to {}", key, most)};
	out = static_cast<Count>(value.get<std::uint64_t>());
	return success();
}

Status read_flap(const Json &body, model::LinkChange &change)
{
	std::optional<std::uint32_t> up, down;
	for (const auto &[key, most, out] :
	     {std::tuple{"flap_up_ms", FaultMax::kFlapUp, &up},
	      std::tuple{"flap_down_ms", FaultMax::kFlapDown, &down}})
		if (auto read = read_count(body, key, most, *out); !read)
			return read;
	if (!up && !down)
		return success();
	if (!up || !down || !*up != !*down)
		return Error{"'flap_up_ms' and 'flap_down_ms' go together: both 0 or neither"};
	change.flap = {*up, *down};
	return success();
}

Status read_faults(const Json &body, model::LinkChange &change)
{
	for (const auto &[key, out] :
	     {std::pair{"loss", &change.loss}, std::pair{"duplicate", &change.duplicate},
	      std::pair{"reorder", &change.reorder}})
		if (auto read = read_share(body, key, 1e9, 1, *out); !read)
			return read;
	if (auto read = read_share(body, "bit_errors", 1e15, FaultMax::kBitErrors / 1e15,
				   change.bit_errors);
	    !read)
		return read;
	for (const auto &[key, most, out] :
	     {std::tuple{"seed", ~std::uint64_t{0}, &change.seed},
	      std::tuple{"latency_ns", FaultMax::kLatency, &change.latency},
	      std::tuple{"rate_bps", FaultMax::kRate, &change.rate}})
		if (auto read = read_count(body, key, most, *out); !read)
			return read;
	if (body.contains("healthy")) {
		if (!body["healthy"].is_boolean())
			return Error{"'healthy' must be true or false"};
		change.healthy = body["healthy"].get<bool>();
	}
	return read_flap(body, change);
}

Result<Json> faults(const Request &request)
{
	const auto port = cabled_port(request);
	if (!port)
		return port.error();
	model::LinkChange change;
	if (auto read = read_faults(request.body, change); !read)
		return read.error();
	request.core.change_faults(**port, change, request.now);
	return Json::object();
}

Result<Json> reload(const Request &request)
{
	const Json &body = request.body;
	if (body.contains("force") && !body["force"].is_boolean())
		return Error{"'force' must be true or false"};
	const bool force = body.contains("force") && body["force"].get<bool>();
	if (auto done = request.hooks.reload(force ? Drop::forced : Drop::unused); !done)
		return done.error();
	return Json::object();
}

struct Command {
	std::string_view name;
	std::initializer_list<std::string_view> keys;
	Result<Json> (*run)(const Request &);
};

const Command kCommands[] = {
	{"show", {}, show},
	{"links", {}, links},
	{"counters", {}, counters},
	{"uplinks", {}, uplinks},
	{"plug", {"port", "plugged"}, plug},
	{"faults",
	 {"port", "healthy", "seed", "loss", "duplicate", "reorder", "bit_errors", "latency_ns",
	  "rate_bps", "flap_up_ms", "flap_down_ms"},
	 faults},
	{"reload", {"force"}, reload},
};

Result<Json> run(Core &core, const ControlHooks &hooks, const Json &body, std::uint64_t now)
{
	if (!body.is_object() || !body.contains("command") || !body["command"].is_string())
		return Error{"a request is an object with a \"command\""};
	const auto name = body["command"].get<std::string>();
	for (const Command &command : kCommands) {
		if (command.name != name)
			continue;
		for (const auto &[key, value] : body.items())
			if (key != "command" && std::find(command.keys.begin(), command.keys.end(),
							  key) == command.keys.end())
				return Error{fmt::format("'{}' takes no '{}'", name, key)};
		return command.run({core, hooks, body, now});
	}
	return Error{fmt::format("there is no command '{}'", name)};
}

} // namespace

std::string control_answer(Core &core, const ControlHooks &hooks, std::string_view request,
			   std::uint64_t now)
{
	const Json body = Json::parse(request, nullptr, false);
	const auto result = body.is_discarded() ? Result<Json>(Error{"a request is a line of JSON"})
						: run(core, hooks, body, now);
	Json answer;
	answer["ok"] = static_cast<bool>(result);
	answer["version"] = PIBNETD_VERSION;
	if (result)
		answer.update(*result);
	else
		answer["error"] = result.error().text;
	return answer.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace pib::netd

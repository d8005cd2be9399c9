// SPDX-License-Identifier: GPL-2.0
#include "monitor/line.h"

#include <fmt/format.h>
#include <linux/pib.h>

#include <ctime>
#include <iterator>
#include <nlohmann/json.hpp>

#include "model/show/output.h"
#include "model/words/ib_names.h"
#include "model/words/parse.h"

namespace pib::ctl {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kNanoseconds = 1000000000;

struct KindWords {
	/// In JSON.
	const char *name;
	/// Word behind the object in text; empty: the fields say it.
	const char *verb;
};

constexpr KindWords kKinds[] = {
	{"hca_new", "added"},
	{"hca_del", "deleted"},
	{"switch_new", "added"},
	{"switch_del", "deleted"},
	{"link_new", "added"},
	{"link_del", "deleted"},
	{"link_plugged", ""},
	{"port_state", ""},
	{"session_up", "session up"},
	{"session_anew", "session anew"},
	{"session_down", "session down"},
	{"keys", ""},
	{"async", ""},
	{"hca_renamed", "renamed"},
	{"session_moved", "session moved"},
	{"trap", ""},
};
static_assert(std::size(kKinds) == PIB_EVENT_KIND_MAX + 1);

/// As rdma-core's enum ibv_event_type and the kernel's enum ib_event_type number them.
constexpr const char *kIbEvents[] = {
	"CQ_ERR",
	"QP_FATAL",
	"QP_REQ_ERR",
	"QP_ACCESS_ERR",
	"COMM_EST",
	"SQ_DRAINED",
	"PATH_MIG",
	"PATH_MIG_ERR",
	"DEVICE_FATAL",
	"PORT_ACTIVE",
	"PORT_ERR",
	"LID_CHANGE",
	"PKEY_CHANGE",
	"SM_CHANGE",
	"SRQ_ERR",
	"SRQ_LIMIT_REACHED",
	"QP_LAST_WQE_REACHED",
	"CLIENT_REREGISTER",
	"GID_CHANGE",
};

/// Traps that nodes send (IBA 13.4.8.2, 14.2.5.1).
struct TrapWords {
	std::uint16_t number;
	const char *about;
};

constexpr TrapWords kTraps[] = {
	{128, "a port has come or gone"},
	{129, "bad packets from a cable"},
	{130, "packets that found no room"},
	{131, "no credits from the other end"},
	{144, "capabilities or description changed"},
	{145, "SystemImageGUID changed"},
	{256, "bad M_Key"},
	{257, "bad P_Key"},
	{258, "bad Q_Key"},
	{259, "bad P_Key at a switch"},
};

void show_trap(Output &out, std::uint16_t number)
{
	out.field("trap", std::uint64_t{number});
	for (const TrapWords &trap : kTraps)
		if (trap.number == number)
			out.field("about", trap.about);
}

/// A kind that a newer module may know has a number for a name.
std::string kind_name(const Event &event)
{
	return event.kind < std::size(kKinds) ? kKinds[event.kind].name
					      : fmt::format("{}", event.kind);
}

std::string kind_verb(const Event &event)
{
	return event.kind < std::size(kKinds) ? kKinds[event.kind].verb
					      : fmt::format("event {}", event.kind);
}

std::string ib_event_name(std::uint32_t event)
{
	return event < std::size(kIbEvents) ? kIbEvents[event] : fmt::format("{}", event);
}

std::string object_of(const Event &event)
{
	if (const auto &link = event.link) {
		std::string far;
		if (link->b)
			far = " " + format_end(*link->b);
		else if (link->udp)
			far = fmt::format(" udp {} peer {}", link->udp->netdev.value_or("?"),
					  link->udp->peer ? format_endpoint(*link->udp->peer)
							  : "?");
		return fmt::format("link {}{}", format_end(link->a), far);
	}
	if (event.node.empty())
		return {};
	if (event.port)
		return fmt::format("port {}/{}", event.node, event.port->number);
	return fmt::format("{} {}", event.is_switch ? "switch" : "hca", event.node);
}

std::string heading_of(const Event &event)
{
	const std::string object = object_of(event);
	const std::string verb = kind_verb(event);
	return object + (object.empty() || verb.empty() ? "" : " ") + verb;
}

template <typename Number>
void show_number(Output &out, std::string_view key, const std::optional<Number> &number)
{
	if (number)
		out.field(key, std::uint64_t{*number});
}

void show_end(Output &out, std::string_view key, const End &end)
{
	out.begin_group(key);
	out.key_field("node", end.node);
	out.key_field("port", std::uint64_t{end.port});
	out.end_group();
}

void show_udp(Output &out, const UdpLink &udp)
{
	if (udp.netdev)
		out.key_field("netdev", *udp.netdev);
	if (udp.peer)
		out.key_field("address", format_endpoint(*udp.peer));
	out.key_field("up", udp.up);
	show_number(out, "restarts", udp.restarts);
	if (udp.second_key)
		out.field("second_key", true);
	else
		out.key_field("second_key", false);
	if (udp.peer_node_guid)
		out.field("peer_node_guid", format_guid(*udp.peer_node_guid));
	show_number(out, "peer_port", udp.peer_port);
	if (udp.peer_description)
		out.field("peer_description", *udp.peer_description);
}

void show_link(Output &out, const EventLink &link)
{
	show_end(out, "a", link.a);
	if (link.b)
		show_end(out, "b", *link.b);
	if (link.udp)
		show_udp(out, *link.udp);
}

void show_port(Output &out, const Port &port)
{
	out.key_field("port", std::uint64_t{port.number});
	if (port.state)
		out.field("state", state_name(*port.state));
	if (port.physical_state)
		out.field("physical_state", physical_state_name(*port.physical_state));
	show_number(out, "lid", port.lid);
	show_number(out, "sm_lid", port.sm_lid);
}

void show_event(Output &out, const Event &event)
{
	out.begin_item(heading_of(event));
	out.key_field("event", kind_name(event));
	if (!event.node.empty())
		out.key_field("node", event.node);
	if (event.port)
		show_port(out, *event.port);
	if (event.link)
		show_link(out, *event.link);
	if (event.plugged)
		out.field("plugged", *event.plugged);
	if (event.node_guid)
		out.field("node_guid", format_guid(*event.node_guid));
	if (event.old_name)
		out.field("old_name", *event.old_name);
	if (event.automatic)
		out.field("auto", true);
	show_number(out, "keys", event.keys);
	if (event.ib_event)
		out.field("async_event", ib_event_name(*event.ib_event));
	if (event.trap)
		show_trap(out, *event.trap);
	out.end_item();
}

std::string time_text(std::uint64_t time)
{
	const auto seconds = static_cast<std::time_t>(time / kNanoseconds);
	std::tm local{};
	localtime_r(&seconds, &local);
	char text[32];
	std::strftime(text, sizeof(text), "%F %T", &local);
	return fmt::format("{}.{:06}", text, time % kNanoseconds / 1000);
}

double time_seconds(std::uint64_t time)
{
	// As exactly as a double can hold it.
	return static_cast<double>(time / 1000) / 1e6;
}

std::string printed(Output &out, const Event &event)
{
	out.begin_list("events");
	show_event(out, event);
	out.end_list();
	return out.str();
}

} // namespace

std::string event_text(const Event &event)
{
	const auto out = make_text_output();
	std::string line = printed(*out, event);
	line.erase(line.find_last_not_of('\n') + 1);
	return fmt::format("{} {}", time_text(event.time), line);
}

std::string event_json(const Event &event)
{
	const auto out = make_json_output(false);
	Json json = {{"time", time_seconds(event.time)}};
	json.update(Json::parse(printed(*out, event))["events"][0]);
	return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string lost_text(std::uint64_t time)
{
	return fmt::format("{} some events were lost: more came than were read", time_text(time));
}

std::string lost_json(std::uint64_t time)
{
	return Json({{"time", time_seconds(time)}, {"event", "lost"}}).dump();
}

} // namespace pib::ctl

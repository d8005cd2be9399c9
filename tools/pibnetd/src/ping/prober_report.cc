// SPDX-License-Identifier: GPL-2.0
// Output of pibping.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "model/words/parse.h"
#include "ping/prober.h"

namespace pib::netd {
namespace {

using Json = nlohmann::ordered_json;

enum class KeyState { none, same, differs, only_there, only_here };

bool other_is_keyed(const ProbeReport &r)
{
	return (r.pong && r.pong->flags & kPingKeyed) || (r.hello && r.hello->keyed);
}

KeyState key_state(const ProbeReport &r, const Key &key)
{
	const bool theirs = other_is_keyed(r);
	// A hello that is refused for its key says so by its text only.
	if (key.empty())
		return theirs ? KeyState::only_there : KeyState::none;
	if (!theirs)
		return KeyState::only_here;
	const bool same = r.pong ? r.pong_authentic : r.hello->authentic;
	return same ? KeyState::same : KeyState::differs;
}

std::string_view key_text(KeyState state)
{
	switch (state) {
	case KeyState::none: return "no key at either end";
	case KeyState::same: return "the same key at both ends";
	case KeyState::differs: return "the KEYS DIFFER";
	case KeyState::only_there: return "it has a KEY, none was given here";
	case KeyState::only_here: return "it has NO KEY, one was given here";
	}
	return "";
}

std::string_view key_word(KeyState state)
{
	switch (state) {
	case KeyState::none: return "none";
	case KeyState::same: return "same";
	case KeyState::differs: return "differs";
	case KeyState::only_there: return "only-there";
	case KeyState::only_here: return "only-here";
	}
	return "";
}

std::string software_text(const Ping &pong)
{
	const char *name = pong.software == PingSoftware::pibnetd ? "pibnetd" : "pibping";
	return fmt::format("{} {}.{}.{}", name, pong.version[0], pong.version[1], pong.version[2]);
}

std::string silence_text(const ProbeReport &r)
{
	if (r.error == ECONNREFUSED)
		return "no answer: the host is there, but nobody listens on the port";
	if (r.error)
		return fmt::format("no answer: {}", std::strerror(r.error));
	return "no answer: nobody there, or a firewall drops UDP to this port. Run "
	       "'pibping --serve' or pibnetd there";
}

double loss_percent(const RoundTrips &t)
{
	return t.sent ? 100.0 * (t.sent - t.answered) / t.sent : 0;
}

void say_who(const ProbeOptions &options, const ProbeReport &r, std::string &out)
{
	if (r.pong)
		out += fmt::format("answers:    {} ({} here)\n", software_text(*r.pong),
				   PIBNETD_VERSION);
	if (r.hello && r.hello->refusal.empty())
		out += fmt::format("hello:      \"{}\", node GUID {}\n", r.hello->description,
				   model::format_guid(r.hello->node_guid));
	else if (r.hello)
		out += fmt::format("hello:      refused: {}\n", r.hello->refusal);
	out += fmt::format("fabric:     {}: {}", options.fabric,
			   r.fabric_served() ? "served" : "NOT SERVED");
	if (r.fabric_served())
		out += fmt::format(", {}", key_text(key_state(r, options.key)));
	out += '\n';
}

} // namespace

bool ProbeReport::fabric_served() const
{
	return (pong && pong->flags & kPingFabric) || (hello && hello->refusal.empty());
}

/// Others get large PINGs back cut short.
bool ProbeReport::measures_sizes() const
{
	return pong && pong->flags & kPingFabric &&
	       (!(pong->flags & kPingKeyed) || pong->flags & kPingAuthentic);
}

bool ProbeReport::all_is_well(const ProbeOptions &options) const
{
	const bool whole = !pong || (mtu == route_mtu && fragments && trips.answered == trips.sent);
	return reachable() && whole && fabric_served() && key_agrees(options.key);
}

bool ProbeReport::key_agrees(const Key &key) const
{
	const KeyState state = key_state(*this, key);
	return state == KeyState::none || state == KeyState::same;
}

std::string report_text(const ProbeOptions &options, const ProbeReport &r)
{
	std::string out = fmt::format("peer:       {}\n", format_address(options.peer));
	if (!r.reachable())
		return out + silence_text(r) + '\n';
	say_who(options, r, out);
	if (!r.pong)
		return out + "echo:       none\n";
	out += fmt::format("round trip: {} of {} came back, {:.3g}% lost, {:.3f}/{:.3f}/{:.3f} ms "
			   "(least/mean/most)\n",
			   r.trips.answered, r.trips.sent, loss_percent(r.trips),
			   r.trips.least / 1000, r.trips.mean / 1000, r.trips.most / 1000);
	if (!r.measures_sizes())
		return out +
		       "MTU:        not measured: for that the fabric and the key must be right\n";
	if (r.mtu == r.route_mtu)
		out += fmt::format("MTU:        {} passes, as the route here says\n", r.mtu);
	else
		out += fmt::format(
			"MTU:        {} passes, {} IS LOST though the route here says it passes\n",
			r.mtu, r.route_mtu);
	out += fmt::format("fragments:  {}\n", r.fragments ? "pass" : "ARE LOST");
	return out;
}

std::string report_json(const ProbeOptions &options, const ProbeReport &r)
{
	Json out = {{"peer", format_address(options.peer)}, {"reachable", r.reachable()}};
	if (!r.reachable()) {
		out["error"] = silence_text(r);
		return out.dump() + "\n";
	}
	out["fabric"] = options.fabric;
	out["fabric_served"] = r.fabric_served();
	out["key"] = key_word(key_state(r, options.key));
	if (r.hello) {
		out["description"] = r.hello->description;
		out["node_guid"] = model::format_guid(r.hello->node_guid);
		if (!r.hello->refusal.empty())
			out["refusal"] = r.hello->refusal;
	}
	if (!r.pong)
		return out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
	out["software"] = software_text(*r.pong);
	out["sent"] = r.trips.sent;
	out["answered"] = r.trips.answered;
	out["loss_percent"] = loss_percent(r.trips);
	out["round_trip_us"] = {
		{"least", r.trips.least}, {"mean", r.trips.mean}, {"most", r.trips.most}};
	if (r.measures_sizes()) {
		out["mtu"] = r.mtu;
		out["route_mtu"] = r.route_mtu;
		out["fragments"] = r.fragments;
	}
	return out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace pib::netd

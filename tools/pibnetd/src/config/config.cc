// SPDX-License-Identifier: GPL-2.0
#include "config/config.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>
#include <tuple>

#include "model/words/accept.h"
#include "model/words/dscp.h"
#include "model/words/key_file.h"
#include "model/words/parse.h"
#include "model/topology/parse.h"
#include "util/sha256.h"
#include "config/topology_config.h"

namespace pib::netd {
namespace {

using Json = nlohmann::json;

constexpr unsigned kThreadsMax = 64;
constexpr unsigned kThreadsDefault = 8;

Error at(std::string_view place, std::string_view what)
{
	return Error{fmt::format("{}: {}", place, what)};
}

/// Every key must be one that is known: a misspelt one must not be passed over in silence.
Status check_keys(const Json &object, std::string_view place,
		  std::initializer_list<std::string_view> known)
{
	if (!object.is_object())
		return at(place, "must be an object");
	for (const auto &[key, value] : object.items())
		if (std::find(known.begin(), known.end(), key) == known.end())
			return at(place, fmt::format("there is no setting '{}'", key));
	return success();
}

Result<std::string> read_text(const std::string &path)
{
	std::ifstream file(path);
	std::stringstream text;
	if (!file || !(text << file.rdbuf()))
		return errno_error("cannot read '{}'", path);
	return text.str();
}

Status get_text(const Json &object, std::string_view place, const char *key, std::string &out)
{
	if (!object.contains(key))
		return success();
	if (!object[key].is_string())
		return at(fmt::format("{}.{}", place, key), "must be a string");
	out = object[key].get<std::string>();
	return success();
}

template <typename Number>
Status get_number(const Json &object, std::string_view place, const char *key, std::uint64_t least,
		  std::uint64_t most, Number &out)
{
	if (!object.contains(key))
		return success();
	const Json &value = object[key];
	const bool fits = value.is_number_unsigned() && value.get<std::uint64_t>() >= least &&
			  value.get<std::uint64_t>() <= most;
	if (!fits)
		return at(fmt::format("{}.{}", place, key),
			  fmt::format("must be a number from {} to {}", least, most));
	out = static_cast<Number>(value.get<std::uint64_t>());
	return success();
}

Status get_guid(const Json &object, std::string_view place, std::uint64_t &out)
{
	std::string word;
	if (auto got = get_text(object, place, "guid", word); !got)
		return got;
	if (word.empty())
		return success();
	const auto guid = model::parse_guid(word);
	if (!guid)
		return at(fmt::format("{}.guid", place), guid.error().text);
	out = *guid;
	return success();
}

Status get_key(const Json &object, std::string_view place, const char *setting, Key &out)
{
	std::string path;
	if (auto got = get_text(object, place, setting, path); !got)
		return got;
	if (path.empty())
		return success();
	auto key = model::read_key_file(path);
	if (!key)
		return at(fmt::format("{}.{}", place, setting), key.error().text);
	out = take_key(*key);
	return success();
}

Status get_keys(const Json &object, std::string_view place, SwitchConfig &node)
{
	if (auto got = get_key(object, place, "key_file", node.key); !got)
		return got;
	if (auto got = get_key(object, place, "second_key_file", node.second_key); !got)
		return got;
	if (auto ok = check_second_key(node); !ok)
		return at(fmt::format("{}.second_key_file", place), ok.error().text);
	return success();
}

/// Reads a setting of the whole configuration.
Status get_switch(const Json &root, const char *setting, bool &out)
{
	if (!root.contains(setting))
		return success();
	if (!root[setting].is_boolean())
		return at(fmt::format("configuration.{}", setting), "must be true or false");
	out = root[setting].get<bool>();
	return success();
}

/// Reads what data says to the network.
Status get_data_class(const Json &root, DataClass &out)
{
	if (auto got = get_switch(root, "ecn", out.ecn); !got)
		return got;
	std::string list;
	if (auto got = get_text(root, "configuration", "dscp", list); !got || list.empty())
		return got;
	const auto dscp = model::parse_dscp(list);
	if (!dscp)
		return at("configuration.dscp", dscp.error().text);
	out.dscp = *dscp;
	return success();
}

/// Reads "accept", where false means nobody and true anybody.
Status get_accept(const Json &object, std::string_view place, std::uint8_t &out)
{
	if (!object.contains("accept"))
		return success();
	if (object["accept"].is_boolean()) {
		out = object["accept"].get<bool>() ? PIB_HELLO_ANYBODY : PIB_HELLO_NOBODY;
		return success();
	}
	std::string word;
	if (auto got = get_text(object, place, "accept", word); !got)
		return got;
	const auto accept = model::parse_accept(word);
	if (!accept)
		return at(fmt::format("{}.accept", place), accept.error().text);
	out = *accept;
	return success();
}

Result<SwitchConfig> parse_switch(const Json &object, const std::string &place)
{
	SwitchConfig node;
	if (auto ok = check_keys(object, place,
				 {"name", "ports", "fabric", "guid", "description", "key_file",
				  "second_key_file", "accept"});
	    !ok)
		return ok.error();
	std::string name;
	if (auto ok = get_text(object, place, "name", name); !ok)
		return ok.error();
	const auto valid = model::parse_new_name(name);
	if (!valid)
		return at(place + ".name", valid.error().text);
	node.name = *valid;
	if (auto ok = get_number(object, place, "ports", 1, PIB_MAX_PORTS, node.ports); !ok)
		return ok.error();
	if (auto ok = get_number(object, place, "fabric", 0, 0xFFFFFFFF, node.fabric); !ok)
		return ok.error();
	if (auto ok = get_guid(object, place, node.guid); !ok)
		return ok.error();
	if (auto ok = get_text(object, place, "description", node.description); !ok)
		return ok.error();
	if (node.description.size() > 63)
		return at(place + ".description", "must have at most 63 bytes");
	if (auto ok = get_keys(object, place, node); !ok)
		return ok.error();
	if (auto ok = get_accept(object, place, node.accept); !ok)
		return ok.error();
	return node;
}

Result<CableConfig> parse_cable(const Json &pair, const std::string &place)
{
	constexpr std::string_view kUdp = "udp:";
	if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string())
		return at(place, "must be two strings: [\"SWITCH/PORT\", \"SWITCH/PORT\"] or "
				 "[\"SWITCH/PORT\", \"udp:ADDRESS\"]");
	CableConfig cable;
	const auto a = model::parse_end(pair[0].get<std::string>());
	if (!a)
		return at(place, a.error().text);
	cable.a = *a;
	const auto word = pair[1].get<std::string>();
	if (word.starts_with(kUdp)) {
		const auto peer = parse_address(std::string_view(word).substr(kUdp.size()));
		if (!peer)
			return at(place, peer.error().text);
		cable.peer = *peer;
		return cable;
	}
	const auto b = model::parse_end(word);
	if (!b)
		return at(place, b.error().text);
	cable.b = *b;
	return cable;
}

/// Reads what list holds, item by item.
template <typename Item, typename Parse>
Status parse_list(const Json &root, const char *key, Parse parse, std::vector<Item> &out)
{
	if (!root.contains(key))
		return success();
	const Json &list = root[key];
	if (!list.is_array())
		return at(key, "must be a list");
	for (std::size_t i = 0; i < list.size(); i++) {
		const auto item = parse(list[i], fmt::format("{}[{}]", key, i));
		if (!item)
			return item.error();
		out.push_back(*item);
	}
	return success();
}

Result<Address> parse_listen(const Json &word, const std::string &place)
{
	if (!word.is_string())
		return at(place, "must be a string");
	const auto address = parse_listen_address(word.get<std::string>());
	if (!address)
		return at(place, address.error().text);
	return *address;
}

/// A topology file makes switches, cables between them, and places for hosts.
Status get_topology(const Json &root, Config &config)
{
	if (!root.contains("topology"))
		return success();
	const Json &object = root["topology"];
	SwitchConfig common;
	std::string path;
	if (auto ok = check_keys(object, "topology",
				 {"file", "fabric", "key_file", "second_key_file"});
	    !ok)
		return ok;
	if (auto ok = get_text(object, "topology", "file", path); !ok)
		return ok;
	if (path.empty())
		return at("topology", "'file' is missing");
	if (auto ok = get_number(object, "topology", "fabric", 0, 0xFFFFFFFF, common.fabric); !ok)
		return ok;
	if (auto ok = get_keys(object, "topology", common); !ok)
		return ok;
	const auto topology = model::parse_topology(path, read_text);
	if (!topology)
		return at("topology", topology.error().text);
	if (auto ok = add_topology(*topology, common, config); !ok)
		return at("topology", ok.error().text);
	return success();
}

Status check_end(const Config &config, const model::End &end, const std::string &place,
		 std::set<std::pair<std::string, std::uint32_t>> &taken)
{
	const auto node =
		std::find_if(config.switches.begin(), config.switches.end(),
			     [&](const SwitchConfig &each) { return each.name == end.node; });
	if (node == config.switches.end())
		return at(place, fmt::format("there is no switch '{}'", end.node));
	if (end.port < 1 || end.port > node->ports)
		return at(place,
			  fmt::format("switch '{}' has ports 1 to {}", end.node, node->ports));
	if (!taken.insert({end.node, end.port}).second)
		return at(place, fmt::format("{} has a cable already", model::format_end(end)));
	return success();
}

/// Checks that switches of one fabric have the same keys: they share the peers that come to it, and
/// one with other keys would meet none.
Status check_fabric_keys(const SwitchConfig &first, const SwitchConfig &node)
{
	for (const auto &[setting, theirs, own] :
	     {std::tuple{"key_file", &first.key, &node.key},
	      std::tuple{"second_key_file", &first.second_key, &node.second_key}})
		if (!same_key(*theirs, *own))
			return Error{fmt::format(
				"{}: switch '{}' is of the same fabric, {}, and must have the same",
				setting, first.name, node.fabric)};
	return success();
}

/// Checks what no single setting shows.
Status check_whole(const Config &config)
{
	std::set<std::string> names;
	std::set<std::uint64_t> guids;
	std::map<std::uint32_t, const SwitchConfig *> fabrics;
	for (std::size_t i = 0; i < config.switches.size(); i++) {
		const SwitchConfig &node = config.switches[i];
		const std::string place = fmt::format("switches[{}]", i);
		if (!names.insert(node.name).second)
			return at(place + ".name", "is taken");
		if (node.guid && !guids.insert(node.guid).second)
			return at(place + ".guid", "is taken");
		const SwitchConfig &first = *fabrics.emplace(node.fabric, &node).first->second;
		if (auto ok = check_fabric_keys(first, node); !ok)
			return at(place, ok.error().text);
	}
	std::set<std::pair<std::string, std::uint32_t>> taken;
	for (std::size_t i = 0; i < config.cables.size(); i++) {
		const CableConfig &cable = config.cables[i];
		const std::string place = fmt::format("cables[{}]", i);
		if (auto ok = check_end(config, cable.a, place, taken); !ok)
			return ok;
		if (!cable.b)
			continue;
		if (auto ok = check_end(config, *cable.b, place, taken); !ok)
			return ok;
	}
	return success();
}

std::string machine_id()
{
	std::ifstream file("/etc/machine-id");
	std::string id;
	std::getline(file, id);
	char name[256] = "";
	::gethostname(name, sizeof(name) - 1);
	return id + " " + name;
}

/// A GUID of this machine's for a switch of this name: an EUI-64 with the local bit.
std::uint64_t make_guid(const Config &config, const SwitchConfig &node)
{
	std::string text = "pibnetd " + machine_id() + " " + node.name;
	for (const Address &listen : config.listen)
		text += " " + format_address(listen);
	const Digest digest =
		sha256({reinterpret_cast<const std::uint8_t *>(text.data()), text.size()});
	return (pib_get64(digest.data()) & 0x00FFFFFFFFFFFFFF) | 0x0200000000000000;
}

} // namespace

Status check_second_key(const SwitchConfig &node)
{
	if (node.second_key.empty())
		return success();
	if (node.key.empty())
		return Error{"a second key needs a first one"};
	if (same_key(node.second_key, node.key))
		return Error{"the second key is the fabric's key already"};
	return success();
}

Result<Config> parse_config(std::string_view text)
{
	// Comments are welcome; exceptions stay inside the library.
	const Json root = Json::parse(text, nullptr, false, true);
	if (root.is_discarded())
		return Error{"is not JSON"};
	if (auto ok = check_keys(root, "configuration",
				 {"listen", "control", "state", "threads", "dscp", "ecn", "windows",
				  "icrc", "switches", "cables", "topology"});
	    !ok)
		return ok.error();
	Config config;
	if (auto ok = parse_list(root, "listen", parse_listen, config.listen); !ok)
		return ok.error();
	if (auto ok = get_text(root, "configuration", "control", config.control); !ok)
		return ok.error();
	if (auto ok = get_text(root, "configuration", "state", config.state); !ok)
		return ok.error();
	if (auto ok = get_number(root, "configuration", "threads", 1, kThreadsMax, config.threads);
	    !ok)
		return ok.error();
	if (auto ok = get_data_class(root, config.data_class); !ok)
		return ok.error();
	if (auto ok = get_switch(root, "windows", config.windows); !ok)
		return ok.error();
	if (auto ok = get_switch(root, "icrc", config.icrc); !ok)
		return ok.error();
	if (auto ok = parse_list(root, "switches", parse_switch, config.switches); !ok)
		return ok.error();
	if (auto ok = parse_list(root, "cables", parse_cable, config.cables); !ok)
		return ok.error();
	if (auto ok = get_topology(root, config); !ok)
		return ok.error();
	if (auto ok = check_whole(config); !ok)
		return ok.error();
	return config;
}

Result<Config> read_config(const std::string &path)
{
	const auto text = read_text(path);
	if (!text)
		return text.error();
	auto config = parse_config(*text);
	if (!config)
		return Error{fmt::format("{}: {}", path, config.error().text)};
	return config;
}

void complete_config(Config &config)
{
	// The other half is for what the kernel does with the datagrams.
	if (!config.threads)
		config.threads =
			std::clamp(std::thread::hardware_concurrency() / 2, 1u, kThreadsDefault);
	if (config.listen.empty()) {
		Address any;
		any.port = kUdpPort;
		any.family = AF_INET;
		config.listen.push_back(any);
		any.family = AF_INET6;
		config.listen.push_back(any);
	}
	if (config.switches.empty())
		config.switches.push_back(
			{.name = "sw0", .description = {}, .key = {}, .second_key = {}});
	for (SwitchConfig &node : config.switches) {
		if (!node.guid)
			node.guid = make_guid(config, node);
		if (node.description.empty()) {
			char name[256] = "";
			::gethostname(name, sizeof(name) - 1);
			node.description = fmt::format("{} {}", node.name, name).substr(0, 63);
		}
	}
}

} // namespace pib::netd

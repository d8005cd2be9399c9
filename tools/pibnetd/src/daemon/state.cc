// SPDX-License-Identifier: GPL-2.0
#include "daemon/state.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "model/words/parse.h"

namespace pib::netd {
namespace {

using Json = nlohmann::ordered_json;

std::optional<Reservation> read_one(const Json &item)
{
	const auto number = [&](const char *key,
				std::uint64_t most) -> std::optional<std::uint64_t> {
		if (!item.contains(key) || !item[key].is_number_unsigned())
			return {};
		const auto value = item[key].get<std::uint64_t>();
		return value <= most ? std::optional(value) : std::nullopt;
	};
	if (!item.is_object() || !item.contains("switch") || !item["switch"].is_string() ||
	    !item.contains("guid") || !item["guid"].is_string())
		return {};
	const auto guid = model::parse_guid(item["guid"].get<std::string>());
	const auto peer_port = number("peer_port", 254);
	const auto port = number("port", 254);
	if (!guid || !peer_port || !port)
		return {};
	return Reservation{item["switch"].get<std::string>(), *guid,
			   static_cast<std::uint8_t>(*peer_port), static_cast<std::uint8_t>(*port)};
}

} // namespace

Result<std::vector<Reservation>> read_state(const std::string &path)
{
	std::ifstream file(path);
	if (!file)
		return std::vector<Reservation>{};
	std::stringstream text;
	text << file.rdbuf();
	const Json root = Json::parse(text.str(), nullptr, false);
	if (!root.is_object() || !root.contains("ports") || !root["ports"].is_array())
		return Error{fmt::format("state file '{}' makes no sense; it is begun anew", path)};
	std::vector<Reservation> all;
	for (const Json &item : root["ports"])
		if (auto one = read_one(item))
			all.push_back(*one);
	return all;
}

Status write_state(const std::string &path, const std::vector<Reservation> &all)
{
	Json list = Json::array();
	for (const Reservation &r : all)
		list.push_back({{"switch", r.node},
				{"port", r.port},
				{"guid", model::format_guid(r.guid)},
				{"peer_port", r.peer_port}});
	const std::string fresh = path + ".new";
	{
		std::ofstream file(fresh);
		file << Json{{"ports", list}}.dump(1, ' ', false, Json::error_handler_t::replace)
		     << '\n';
		file.flush();
		if (!file)
			return errno_error("cannot write '{}'", fresh);
	}
	if (std::rename(fresh.c_str(), path.c_str()))
		return errno_error("cannot write '{}'", path);
	return success();
}

} // namespace pib::netd

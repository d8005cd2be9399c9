// SPDX-License-Identifier: GPL-2.0
#include "model/words/parse.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/pib.h>
#include <net/if.h>

#include <algorithm>
#include <charconv>

namespace pib::inline model {
namespace {

bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Words that "pibctl show" takes for something else than a name.
constexpr std::string_view kReserved[] = {"links", "peers", "counters", "uplinks", "help"};

bool read_unsigned(std::string_view word, int base, std::uint64_t &value)
{
	const auto [end, error] =
		std::from_chars(word.data(), word.data() + word.size(), value, base);
	return error == std::errc{} && end == word.data() + word.size();
}

Error bad_endpoint(std::string_view word, std::string_view why)
{
	return usage_error(
		fmt::format("'{}' is no peer address: {}; accepted are 192.0.2.1, "
			    "192.0.2.1:{port}, 2001:db8::1, [2001:db8::1]:{port}, fe80::1%eth0",
			    word, why, fmt::arg("port", PIB_UDP_PORT)));
}

/// The parts of an endpoint as written.
struct EndpointWords {
	std::string address;
	std::string_view scope;
	std::string_view port;
	bool has_scope = false;
	bool has_port = false;
	bool bracketed = false;
};

/// False for an unclosed bracket or something other than :PORT behind it.
bool split_brackets(std::string_view word, EndpointWords &words)
{
	const auto close = word.find(']');
	if (close == word.npos)
		return false;
	words.bracketed = true;
	words.address = word.substr(1, close - 1);
	const auto rest = word.substr(close + 1);
	words.has_port = !rest.empty();
	if (!words.has_port)
		return true;
	words.port = rest.substr(1);
	return rest.front() == ':';
}

bool split_endpoint(std::string_view word, EndpointWords &words)
{
	if (word.starts_with('['))
		return split_brackets(word, words);
	words.address = word;
	// More than one colon: IPv6 without brackets, which leaves no place for a port.
	const auto colon = word.find(':');
	if (colon == word.npos || word.rfind(':') != colon)
		return true;
	words.has_port = true;
	words.address = word.substr(0, colon);
	words.port = word.substr(colon + 1);
	return true;
}

void split_scope(std::string_view word, EndpointWords &words)
{
	const auto percent = words.address.find('%');
	if (percent == std::string::npos)
		return;
	words.has_scope = true;
	words.scope = word.substr(word.find('%') + 1);
	words.scope = words.scope.substr(0, words.address.size() - percent - 1);
	words.address.resize(percent);
}

bool is_link_local(const Endpoint &endpoint)
{
	return endpoint.v6 && endpoint.address[0] == 0xfe && (endpoint.address[1] & 0xc0) == 0x80;
}

bool is_unicast(const Endpoint &endpoint)
{
	const auto &a = endpoint.address;
	if (endpoint.v6)
		return a[0] != 0xff && std::ranges::any_of(a, [](auto byte) { return byte != 0; });
	return a[0] != 0 && a[0] < 224;
}

bool read_address(const EndpointWords &words, Endpoint &endpoint)
{
	if (!words.bracketed &&
	    inet_pton(AF_INET, words.address.c_str(), endpoint.address.data()) == 1)
		return true;
	endpoint.v6 = true;
	return inet_pton(AF_INET6, words.address.c_str(), endpoint.address.data()) == 1;
}

Status check_scope(std::string_view word, const EndpointWords &words, Endpoint &endpoint)
{
	if (!words.has_scope)
		return success();
	if (!is_link_local(endpoint))
		return bad_endpoint(word, "only a link-local IPv6 address takes '%NETDEV'");
	const auto scope = parse_netdev(words.scope);
	if (!scope)
		return scope.error();
	endpoint.scope = *scope;
	return success();
}

Error bad_name(std::string_view word, std::string_view why)
{
	return usage_error(fmt::format("'{}' cannot be a name: {}", word, why));
}

} // namespace

Result<std::uint64_t> parse_number(std::string_view what, std::string_view word,
				   std::uint64_t least, std::uint64_t most)
{
	std::uint64_t value = 0;
	const bool hex = word.starts_with("0x") || word.starts_with("0X");
	const bool read =
		hex ? read_unsigned(word.substr(2), 16, value) : read_unsigned(word, 10, value);
	if (!read || value < least || value > most)
		return usage_error(fmt::format("{} must be a number from {} to {}, not '{}'", what,
					       least, most, word));
	return value;
}

Result<std::uint64_t> parse_guid(std::string_view word)
{
	std::string digits(word.starts_with("0x") ? word.substr(2) : word);
	std::erase(digits, ':');
	std::uint64_t value = 0;
	if (digits.size() != 16 || !read_unsigned(digits, 16, value) || value == 0)
		return usage_error(
			fmt::format("'{}' is no GUID: accepted are 16 hexadecimal digits, not all "
				    "zero, as in 0x0250c2fffe000100 or 0250:c2ff:fe00:0100",
				    word));
	return value;
}

Result<std::string> parse_name(std::string_view word)
{
	if (word.empty() || word.size() >= PIB_NAME_MAX)
		return bad_name(word,
				fmt::format("it must have 1 to {} characters", PIB_NAME_MAX - 1));
	return std::string(word);
}

Result<std::string> parse_new_name(std::string_view word)
{
	if (auto name = parse_name(word); !name)
		return name;
	const auto allowed = [](char c) {
		return is_alnum(c) || c == '.' || c == '_' || c == '-' || c == ':';
	};
	if (!is_alnum(word.front()) || !std::ranges::all_of(word, allowed))
		return bad_name(
			word,
			"accepted are letters, digits, '.', '_', '-' and ':', a letter or digit first");
	if (std::ranges::find(kReserved, word) != std::end(kReserved))
		return bad_name(word, fmt::format("'pibctl show {}' means something else", word));
	return std::string(word);
}

Result<std::string> parse_netdev(std::string_view word)
{
	const auto allowed = [](char c) { return c != '/' && c > ' ' && c != '\x7f'; };
	if (word.empty() || word.size() >= IF_NAMESIZE || !std::ranges::all_of(word, allowed))
		return usage_error(fmt::format(
			"'{}' cannot be a netdev: its name has 1 to {} characters, no '/' and no space ('ip link' "
			"lists the netdevs)",
			word, IF_NAMESIZE - 1));
	return std::string(word);
}

Result<End> parse_end(std::string_view word)
{
	const auto slash = word.rfind('/');
	if (slash == word.npos)
		return usage_error(fmt::format(
			"'{}' is no end of a cable: accepted is NAME/PORT, as in pib0/1", word));
	const auto node = parse_name(word.substr(0, slash));
	if (!node)
		return node.error();
	const auto port = parse_number(fmt::format("the port in '{}'", word),
				       word.substr(slash + 1), 1, PIB_PORTS_MAX);
	if (!port)
		return port.error();
	return End{*node, static_cast<std::uint32_t>(*port)};
}

Result<Endpoint> parse_endpoint(std::string_view word)
{
	EndpointWords words;
	if (!split_endpoint(word, words))
		return bad_endpoint(word, "the bracket is not followed by :PORT");
	split_scope(word, words);
	Endpoint endpoint;
	if (!read_address(words, endpoint))
		return bad_endpoint(word, "not an IPv4 or IPv6 address");
	if (!is_unicast(endpoint))
		return bad_endpoint(word, "a peer is one host, not a group");
	if (auto scoped = check_scope(word, words, endpoint); !scoped)
		return scoped.error();
	if (!words.has_port)
		return endpoint;
	const auto port =
		parse_number(fmt::format("the UDP port in '{}'", word), words.port, 1, 65535);
	if (!port)
		return port.error();
	endpoint.port = static_cast<std::uint16_t>(*port);
	return endpoint;
}

Result<bool> parse_plugged(std::string_view word)
{
	if (word == "up")
		return true;
	if (word == "down")
		return false;
	return usage_error(fmt::format("a link is set 'up' or 'down', not '{}'", word));
}

std::string format_end(const End &end)
{
	return fmt::format("{}/{}", end.node, end.port);
}

std::string format_endpoint(const Endpoint &endpoint)
{
	char text[INET6_ADDRSTRLEN] = "";
	inet_ntop(endpoint.v6 ? AF_INET6 : AF_INET, endpoint.address.data(), text, sizeof(text));
	if (!endpoint.port)
		return text;
	return endpoint.v6 ? fmt::format("[{}]:{}", text, endpoint.port)
			   : fmt::format("{}:{}", text, endpoint.port);
}

std::string format_guid(std::uint64_t guid)
{
	return fmt::format("0x{:016x}", guid);
}

} // namespace pib::inline model

// SPDX-License-Identifier: GPL-2.0
#include "model/topology/line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include <linux/pib.h>

namespace pib::inline model {
namespace {

/// Characters that fit into NodeDescription, with a NUL at its end.
constexpr std::size_t kDescriptionMax = 63;

bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}
bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string_view trim(std::string_view text)
{
	while (!text.empty() && is_blank(text.front()))
		text.remove_prefix(1);
	while (!text.empty() && is_blank(text.back()))
		text.remove_suffix(1);
	return text;
}

Result<std::uint32_t> read_port_number(LineReader &line)
{
	const auto number = line.number();
	if (!number || !line.take(']'))
		return Error{"a port is written [NUMBER]"};
	if (*number < 1 || *number > PIB_PORTS_MAX)
		return Error{fmt::format("port {} is out of range: ports are 1 to {}", *number,
					 PIB_PORTS_MAX)};
	return static_cast<std::uint32_t>(*number);
}

/// (GUID) behind a port, if there is one.
Result<std::uint64_t> read_port_guid(LineReader &line)
{
	if (!line.take('('))
		return std::uint64_t{0};
	const auto guid = line.hex();
	if (!guid || !line.take(')'))
		return Error{"a port's GUID is written (HEXADECIMAL DIGITS)"};
	return *guid;
}

/// The description in the comment behind a node: in quotes, or bare up to what follows it.
std::string_view description_in(std::string_view comment)
{
	comment = trim(comment);
	if (comment.starts_with('"')) {
		const auto end = comment.rfind('"');
		return comment.substr(1, end ? end - 1 : comment.npos);
	}
	for (const auto follower : {" enhanced port ", " base port ", " lid ", " lmc "})
		comment = comment.substr(0, comment.find(follower));
	return trim(comment);
}

/// True if the comment says so behind the description.
bool says_enhanced_port0(std::string_view comment)
{
	comment = trim(comment);
	if (comment.starts_with('"'))
		comment.remove_prefix(comment.rfind('"'));
	return comment.find(" enhanced port 0") != comment.npos;
}

struct Option {
	char letter;
	std::uint64_t least;
	std::uint64_t most;
};

/// ibsim's: enabled widths, speeds and extended speeds, as in PortInfo.
constexpr std::array kOptions = {Option{'w', 1, 31}, Option{'s', 0, 7}, Option{'e', 0, 15}};

Status check_option(LineReader &line)
{
	const auto name = line.word();
	const auto option = name.size() == 1 ? std::ranges::find(kOptions, name[0], &Option::letter)
					     : kOptions.end();
	if (option == kOptions.end() || !line.take('='))
		return Error{
			fmt::format("'{}' is unexpected behind a port; w=, s= and e= are known",
				    name.empty() ? line.rest() : name)};
	const auto value = line.number();
	if (!value || *value < option->least || *value > option->most)
		return Error{fmt::format("{}= is a number from {} to {}", name, option->least,
					 option->most)};
	return success();
}

Status check_options(LineReader &line)
{
	for (line.skip_blanks(); !line.done() && !line.take('#'); line.skip_blanks())
		if (auto checked = check_option(line); !checked)
			return checked;
	return success();
}

} // namespace

void LineReader::skip_blanks()
{
	while (!rest_.empty() && is_blank(rest_.front()))
		rest_.remove_prefix(1);
}

std::string_view LineReader::word()
{
	skip_blanks();
	const auto end = std::ranges::find_if_not(rest_, is_letter);
	const auto found = rest_.substr(0, end - rest_.begin());
	rest_.remove_prefix(found.size());
	return found;
}

bool LineReader::take(char c)
{
	skip_blanks();
	if (!rest_.starts_with(c))
		return false;
	rest_.remove_prefix(1);
	return true;
}

std::optional<std::string_view> LineReader::quoted()
{
	if (!take('"'))
		return std::nullopt;
	const auto end = rest_.find('"');
	if (end == rest_.npos)
		return std::nullopt;
	const auto found = rest_.substr(0, end);
	rest_.remove_prefix(end + 1);
	return found;
}

std::optional<std::uint64_t> LineReader::number()
{
	skip_blanks();
	if (rest_.starts_with("0x") || rest_.starts_with("0X"))
		return hex();
	std::uint64_t value = 0;
	const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
	if (error != std::errc{})
		return std::nullopt;
	rest_.remove_prefix(end - rest_.data());
	return value;
}

std::optional<std::uint64_t> LineReader::hex()
{
	skip_blanks();
	if (rest_.starts_with("0x") || rest_.starts_with("0X"))
		rest_.remove_prefix(2);
	std::uint64_t value = 0;
	const auto [end, error] =
		std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, 16);
	if (error != std::errc{})
		return std::nullopt;
	rest_.remove_prefix(end - rest_.data());
	return value;
}

Result<std::uint64_t> parse_value(LineReader line, std::uint64_t most)
{
	const auto value = line.take('=') ? line.number() : std::nullopt;
	line.skip_blanks();
	if (!value || *value > most || !(line.done() || line.take('#')))
		return Error{fmt::format("this is given as =NUMBER, up to {:#x}", most)};
	return *value;
}

Result<NodeLine> parse_node_line(LineReader line)
{
	NodeLine node;
	const auto ports = line.number();
	if (!ports)
		return Error{"the number of ports is missing"};
	if (*ports < 1 || *ports > PIB_PORTS_MAX)
		return Error{
			fmt::format("a node has 1 to {} ports, not {}", PIB_PORTS_MAX, *ports)};
	const auto id = line.quoted();
	if (!id || id->empty())
		return Error{"the node's id in quotes is missing"};
	if (id->find_first_of("#@") != id->npos)
		return Error{fmt::format("bad node id \"{}\": # and @ have a meaning of their own",
					 *id)};
	node.num_ports = static_cast<std::uint32_t>(*ports);
	node.id = *id;
	line.skip_blanks();
	if (line.take('#')) {
		node.description = description_in(line.rest()).substr(0, kDescriptionMax);
		node.enhanced_port0 = says_enhanced_port0(line.rest());
	} else if (!line.done()) {
		return Error{fmt::format("'{}' is unexpected behind the node's id", line.rest())};
	}
	return node;
}

Result<PortLine> parse_port_line(LineReader line)
{
	PortLine port;
	port.is_alias = line.take('@');
	if (!line.take('['))
		return Error{"a port is written [NUMBER]"};
	const auto number = read_port_number(line);
	if (!number)
		return number.error();
	port.number = *number;
	const auto guid = read_port_guid(line);
	if (!guid)
		return guid.error();
	port.guid = *guid;
	const auto remote = line.quoted();
	if (!remote || remote->empty())
		return Error{
			port.is_alias
				? "the alias in quotes is missing"
				: "the id of the node at the other end, in quotes, is missing"};
	port.remote = *remote;
	if (!port.is_alias && line.take('[')) {
		const auto remote_port = read_port_number(line);
		if (!remote_port)
			return remote_port.error();
		port.remote_port = *remote_port;
		const auto remote_guid = read_port_guid(line);
		if (!remote_guid)
			return remote_guid.error();
		port.remote_guid = *remote_guid;
	}
	if (auto checked = check_options(line); !checked)
		return checked.error();
	return port;
}

} // namespace pib::inline model

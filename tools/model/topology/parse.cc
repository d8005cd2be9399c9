// SPDX-License-Identifier: GPL-2.0
#include "model/topology/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "model/words/parse.h"
#include "model/topology/line.h"

namespace pib::inline model {
namespace {

using Kind = TopologyNode::Kind;

constexpr int kIncludeDepth = 8;

struct Location {
	std::string file;
	std::size_t line = 0;
};

Error at(const Location &where, std::string_view what)
{
	return Error{fmt::format("{}:{}: {}", where.file, where.line, what)};
}

/// A port that the file describes.
struct FilePort {
	Location where;
	PortLine said;
};

/// An alias stands for a port.
struct AliasEnd {
	std::size_t node;
	std::uint32_t port;
};

/// GUIDs are counted on from the last one given, by kind, as ibsim does.
struct GuidCounter {
	std::uint64_t base;
	std::uint64_t next;
};

class Parser {
public:
	explicit Parser(const ReadFile &read) : read_(read) {}

	Status file(const std::string &path, const Location *from)
	{
		if (++depth_ > kIncludeDepth)
			return at(*from, "files include each other too deeply");
		const auto text = read_(path);
		if (!text)
			return from ? at(*from, text.error().text) : text.error();
		auto done = lines(path, *text);
		--depth_;
		return done;
	}

	Result<Topology> finish()
	{
		for (std::size_t node = 0; node < topology_.nodes.size(); ++node)
			for (const auto &[number, port] : ports_[node])
				if (auto joined = join(node, port); !joined)
					return joined.error();
		if (auto checked = check_guids(); !checked)
			return checked.error();
		return std::move(topology_);
	}

private:
	using Handler = Status (Parser::*)(LineReader, const Location &);
	/// nullptr for a word that no line begins with.
	static Handler handler_for(std::string_view word);

	Status lines(const std::string &path, std::string_view text)
	{
		Location where{path, 0};
		current_.reset();
		while (!text.empty()) {
			++where.line;
			const auto end = text.find('\n');
			if (auto done = line(text.substr(0, end), where); !done)
				return done;
			text.remove_prefix(end == text.npos ? text.size() : end + 1);
		}
		current_.reset();
		return success();
	}

	Status line(std::string_view text, const Location &where)
	{
		if (text.find('\0') != text.npos)
			return at(where, "this is no text");
		LineReader reader(text);
		reader.skip_blanks();
		if (reader.done()) {
			current_.reset();
			return success();
		}
		const auto body = reader.rest();
		if (body.starts_with('#'))
			return success();
		if (body.starts_with('[') || body.starts_with('@'))
			return port(reader, where);
		current_.reset();
		const auto word = reader.word();
		if (const Handler handle = handler_for(word))
			return (this->*handle)(reader, where);
		return at(
			where,
			fmt::format("'{}' is not known; nodes begin with Switch, Ca or Hca", text));
	}

	Status add_switch(LineReader reader, const Location &where)
	{
		return node(Kind::kSwitch, reader, where);
	}
	Status add_hca(LineReader reader, const Location &where)
	{
		return node(Kind::kHca, reader, where);
	}
	Status router(LineReader, const Location &where)
	{
		return at(where, "routers cannot be built");
	}
	Status pass_over(LineReader, const Location &) { return success(); }
	Status switch_guid(LineReader reader, const Location &where)
	{
		return guid_base(guids_[Kind::kSwitch], reader, where);
	}
	Status hca_guid(LineReader reader, const Location &where)
	{
		return guid_base(guids_[Kind::kHca], reader, where);
	}

	Status guid_base(GuidCounter &counter, LineReader reader, const Location &where)
	{
		const bool relative = reader.take('+');
		const auto value = relative || reader.take('=') ? reader.number() : std::nullopt;
		if (!value)
			return at(where,
				  "a GUID is given as =NUMBER, or +NUMBER to the last one given");
		if (!relative)
			counter.base = *value;
		counter.next = relative ? counter.base + *value : *value;
		return success();
	}

	/// Reads a property of the next node; 0 leaves it absent.
	template <typename Number>
	Status product(std::optional<Number> &number, std::uint64_t most, LineReader reader,
		       const Location &where)
	{
		const auto value = parse_value(reader, most);
		if (!value)
			return at(where, value.error().text);
		number.reset();
		if (*value)
			number = static_cast<Number>(*value);
		return success();
	}
	Status vendor_id(LineReader reader, const Location &where)
	{
		return product(product_.vendor_id, 0xFFFFFF, reader, where);
	}
	Status device_id(LineReader reader, const Location &where)
	{
		return product(product_.device_id, 0xFFFF, reader, where);
	}
	Status sys_image_guid(LineReader reader, const Location &where)
	{
		return product(product_.sys_image_guid, UINT64_MAX, reader, where);
	}

	Status module(LineReader reader, const Location &where)
	{
		const auto name = reader.take('=') ? reader.quoted() : std::nullopt;
		if (!name)
			return at(where, "a module is written module=\"NAME\"");
		prefix_ = *name;
		return success();
	}

	Status include(LineReader reader, const Location &where)
	{
		const auto name = reader.quoted();
		if (!name)
			return at(where, "include is followed by the name of a file in quotes");
		std::string path(*name);
		const auto slash = where.file.rfind('/');
		if (!path.starts_with('/') && slash != where.file.npos)
			path = where.file.substr(0, slash + 1) + path;
		return file(path, &where);
	}

	std::string full_id(std::string_view id) const
	{
		if (prefix_.empty() || id.find('#') != id.npos)
			return std::string(id);
		return fmt::format("{}#{}", prefix_, id);
	}

	Status node(Kind kind, LineReader reader, const Location &where)
	{
		auto said = parse_node_line(reader);
		if (!said)
			return at(where, said.error().text);
		TopologyNode node;
		node.kind = kind;
		node.id = full_id(said->id);
		node.num_ports = said->num_ports;
		node.product = std::exchange(product_, {});
		node.enhanced_port0 = kind == Kind::kSwitch && said->enhanced_port0;
		node.description =
			said->description.empty() ? node.id.substr(0, 63) : said->description;
		GuidCounter &counter = guids_[kind];
		node.guid = counter.next;
		if (!node.guid)
			return at(where, "a GUID is not 0");
		counter.next += kind == Kind::kSwitch ? 1 : std::uint64_t{node.num_ports} + 1;
		if (!by_id_.emplace(node.id, topology_.nodes.size()).second)
			return at(where, fmt::format("there are two nodes \"{}\"", node.id));
		current_ = topology_.nodes.size();
		topology_.nodes.push_back(std::move(node));
		ports_.emplace_back();
		places_.push_back(where);
		return success();
	}

	Status port(LineReader reader, const Location &where)
	{
		if (!current_)
			return at(where,
				  "a port without a node: its lines follow the node's at once");
		auto said = parse_port_line(reader);
		if (!said)
			return at(where, said.error().text);
		TopologyNode &node = topology_.nodes[*current_];
		if (said->number > node.num_ports)
			return at(where, fmt::format("\"{}\" has {} ports, not {}", node.id,
						     node.num_ports, said->number));
		if (said->is_alias) {
			const auto alias = fmt::format("{}@{}", prefix_, said->remote);
			if (!aliases_.emplace(alias, AliasEnd{*current_, said->number}).second)
				return at(where,
					  fmt::format("there are two aliases \"{}\"", alias));
			return success();
		}
		if (said->guid)
			node.ports[said->number].guid = said->guid;
		if (said->remote.starts_with('@'))
			said->remote = prefix_ + said->remote;
		else if (said->remote.find('@') == std::string::npos)
			said->remote = full_id(said->remote);
		const auto number = said->number;
		if (!ports_[*current_].emplace(number, FilePort{where, std::move(*said)}).second)
			return at(where, fmt::format("port {} of \"{}\" is listed twice", number,
						     node.id));
		return success();
	}

	const FilePort *find(std::size_t node, std::uint32_t number) const
	{
		const auto found = ports_[node].find(number);
		return found == ports_[node].end() ? nullptr : &found->second;
	}

	End end(std::size_t node, std::uint32_t port) const
	{
		return {topology_.nodes[node].id, port};
	}

	/// A port that leads to an alias: only its own line says so, and only one may.
	Status join_alias(std::size_t node, const FilePort &port)
	{
		const auto alias = aliases_.find(port.said.remote);
		if (alias == aliases_.end())
			return at(port.where,
				  fmt::format("there is no alias \"{}\"", port.said.remote));
		const auto [remote, number] = alias->second;
		if (find(remote, number) || !joined_aliases_.insert(port.said.remote).second)
			return at(port.where,
				  fmt::format("the port behind \"{}\" has a cable already",
					      port.said.remote));
		topology_.cables.push_back({end(node, port.said.number), end(remote, number)});
		return success();
	}

	/// Makes the cable when the first of its ends is met; both ends must agree.
	Status join(std::size_t node, const FilePort &port)
	{
		const PortLine &said = port.said;
		if (said.remote.find('@') != std::string::npos)
			return join_alias(node, port);
		const auto found = by_id_.find(said.remote);
		if (found == by_id_.end())
			return at(port.where, fmt::format("there is no node \"{}\"", said.remote));
		const auto remote = found->second;
		const TopologyNode &other = topology_.nodes[remote];
		if (said.remote_port > other.num_ports)
			return at(port.where, fmt::format("\"{}\" has {} ports, not {}", other.id,
							  other.num_ports, said.remote_port));
		if (remote == node && said.remote_port == said.number)
			return at(port.where, "a cable has two different ends");
		const FilePort *back = find(remote, said.remote_port);
		const auto &id = topology_.nodes[node].id;
		if (!back)
			return at(port.where,
				  fmt::format("port {} of \"{}\" does not list this cable",
					      said.remote_port, other.id));
		if (back->said.remote != id || back->said.remote_port != said.number)
			return at(
				port.where,
				fmt::format("port {} of \"{}\" is cabled to \"{}\"[{}] in line {}",
					    said.remote_port, other.id, back->said.remote,
					    back->said.remote_port, back->where.line));
		learn_guid(remote, said);
		if (std::pair(node, said.number) < std::pair(remote, said.remote_port))
			topology_.cables.push_back(
				{end(node, said.number), end(remote, said.remote_port)});
		return success();
	}

	void learn_guid(std::size_t remote, const PortLine &said)
	{
		TopologyNode &node = topology_.nodes[remote];
		if (!said.remote_guid || node.kind == Kind::kSwitch)
			return;
		auto &guid = node.ports[said.remote_port].guid;
		if (!guid)
			guid = said.remote_guid;
	}

	Status check_guids() const
	{
		std::set<std::uint64_t> taken;
		for (std::size_t i = 0; i < topology_.nodes.size(); ++i) {
			const TopologyNode &node = topology_.nodes[i];
			if (!taken.insert(node.guid).second)
				return guid_twice(i, node.guid);
			for (std::uint32_t port = 1; port <= node.num_ports; ++port) {
				const auto guid = port_guid(node, port);
				// A port may have its node's GUID.
				if (guid != node.guid && !taken.insert(guid).second)
					return guid_twice(i, guid);
			}
		}
		return success();
	}

	Error guid_twice(std::size_t node, std::uint64_t guid) const
	{
		return at(places_[node], fmt::format("GUID {} of \"{}\" is another's already",
						     format_guid(guid), topology_.nodes[node].id));
	}

	const ReadFile &read_;
	int depth_ = 0;
	std::string prefix_;
	/// Of the next node.
	Product product_;
	Topology topology_;
	/// The node to which lines of ports belong.
	std::optional<std::size_t> current_;
	std::vector<std::map<std::uint32_t, FilePort>> ports_;
	std::vector<Location> places_;
	std::unordered_map<std::string, std::size_t> by_id_;
	std::unordered_map<std::string, AliasEnd> aliases_;
	std::set<std::string> joined_aliases_;
	std::map<Kind, GuidCounter> guids_ = {{Kind::kHca, {0x100000, 0x100000}},
					      {Kind::kSwitch, {0x200000, 0x200000}}};
};

Parser::Handler Parser::handler_for(std::string_view word)
{
	static const std::unordered_map<std::string_view, Handler> kHandlers = {
		{"Switch", &Parser::add_switch},
		{"Hca", &Parser::add_hca},
		{"Ca", &Parser::add_hca},
		{"Rt", &Parser::router},
		{"switchguid", &Parser::switch_guid},
		{"switchguids", &Parser::switch_guid},
		{"hcaguid", &Parser::hca_guid},
		{"hcaguids", &Parser::hca_guid},
		{"caguid", &Parser::hca_guid},
		{"caguids", &Parser::hca_guid},
		{"module", &Parser::module},
		{"include", &Parser::include},
		{"rtguid", &Parser::pass_over},
		{"vendid", &Parser::vendor_id},
		{"devid", &Parser::device_id},
		{"sysimgguid", &Parser::sys_image_guid},
		{"width", &Parser::pass_over},
		{"speed", &Parser::pass_over},
		{"extspeed", &Parser::pass_over},
		{"pdebug", &Parser::pass_over},
		{"do", &Parser::pass_over},
		// headings of ibnetdiscover --grouping
		{"Chassis", &Parser::pass_over},
		{"Non", &Parser::pass_over},
		{"Spine", &Parser::pass_over},
		{"Line", &Parser::pass_over},
	};
	const auto found = kHandlers.find(word);
	return found == kHandlers.end() ? nullptr : found->second;
}

} // namespace

Result<Topology> parse_topology(const std::string &path, const ReadFile &read)
{
	Parser parser(read);
	if (auto done = parser.file(path, nullptr); !done)
		return done.error();
	return parser.finish();
}

} // namespace pib::inline model

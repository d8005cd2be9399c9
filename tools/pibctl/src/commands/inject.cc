// SPDX-License-Identifier: GPL-2.0
#include "commands/inject.h"

#include <fmt/format.h>
#include <linux/pib.h>

#include <limits>
#include <ostream>

#include "commands/commands.h"
#include "commands/numbers.h"
#include "inject/words.h"
#include "model/words/fault_words.h"
#include "model/words/parse.h"

namespace pib::ctl {
namespace {

constexpr std::uint64_t kMost32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kLongestDelay = 10'000'000'000;
constexpr std::uint64_t kLastPort = 254;
/// Greatest status that leaves room for the direction of a directed route.
constexpr std::uint32_t kMostMadStatus = 0x7fff;
constexpr std::string_view kObjects[] = {"qp", "cq", "srq", "port"};

/// The object that is named, or nothing for the HCA itself.
Result<std::string_view> read_object(const Arguments &arguments, Injection &injection)
{
	std::string_view object;
	for (const auto word : kObjects) {
		if (!arguments.has(word))
			continue;
		if (word == "port" && object == "qp")
			continue;
		if (!object.empty())
			return usage_error(
				fmt::format("'{}' and '{}': one object at a time", object, word));
		const auto number = parse_number(word, arguments.one(word), 0, kMost32);
		if (!number)
			return number.error();
		injection.object = static_cast<std::uint32_t>(*number);
		object = word;
	}
	return object;
}

/// "port N" behind "qp 0" or "qp 1" says whose.
Status read_whose(const Arguments &arguments, Injection &injection)
{
	if (!arguments.has("qp") || !arguments.has("port"))
		return success();
	const auto port = parse_number("port", arguments.one("port"), 1, kLastPort);
	if (!port)
		return port.error();
	injection.port = static_cast<std::uint32_t>(*port);
	return success();
}

/// The object, which may be a call.
Result<std::string_view> read_subject(const Arguments &arguments, Injection &injection)
{
	const auto object = read_object(arguments, injection);
	if (!object || !arguments.has("verb"))
		return object;
	if (!object->empty())
		return usage_error(fmt::format("'{}' and 'verb': one object at a time", *object));
	injection.verb = arguments.one("verb");
	injection.object.reset();
	return std::string_view("verb");
}

std::string words_for(std::string_view object)
{
	std::string list;
	for (const InjectKind &kind : inject_kinds())
		if (kind.object == object)
			list += fmt::format("{}{}", list.empty() ? "" : ", ", kind.word);
	return list;
}

/// A word that is given and belongs to other objects; empty: none is.
std::string_view misplaced(const Arguments &arguments, std::string_view object)
{
	for (const InjectKind &kind : inject_kinds())
		if (arguments.has(kind.word) && !find_inject_kind(object, kind.word))
			return kind.word;
	return {};
}

Result<const InjectKind *> read_kind(const Arguments &arguments, std::string_view object)
{
	if (const auto word = misplaced(arguments, object); !word.empty())
		return usage_error(fmt::format("'{}' is nothing that happens to {}", word,
					       object.empty() ? "an HCA" : object));
	const InjectKind *found = nullptr;
	for (const InjectKind &kind : inject_kinds()) {
		if (kind.object != object || !arguments.has(kind.word))
			continue;
		if (found)
			return usage_error(fmt::format("'{}' and '{}': one thing at a time",
						       found->word, kind.word));
		found = &kind;
	}
	if (found)
		return found;
	if (object.empty())
		return usage_error("what is to happen is missing: 'fatal', or an object, qp N, "
				   "cq N, srq N or port N, and what happens to it");
	return usage_error(fmt::format("what is to happen to the {} is missing: {}", object,
				       words_for(object)));
}

/// "all" is without a limit.
Status read_count(std::string_view what, const std::string &word, Injection &injection)
{
	if (word == "all") {
		injection.count = 0;
		return success();
	}
	const auto number = parse_number(what, word, 1, kMost32);
	if (!number)
		return number.error();
	injection.count = static_cast<std::uint32_t>(*number);
	return success();
}

template <typename To>
Status take(const Result<std::uint32_t> &value, To &to)
{
	if (!value)
		return value.error();
	to = *value;
	return success();
}

Status read_delay(const std::string &word, Injection &injection)
{
	const auto delay = parse_duration("delay", word, kLongestDelay);
	if (!delay)
		return delay.error();
	injection.delay = *delay;
	return success();
}

Status read_value(const InjectKind &kind, const std::string &word, Injection &injection)
{
	switch (kind.value) {
	case InjectValue::kCount: return read_count(kind.word, word, injection);
	case InjectValue::kTime: return read_delay(word, injection);
	case InjectValue::kNak: return take(parse_nak(word), injection.arg);
	case InjectValue::kStatus: return take(parse_status(word), injection.arg);
	case InjectValue::kMadStatus:
		return take(parse_any_base("mad-status", word, 0, kMostMadStatus), injection.arg);
	case InjectValue::kLie: return take(parse_lie(word), injection.arg);
	case InjectValue::kError: return take(parse_errno(word), injection.arg);
	default: return success();
	}
}

Status read_when(const Arguments &arguments, Injection &injection)
{
	if (auto read = read_optional(arguments, "after", 0, kMost32, injection.after); !read)
		return read;
	if (auto read = read_optional(arguments, "every", 1, kMost32, injection.every); !read)
		return read;
	if (auto read = read_optional(arguments, "seed", 0,
				      std::numeric_limits<std::uint64_t>::max(), injection.seed);
	    !read)
		return read;
	if (const auto word = arguments.maybe("probability")) {
		const auto share = parse_probability("probability", *word, 1e9);
		if (!share)
			return share.error();
		injection.probability = static_cast<std::uint32_t>(*share);
	}
	if (const auto word = arguments.maybe("count")) {
		if (injection.count)
			return usage_error("'count' says again how often it happens");
		return read_count("count", *word, injection);
	}
	return success();
}

Status read_event(const Arguments &arguments, Injection &injection)
{
	if (injection.kind == PIB_INJECT_KIND_QP_ERROR)
		injection.arg = PIB_INJECT_REASON_FATAL;
	const auto word = arguments.maybe("event");
	if (!word)
		return success();
	if (injection.kind != PIB_INJECT_KIND_QP_ERROR)
		return usage_error("'event' belongs to 'qp N error'");
	return take(parse_inject_event(*word), injection.arg);
}

/// Reads which MADs a rule is about, and the value of a lie.
Status read_mads(const Arguments &arguments, Injection &injection)
{
	if (const auto word = arguments.maybe("class")) {
		const auto mgmt_class = parse_mgmt_class(*word);
		if (!mgmt_class)
			return mgmt_class.error();
		injection.mgmt_class = static_cast<std::uint8_t>(*mgmt_class);
	}
	if (const auto word = arguments.maybe("attribute")) {
		const auto attribute = parse_any_base("attribute", *word, 1, 0xffff);
		if (!attribute)
			return attribute.error();
		injection.mad_attribute = static_cast<std::uint16_t>(*attribute);
	}
	const auto word = arguments.maybe("value");
	if ((injection.kind == PIB_INJECT_KIND_MAD_LIE) != word.has_value())
		return usage_error(word ? "'value' belongs to 'lie'"
					: "what is told instead of the truth is missing: value");
	if (!word)
		return success();
	const auto value = parse_lie_value(injection.arg, *word);
	if (!value)
		return value.error();
	injection.value = *value;
	return success();
}

Status read_pid(const Arguments &arguments, Injection &injection)
{
	if (arguments.has("pid") && injection.verb.empty())
		return usage_error("'pid' belongs to 'verb'");
	return read_optional(arguments, "pid", 1, kMost32, injection.pid);
}

Result<Injection> read_injection(const Arguments &arguments)
{
	Injection injection;
	const auto name = parse_name(arguments.one("NAME"));
	if (!name)
		return name.error();
	injection.node = *name;
	const auto object = read_subject(arguments, injection);
	if (!object)
		return object.error();
	if (auto read = read_whose(arguments, injection); !read)
		return read.error();
	const auto kind = read_kind(arguments, *object);
	if (!kind)
		return kind.error();
	injection.kind = (*kind)->kind;
	if (auto read = read_value(**kind, arguments.one((*kind)->word), injection); !read)
		return read.error();
	if (auto read = read_event(arguments, injection); !read)
		return read.error();
	if (auto read = read_mads(arguments, injection); !read)
		return read.error();
	if (auto read = read_pid(arguments, injection); !read)
		return read.error();
	if (auto read = read_when(arguments, injection); !read)
		return read.error();
	return injection;
}

Status inject(const Context &context, const Arguments &arguments)
{
	const auto injection = read_injection(arguments);
	if (!injection)
		return injection.error();
	const auto id = context.client.inject(*injection);
	if (!id)
		return id.error();
	if (*id)
		context.text << (context.json ? fmt::format("{{\"injection\":{}}}\n", **id)
					      : fmt::format("injection {}\n", **id));
	return success();
}

Status remove(const Context &context, const Arguments &arguments)
{
	const auto name = parse_name(arguments.one("NAME"));
	if (!name)
		return name.error();
	const auto &word = arguments.one("ID|all");
	if (word == "all")
		return context.client.remove_injection(*name, {});
	const auto id = parse_number("ID", word, 1, kMost32);
	if (!id)
		return id.error();
	return context.client.remove_injection(*name, static_cast<std::uint32_t>(*id));
}

const Command kCommands[] = {
	{"inject",
	 "",
	 "make something go wrong in an HCA",
	 "Makes an object of an HCA fail, now, or makes a rule for the packets and requests of a queue\n"
	 "pair, which stays until it is deleted or the queue pair goes. A rule acts once unless COUNT\n"
	 "('all': without end), 'every' or 'probability' says otherwise, and its number is printed.\n"
	 "'rdma resource show' lists queue pairs, CQs and SRQs. A switch has rules for what its agents\n"
	 "send by queue pairs 0 and 1: drop, delay, mad-status and lie. inject.md in\n"
	 "/usr/share/doc/pib has all of it.",
	 {{"NAME", "the HCA, or a switch"}},
	 {{"qp", "N", "a queue pair:"},
	  {"error", "", "it fails; also of 'srq N', with its queue pairs, and of 'port N'"},
	  {"event", "WORD", "and says so by none, fatal (unless told), access or request"},
	  {"migrate", "", "it takes its alternate path"},
	  {"migrate-error", "", "it is told that it cannot"},
	  {"drop", "COUNT", "packets that it sends are lost"},
	  {"duplicate", "COUNT", "packets go twice"},
	  {"damage", "COUNT", "packets are damaged, and dropped for that"},
	  {"corrupt", "COUNT", "a bit of the payload is changed, and nobody sees it"},
	  {"tx-nomem", "COUNT", "there is no memory for packets that it sends"},
	  {"rx-nomem", "COUNT", "there is none for what comes"},
	  {"rx-full", "COUNT", "it has no room for what comes"},
	  {"delay", "TIME", "a packet, and all behind it, waits, up to 10s"},
	  {"nak", "CODE",
	   "a request is refused: invalid-request, remote-access, remote-operational; or an ACK becomes "
	   "a NAK: sequence"},
	  {"rnr", "COUNT", "requests are refused for now (RNR)"},
	  {"send-status", "STATUS",
	   "a send ends with this status: loc-len, loc-qp-op, loc-prot, wr-flush, mw-bind, bad-resp, "
	   "loc-access, rem-inv-req, rem-access, rem-op, retry-exc, rnr-retry-exc, rem-abort, fatal, "
	   "resp-timeout, general"},
	  {"recv-status", "STATUS", "a receive does"},
	  {"class", "CLASS",
	   "of queue pair 0 or 1 ('port N' says whose), only MADs of it: sm, sa, perf, cm, cc or a number"},
	  {"attribute", "N", "only MADs about it"},
	  {"mad-status", "N", "a response of it has this status"},
	  {"lie", "FIELD",
	   "subnet management's answer is not true: node-guid, port-guid, system-image-guid, port-state"},
	  {"value", "VALUE", "what it tells instead: a GUID, or down, init, armed or active"},
	  {"verb", "CALL", "a call of a process, as 'pibctl trace' names it:"},
	  {"errno", "ERROR", "it fails, as with ENOMEM"},
	  {"pid", "N", "of this process only"},
	  {"cq", "N", "a completion queue:"},
	  {"overrun", "", "it is lost as by an overflow"},
	  {"srq", "N", "a shared receive queue:"},
	  {"limit", "", "the event that few receives are left"},
	  {"port", "N", "a port, whose cable comes loose for a moment"},
	  {"fatal", "", "the HCA says that it has failed, and so do its queue pairs"},
	  {"after", "N", "so many packets or requests are left alone first"},
	  {"every", "N", "then the rule acts on each Nth"},
	  {"count", "COUNT", "so often at most"},
	  {"probability", "P", "with this chance, as in 1%"},
	  {"seed", "N", "where the choices by chance begin"}},
	 {{"pibctl inject pib0 qp 17 error", "queue pair 17 goes to ERR, with event QP_FATAL"},
	  {"pibctl inject pib0 qp 17 drop 3", "the next three packets that it sends are lost"},
	  {"pibctl inject pib0 qp 17 drop all probability 1% seed 7", "one in a hundred is"},
	  {"pibctl inject pib0 qp 17 nak remote-access after 10",
	   "it refuses the eleventh request"},
	  {"pibctl inject pib0 qp 0 drop all class sm",
	   "subnet management does not answer any more"},
	  {"pibctl inject sw0 qp 0 delay 100ms count all", "the agent of a switch answers late"},
	  {"pibctl inject pib0 verb reg_mr errno ENOMEM", "the next registration fails"},
	  {"pibctl inject pib0 fatal", "event DEVICE_FATAL"}},
	 inject},
	{"inject",
	 "del",
	 "delete injections",
	 "Deletes a rule that 'pibctl inject' has made, or all of an HCA or a switch.",
	 {{"NAME", "the HCA or switch"},
	  {"ID|all", "its number, as 'pibctl show injections' prints it"}},
	 {},
	 {{"pibctl inject del pib0 all", "nothing more goes wrong"}},
	 remove},
};

} // namespace

Result<Injection> parse_injection(const std::vector<std::string> &words)
{
	const auto arguments = read_arguments(kCommands[0].places, kCommands[0].keywords, words);
	if (!arguments)
		return arguments.error();
	return read_injection(*arguments);
}

std::span<const Command> inject_commands()
{
	return kCommands;
}

} // namespace pib::ctl

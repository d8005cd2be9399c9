// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>

#include <algorithm>

#include "commands/commands.h"
#include "commands/list_links.h"
#include "commands/list_objects.h"
#include "host/netdev_state.h"
#include "inject/words.h"
#include "model/words/parse.h"
#include "model/show/show.h"

namespace pib::ctl {
namespace {

Status show_all(const Context &context)
{
	const auto hcas = context.client.hcas();
	if (!hcas)
		return hcas.error();
	const auto switches = context.client.switches();
	if (!switches)
		return switches.error();
	show_hcas(context.out, *hcas);
	show_switches(context.out, *switches);
	return success();
}

Status show_one(const Context &context, const std::string &word)
{
	const auto name = parse_name(word);
	if (!name)
		return name.error();
	const auto hca = context.client.hca(*name);
	if (!hca)
		return hca.error();
	if (*hca) {
		show_hcas(context.out, {**hca});
		return success();
	}
	const auto node = context.client.find_switch(*name);
	if (!node)
		return node.error();
	if (!*node)
		return Error{fmt::format(
			"no HCA or switch '{}' in this network namespace ('pibctl show' lists "
			"them)",
			*name)};
	show_whole_switch(context.out, **node);
	return success();
}

Status show(const Context &context, const Arguments &arguments)
{
	if (const auto word = arguments.maybe("NAME"))
		return show_one(context, *word);
	return show_all(context);
}

/// Adds what the stack says of the netdev. A daemon's uplink names none of this namespace: it has no
/// ifindex.
void add_state(Uplink &uplink)
{
	if (!uplink.ifindex)
		return;
	if (const auto flags = netdev_flags(uplink.netdev))
		uplink.state = netdev_state(*flags);
}

Status list_uplinks(const Context &context, const Arguments &)
{
	auto uplinks = context.client.uplinks();
	if (!uplinks)
		return uplinks.error();
	std::ranges::for_each(*uplinks, add_state);
	show_uplinks(context.out, *uplinks);
	return success();
}

std::string argument_of(const Injection &injection)
{
	const InjectKind *kind = find_inject_kind(injection.kind);
	switch (kind ? kind->value : InjectValue::kNone) {
	case InjectValue::kNak: return nak_word(injection.arg);
	case InjectValue::kStatus: return status_word(injection.arg);
	case InjectValue::kTime: return fmt::format("{}ns", injection.delay);
	case InjectValue::kMadStatus: return fmt::format("{:#x}", injection.arg);
	case InjectValue::kLie:
		return fmt::format("{} {}", lie_word(injection.arg),
				   lie_value_word(injection.arg, injection.value.value_or(0)));
	case InjectValue::kError: return errno_word(injection.arg);
	default: return {};
	}
}

/// Prints what the rule is about.
void show_subject(Output &out, const Injection &injection)
{
	if (injection.object)
		out.field("qp", std::uint64_t{*injection.object});
	if (injection.port)
		out.field("port", std::uint64_t{*injection.port});
	if (injection.mgmt_class)
		out.field("class", mgmt_class_word(*injection.mgmt_class));
	if (injection.mad_attribute)
		out.field("attribute", fmt::format("{:#x}", *injection.mad_attribute));
	if (!injection.verb.empty())
		out.field("verb", injection.verb);
	if (injection.pid)
		out.field("pid", std::uint64_t{*injection.pid});
}

void show_injection(Output &out, const Injection &injection)
{
	const InjectKind *kind = find_inject_kind(injection.kind);
	const auto word = kind ? std::string(kind->word) : fmt::format("kind {}", injection.kind);
	const auto argument = argument_of(injection);
	out.begin_item(fmt::format("injection {} {}", injection.node, injection.id));
	out.key_field(injection.is_switch ? "switch" : "hca", injection.node);
	out.key_field("id", std::uint64_t{injection.id});
	show_subject(out, injection);
	out.field("kind", word);
	if (!argument.empty())
		out.field("argument", argument);
	if (injection.after.value_or(0))
		out.field("after", std::uint64_t{*injection.after});
	if (injection.every.value_or(1) != 1)
		out.field("every", std::uint64_t{*injection.every});
	if (injection.count.value_or(0))
		out.field("count", std::uint64_t{*injection.count});
	else
		out.field("count", std::string("all"));
	if (injection.probability.value_or(1'000'000'000) != 1'000'000'000) {
		const double share = static_cast<double>(*injection.probability) / 1e9;
		out.field("probability", share, fmt::format("{:g}", share));
		out.field("seed", std::uint64_t{injection.seed.value_or(0)});
	}
	out.field("seen", injection.seen);
	out.field("done", injection.done);
	out.end_item();
}

Status list_injections(const Context &context, const Arguments &)
{
	const auto injections = context.client.injections();
	if (!injections)
		return injections.error();
	context.out.begin_list("injections");
	for (const Injection &injection : *injections)
		show_injection(context.out, injection);
	context.out.end_list();
	return success();
}

const Place kSelection{"NAME[/PORT]", "only of this HCA, switch or port", false};

const Command kCommands[] = {
	{"show",
	 "",
	 "show HCAs and switches with their ports",
	 "Shows one HCA or switch, or all of this network namespace, with their ports. States are\n"
	 "spelled as by 'rdma link': a port is DOWN without a cable, INIT until a subnet manager\n"
	 "configures it, then ARMED and ACTIVE.",
	 {{"NAME", "only this HCA or switch", false}},
	 {},
	 {{"pibctl show", "everything"},
	  {"pibctl show pib0", "one HCA"},
	  {"pibctl -j -p show", "everything, as JSON for scripts, indented for eyes"}},
	 show},
	{"show",
	 "links",
	 "show the cables between ports",
	 "Shows all cables, those of one HCA or switch, or that of one port.",
	 {kSelection},
	 {},
	 {{"pibctl show links", "all cables"}},
	 list_links},
	{"show",
	 "peers",
	 "show the hosts at the far ends of cables over UDP",
	 "Shows the far end of each cable that runs over UDP: its address, whether a session is up,\n"
	 "who it says it is, and when it was last heard.",
	 {kSelection},
	 {},
	 {{"pibctl show peers", "all peers"}},
	 list_peers},
	{"show",
	 "counters",
	 "show the counters of ports",
	 "Shows what each port counted, named as in /sys/class/infiniband; data in bytes.",
	 {kSelection},
	 {},
	 {{"pibctl show counters", "of all ports"}, {"pibctl show counters pib0/1", "of one port"}},
	 list_counters},
	{"show",
	 "uplinks",
	 "show the netdevs that carry fabrics, with counters",
	 "Shows the UDP socket of each netdev and fabric, whether the netdev is UP, has NO-CARRIER or is\n"
	 "DOWN, its host switch, and what it counted: a datagram that is dropped is counted by its\n"
	 "reason.",
	 {},
	 {},
	 {{"pibctl show uplinks", "all uplinks"}},
	 list_uplinks},
	{"show",
	 "objects",
	 "show the objects of verbs: who has made them, when, and how they stand",
	 "Shows contexts, PDs, MRs, MWs, CQs, SRQs, QPs, AHs, XRC domains, multicast attachments, device\n"
	 "memory and counters: who has made each and when, the process's handle, the number by which\n"
	 "'rdma resource' calls it, and what there is to know of it. Without CAP_NET_ADMIN only the\n"
	 "objects of the same user's processes are shown, without keys.",
	 {{"NAME", "only of this HCA", false}},
	 {{"kind", "KIND",
	   "only these: context, pd, mr, mw, cq, srq, qp, ah, xrcd, attachment, dm, counter"},
	  {"pid", "PID", "only what this process has made"},
	  {"qp", "N", "only the queue pair of this number"}},
	 {{"pibctl show objects", "everything"},
	  {"pibctl show objects pib0 kind qp", "the queue pairs of an HCA"},
	  {"pibctl -j show objects pid 1234", "what a process has, as JSON"}},
	 list_objects},
	{"show",
	 "injections",
	 "show what 'pibctl inject' has arranged",
	 "Shows the rules for what goes wrong on purpose: how many packets or requests each has seen,\n"
	 "and how often it has acted.",
	 {},
	 {},
	 {{"pibctl show injections", "all rules"}},
	 list_injections},
};

} // namespace

std::span<const Command> show_commands()
{
	return kCommands;
}

} // namespace pib::ctl

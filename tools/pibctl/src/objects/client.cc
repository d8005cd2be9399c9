// SPDX-License-Identifier: GPL-2.0
#include "objects/client.h"

#include <fmt/format.h>
#include <linux/pib.h>

#include <algorithm>
#include <cerrno>

#include "objects/decode.h"
#include "objects/encode.h"
#include "model/words/parse.h"

namespace pib::ctl {
namespace {

bool is_absence(int code)
{
	return code == ENOENT || code == ENODEV;
}

Error absent(const std::string &doing, std::string_view what)
{
	return Error{
		fmt::format("cannot {}: no such {} in this network namespace ('pibctl show' lists "
			    "them)",
			    doing, what),
		ENOENT};
}

/// As the module says it of an HCA.
Error no_node(const std::string &doing)
{
	Error error = absent(doing, "HCA or switch");
	error.code = ENODEV;
	return error;
}

constexpr Reason kNoReasons[] = {{0, ""}};

constexpr Reason kLinkReasons[] = {
	{ENOENT,
	 "no such HCA, switch or port in this network namespace ('pibctl show' lists them)"},
	{ENODEV, "no such HCA, switch, port or netdev in this network namespace"},
	{EEXIST, "there is a cable in that port already ('pibctl link show' lists them)"},
	{EBUSY, "there is a cable in that port already ('pibctl link show' lists them)"},
	{ENOTCONN, "there is no cable in that port ('pibctl link show' lists them)"},
};

constexpr Reason kInjectReasons[] = {
	{EOPNOTSUPP, "module pib is older than this pibctl and injects nothing"},
};

constexpr Reason kSwitchReasons[] = {
	{EEXIST, "the name is taken by another HCA or switch ('pibctl show' lists them)"},
};

constexpr Reason kHcaReasons[] = {
	{EEXIST,
	 "the name is taken by a switch, or by another RDMA device, maybe of another network "
	 "namespace ('rdma dev' lists them)"},
};

std::string describe_add_link(const LinkRequest &link)
{
	if (link.b)
		return fmt::format("link {} to {}", format_end(link.a), format_end(*link.b));
	return fmt::format("link {} to {} through {}", format_end(link.a),
			   link.peer ? format_endpoint(*link.peer) : "a peer", link.netdev);
}

/// Name of a change, for a refusal.
struct ChangeText {
	std::string operator()(const HcaRequest &hca) const
	{
		return fmt::format("add HCA {}", hca.name);
	}
	std::string operator()(const SwitchRequest &node) const
	{
		return fmt::format("add switch {}", node.name);
	}
	std::string operator()(const LinkRequest &link) const { return describe_add_link(link); }
	std::string operator()(const Removal &removal) const
	{
		return fmt::format("delete {}", removal.name);
	}
};

std::span<const Reason> reasons_of(const Change &change)
{
	if (std::holds_alternative<HcaRequest>(change))
		return kHcaReasons;
	if (std::holds_alternative<SwitchRequest>(change))
		return kSwitchReasons;
	if (std::holds_alternative<LinkRequest>(change))
		return kLinkReasons;
	return kNoReasons;
}

/// Requests in one message: their acknowledgements must fit into the socket's buffer, and a user
/// who interrupts the whole must not wait for them for long.
constexpr std::size_t kBatch = 16;

} // namespace

Client::Applied Client::apply(const std::vector<Change> &changes, const Step &step)
{
	Applied applied;
	const std::span<const Change> all(changes);
	for (std::size_t at = 0; at < all.size() && applied.status; at += kBatch) {
		if (step)
			applied.status = step(at, all.size());
		if (!applied.status)
			break;
		const auto some = all.subspan(at, std::min(kBatch, all.size() - at));
		applied.status = apply_some(some, applied.made);
	}
	applied.made.resize(changes.size());
	return applied;
}

/// The error is that of the first change which is refused.
Status Client::apply_some(std::span<const Change> changes, std::vector<bool> &made)
{
	std::vector<Request> requests;
	for (const Change &change : changes)
		requests.push_back(encode_change(change));
	const auto verdicts = session_.call_all(requests);
	if (!verdicts)
		return verdicts.error();
	Status status = success();
	for (std::size_t i = 0; i < changes.size(); ++i) {
		const Verdict &verdict = (*verdicts)[i];
		made.push_back(verdict.code == 0);
		note(verdict);
		if (verdict.code && status)
			status = describe_refusal(std::visit(ChangeText{}, changes[i]), verdict,
						  requests[i], reasons_of(changes[i]));
	}
	return status;
}

void Client::note(const Verdict &verdict)
{
	if (!verdict.code && !verdict.text.empty() && !std::ranges::count(notes_, verdict.text))
		notes_.push_back(verdict.text);
}

Status Client::command(std::string_view doing, Request request, std::span<const Reason> reasons)
{
	const auto outcome = session_.call(request);
	if (!outcome)
		return outcome.error();
	note(outcome->verdict);
	if (!outcome->verdict.code)
		return success();
	return describe_refusal(doing, outcome->verdict, request, reasons);
}

Status Client::add_hca(const HcaRequest &hca)
{
	const auto no_netdev = fmt::format(
		"no netdev '{}' in this network namespace ('ip link' lists them)", hca.netdev);
	const Reason reasons[] = {
		{ENODEV, no_netdev},
		{EEXIST,
		 "the name is taken by a switch, or by another RDMA device, maybe of another network "
		 "namespace ('rdma dev' lists them)"},
		{EADDRINUSE,
		 "the UDP port is in use on this host; choose another with 'udp-port', the same "
		 "on all hosts"},
	};
	const auto where = hca.netdev.empty() ? "" : fmt::format(" on netdev {}", hca.netdev);
	return command(fmt::format("add HCA {}{}", hca.name, where), encode_add_hca(hca), reasons);
}

Status Client::set_keys(const KeysRequest &keys)
{
	static constexpr Reason kReasons[] = {
		{EOPNOTSUPP, "module pib is older than this pibctl and cannot change keys"},
		{ENODEV, "no such HCA in this network namespace ('pibctl show' lists them)"},
	};
	const bool uplink = keys.accept || keys.ecn || keys.dscp || keys.flow_ports || keys.windows;
	const auto what = uplink ? "what was asked for at" : "the keys of";
	return command(fmt::format("set {} {}", what, keys.hca), encode_set_keys(keys), kReasons);
}

Status Client::set_behavior(const BehaviorRequest &behavior)
{
	static constexpr Reason kReasons[] = {
		{EOPNOTSUPP, "module pib is older than this pibctl and has no behaviors"},
		{ENODEV, "no such HCA in this network namespace ('pibctl show' lists them)"},
	};
	return command(fmt::format("set the behavior of {}", behavior.hca),
		       encode_set_behavior(behavior), kReasons);
}

Status Client::add_switch(const SwitchRequest &node)
{
	return command(fmt::format("add switch {}", node.name), encode_add_switch(node),
		       kSwitchReasons);
}

Status Client::add_link(const LinkRequest &link)
{
	return command(describe_add_link(link), encode_add_link(link), kLinkReasons);
}

Status Client::remove(const std::string &name)
{
	const auto doing = fmt::format("delete {}", name);
	auto done = command(doing, encode_named(PIB_CMD_HCA_DEL, PIB_A_HCA_NAME, name), kNoReasons);
	if (done || !is_absence(done.error().code) || !session_.connected())
		return done;
	done = command(doing, encode_named(PIB_CMD_SWITCH_DEL, PIB_A_SWITCH_NAME, name),
		       kNoReasons);
	if (done || !is_absence(done.error().code))
		return done;
	return absent(doing, "HCA or switch");
}

Status Client::remove_switch(const std::string &name)
{
	const auto doing = fmt::format("delete switch {}", name);
	auto done = command(doing, encode_named(PIB_CMD_SWITCH_DEL, PIB_A_SWITCH_NAME, name),
			    kNoReasons);
	if (done || !is_absence(done.error().code) || !session_.connected())
		return done;
	return absent(doing, "switch");
}

Status Client::remove_link(const End &end)
{
	return command(fmt::format("delete the link of {}", format_end(end)),
		       encode_delete_link(end), kLinkReasons);
}

Status Client::change_link(const LinkChange &change)
{
	return command(fmt::format("set the link of {}", format_end(change.end)),
		       encode_change_link(change), kLinkReasons);
}

Result<int> Client::capture(const CaptureRequest &capture)
{
	static constexpr Reason kReasons[] = {
		{EOPNOTSUPP, "module pib is older than this pibctl and cannot capture"},
	};
	const auto what = capture.port ? format_end({capture.node, capture.port}) : capture.node;
	Request request = encode_capture(capture);
	const auto outcome = session_.call(request);
	if (!outcome)
		return outcome.error();
	if (outcome->verdict.code)
		return describe_refusal(fmt::format("capture at {}", what), outcome->verdict,
					request, kReasons);
	return decode_capture(outcome->answers);
}

Result<std::optional<std::uint32_t>> Client::inject(const Injection &injection)
{
	Injection wanted = injection;
	auto id = inject_into(wanted);
	if (id || id.error().code != ENODEV || !session_.connected())
		return id;
	wanted.is_switch = true;
	id = inject_into(wanted);
	if (id || id.error().code != ENODEV)
		return id;
	return no_node(fmt::format("inject into {}", injection.node));
}

Result<std::optional<std::uint32_t>> Client::inject_into(const Injection &injection)
{
	Request request = encode_inject(injection);
	const auto outcome = session_.call(request);
	if (!outcome)
		return outcome.error();
	if (outcome->verdict.code)
		return describe_refusal(fmt::format("inject into {}", injection.node),
					outcome->verdict, request, kInjectReasons);
	return decode_injection_id(outcome->answers);
}

Status Client::remove_injection(const std::string &node, std::optional<std::uint32_t> id)
{
	const auto what = id ? fmt::format("injection {}", *id) : std::string("the injections");
	const auto doing = fmt::format("delete {} of {}", what, node);
	auto done = command(doing, encode_delete_injection(node, false, id), kInjectReasons);
	if (done || done.error().code != ENODEV || !session_.connected())
		return done;
	done = command(doing, encode_delete_injection(node, true, id), kInjectReasons);
	if (done || done.error().code != ENODEV)
		return done;
	return no_node(doing);
}

Result<std::vector<Injection>> Client::injections()
{
	const auto answers = list("injections", PIB_CMD_INJECT_GET);
	if (!answers)
		return answers.error();
	return decode_injections(*answers);
}

/// The answers to a question after one object; nothing if it does not exist.
Result<std::optional<std::vector<Answer>>> Client::ask(std::string_view what, Request request)
{
	auto outcome = session_.call(request);
	if (!outcome)
		return outcome.error();
	if (is_absence(outcome->verdict.code))
		return std::optional<std::vector<Answer>>{};
	if (outcome->verdict.code)
		return describe_refusal(fmt::format("show {}", what), outcome->verdict, request,
					kNoReasons);
	if (auto version = decode_module_version(outcome->answers))
		module_version_ = std::move(version);
	return std::optional(std::move(outcome->answers));
}

Result<std::vector<Answer>> Client::list(std::string_view what, std::uint8_t command)
{
	auto answers = ask(what, encode_dump(command));
	if (!answers)
		return answers.error();
	return std::move(*answers).value_or(std::vector<Answer>{});
}

Result<std::vector<Hca>> Client::hcas()
{
	const auto answers = list("HCAs", PIB_CMD_HCA_GET);
	if (!answers)
		return answers.error();
	return decode_hcas(*answers);
}

Result<std::vector<Switch>> Client::switches()
{
	const auto answers = list("switches", PIB_CMD_SWITCH_GET);
	if (!answers)
		return answers.error();
	return decode_switches(*answers);
}

Result<std::vector<Link>> Client::links()
{
	const auto answers = list("links", PIB_CMD_LINK_GET);
	if (!answers)
		return answers.error();
	return decode_links(*answers);
}

Result<std::vector<Uplink>> Client::uplinks()
{
	const auto answers = list("uplinks", PIB_CMD_UPLINK_GET);
	if (!answers)
		return answers.error();
	return decode_uplinks(*answers);
}

Result<EventSource> Client::events()
{
	if (auto connected = session_.reconnect(); !connected)
		return connected.error();
	const auto group = session_.group(PIB_MCGRP_EVENTS);
	if (!group)
		return Error{"module pib is older than this pibctl and tells of no events",
			     EOPNOTSUPP};
	return EventSource{session_.family(), *group};
}

Result<std::vector<VerbsObject>> Client::verbs_objects()
{
	static constexpr Reason kReasons[] = {
		{EOPNOTSUPP, "module pib is older than this pibctl and lists no objects"},
	};
	Request request = encode_dump(PIB_CMD_OBJECT_GET);
	auto outcome = session_.call(request);
	if (!outcome)
		return outcome.error();
	if (outcome->verdict.code)
		return describe_refusal("show objects", outcome->verdict, request, kReasons);
	return decode_verbs_objects(outcome->answers);
}

Result<std::optional<Hca>> Client::hca(const std::string &name)
{
	const auto answers = ask(name, encode_named(PIB_CMD_HCA_GET, PIB_A_HCA_NAME, name));
	if (!answers)
		return answers.error();
	if (!*answers)
		return std::optional<Hca>{};
	auto found = decode_hcas(**answers);
	if (!found)
		return found.error();
	return found->empty() ? std::nullopt : std::optional(std::move(found->front()));
}

Result<std::optional<Switch>> Client::find_switch(const std::string &name)
{
	const auto answers = ask(name, encode_named(PIB_CMD_SWITCH_GET, PIB_A_SWITCH_NAME, name));
	if (!answers)
		return answers.error();
	if (!*answers)
		return std::optional<Switch>{};
	auto found = decode_switches(**answers);
	if (!found)
		return found.error();
	return found->empty() ? std::nullopt : std::optional(std::move(found->front()));
}

} // namespace pib::ctl

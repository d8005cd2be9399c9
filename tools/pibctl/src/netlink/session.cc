// SPDX-License-Identifier: GPL-2.0
#include "netlink/session.h"

#include <fmt/format.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/pib.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "netlink/attributes.h"

namespace pib::ctl {
namespace {

constexpr int kDumpAttempts = 5;
constexpr std::uint8_t kControllerVersion = 2;

Error not_loaded(const Verdict &verdict)
{
	return Error{
		fmt::format("module pib is not loaded and could not be loaded: {}. Try "
			    "'modprobe pib'; if that finds no module, install pib for this kernel",
			    verdict.code == ENOENT
				    ? "the kernel has no generic netlink family \"" PIB_FAMILY_NAME
				      "\""
				    : std::strerror(verdict.code)),
		verdict.code};
}

const Error kGone{"module pib is not loaded any more", ENOENT};

Error wrong_version(std::uint32_t version)
{
	return Error{
		fmt::format("netlink version mismatch: module pib speaks version {}, this pibctl "
			    "speaks version {}; install module and pibctl of one release",
			    version, PIB_FAMILY_VERSION),
		EPROTO};
}

const Error kNoFamily{"the kernel's answer is malformed: a generic netlink family without an id",
		      EBADMSG};
const Error kInterrupted{"the objects kept changing while they were being listed; try again",
			 EAGAIN};
const Error kOverrun{"the kernel lost part of its answer; try again", ENOBUFS};
const Error kTooLong{"the request is too long for one netlink message", EMSGSIZE};

} // namespace

Status Session::connect()
{
	if (family_)
		return success();
	if (!transport_) {
		auto opened = open_();
		if (!opened)
			return opened.error();
		transport_ = std::move(*opened);
	}
	return known_ ? find_family_again() : find_family();
}

Status Session::reconnect()
{
	family_ = 0;
	return connect();
}

Status Session::find_family()
{
	Request request(CTRL_CMD_GETFAMILY, kControllerVersion);
	request.put_text(CTRL_ATTR_FAMILY_NAME, PIB_FAMILY_NAME);
	const auto outcome = exchange(request, GENL_ID_CTRL);
	if (!outcome)
		return outcome.error();
	if (outcome->verdict.code)
		return not_loaded(outcome->verdict);
	if (outcome->answers.empty())
		return kNoFamily;
	return take_family(outcome->answers.front());
}

/// Looks in the list of all families, which loads no module. Asking for a family by its name would
/// load a module that was just unloaded.
Status Session::find_family_again()
{
	Request request(CTRL_CMD_GETFAMILY, kControllerVersion, NLM_F_DUMP);
	const auto outcome = exchange(request, GENL_ID_CTRL);
	if (!outcome)
		return outcome.error();
	for (const Answer &answer : outcome->answers)
		if (Attributes(answer.attributes).text(CTRL_ATTR_FAMILY_NAME) == PIB_FAMILY_NAME)
			return take_family(answer);
	return kGone;
}

Status Session::take_family(const Answer &answer)
{
	const Attributes family(answer.attributes);
	const auto version = family.number<std::uint32_t>(CTRL_ATTR_VERSION).value_or(0);
	const auto id = family.number<std::uint16_t>(CTRL_ATTR_FAMILY_ID).value_or(0);
	if (id < NLMSG_MIN_TYPE)
		return kNoFamily;
	if (version != PIB_FAMILY_VERSION)
		return wrong_version(version);
	family_ = id;
	known_ = true;
	take_groups(answer);
	return success();
}

/// Groups stand in a list whose entries have their places as types.
void Session::take_groups(const Answer &answer)
{
	groups_.clear();
	const auto list = Attributes(answer.attributes).nest(CTRL_ATTR_MCAST_GROUPS);
	if (!list)
		return;
	for (const Attribute &entry : list->all()) {
		const Attributes group(entry.payload);
		const auto name = group.text(CTRL_ATTR_MCAST_GRP_NAME);
		const auto number = group.number<std::uint32_t>(CTRL_ATTR_MCAST_GRP_ID);
		if (name && number)
			groups_.emplace_back(*name, *number);
	}
}

std::optional<std::uint32_t> Session::group(std::string_view name) const
{
	for (const auto &[known, number] : groups_)
		if (known == name)
			return number;
	return std::nullopt;
}

Result<Outcome> Session::call(Request &request)
{
	if (request.overflowed())
		return kTooLong;
	if (auto connected = connect(); !connected)
		return connected.error();
	auto outcome = call_family(request);
	if (!outcome || outcome->verdict.code != ENOENT)
		return outcome;
	// There is no such object, or the family has gone with the module; one that has come back has
	// another number.
	const std::uint16_t asked = std::exchange(family_, 0);
	if (auto connected = connect(); !connected)
		return connected.error();
	return family_ == asked ? outcome : call_family(request);
}

Result<Outcome> Session::call_family(Request &request)
{
	for (int attempt = 0; attempt < kDumpAttempts; ++attempt) {
		auto outcome = exchange(request, family_);
		if (!outcome || !interrupted_)
			return outcome;
	}
	return kInterrupted;
}

Result<Outcome> Session::exchange(Request &request, std::uint16_t type)
{
	request.address(type, ++sequence_);
	interrupted_ = false;
	if (auto sent = transport_->send(request.bytes()); !sent)
		return sent.error();

	Outcome outcome;
	for (;;) {
		const auto datagram = transport_->receive();
		if (!datagram)
			return datagram.error();
		const auto finished = take(*datagram, type, request.sequence(), outcome);
		if (!finished)
			return finished.error();
		if (*finished)
			return outcome;
	}
}

Result<std::vector<Verdict>> Session::call_all(std::vector<Request> &requests)
{
	if (auto connected = connect(); !connected)
		return connected.error();
	Bytes whole;
	const std::uint32_t first = sequence_ + 1;
	for (Request &request : requests) {
		if (request.overflowed())
			return kTooLong;
		request.address(family_, ++sequence_);
		const View bytes = request.bytes();
		whole.insert(whole.end(), bytes.begin(), bytes.end());
		whole.resize(NLMSG_ALIGN(whole.size()));
	}
	if (auto sent = transport_->send(whole); !sent)
		return sent.error();

	std::vector<Verdict> verdicts(requests.size());
	for (std::size_t missing = requests.size(); missing > 0;) {
		const auto datagram = transport_->receive();
		if (!datagram)
			return datagram.error();
		if (auto taken = take_verdicts(*datagram, first, verdicts, missing); !taken)
			return taken.error();
	}
	return verdicts;
}

/// The kernel answers in the order of the requests.
Status Session::take_verdicts(View datagram, std::uint32_t first, std::vector<Verdict> &verdicts,
			      std::size_t &missing)
{
	const auto messages = split_datagram(datagram);
	if (!messages)
		return messages.error();
	for (const RawMessage &message : *messages) {
		const std::uint32_t index = message.sequence - first;
		if (message.type != NLMSG_ERROR || index != verdicts.size() - missing ||
		    missing == 0)
			continue;
		auto verdict = read_verdict(message);
		if (!verdict)
			return verdict.error();
		verdicts[index] = std::move(*verdict);
		--missing;
	}
	return success();
}

/// True once the verdict is in. Messages of earlier requests are passed over.
Result<bool> Session::take(View datagram, std::uint16_t type, std::uint32_t sequence,
			   Outcome &outcome)
{
	const auto messages = split_datagram(datagram);
	if (!messages)
		return messages.error();
	for (const RawMessage &message : *messages) {
		if (message.sequence != sequence)
			continue;
		interrupted_ |= (message.flags & NLM_F_DUMP_INTR) != 0;
		if (message.type == NLMSG_OVERRUN)
			return kOverrun;
		if (message.type == NLMSG_ERROR || message.type == NLMSG_DONE) {
			auto verdict = read_verdict(message);
			if (!verdict)
				return verdict.error();
			outcome.verdict = std::move(*verdict);
			return true;
		}
		if (message.type != type || message.payload.size() < GENL_HDRLEN)
			continue;
		const View attributes = message.payload.subspan(GENL_HDRLEN);
		outcome.answers.push_back(
			{message.payload[0], Bytes(attributes.begin(), attributes.end())});
	}
	return false;
}

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
#include "netlink/answer.h"

#include <fmt/format.h>
#include <linux/netlink.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "netlink/attributes.h"

namespace pib::ctl {
namespace {

const Error kMalformed{"the kernel's answer is malformed: a netlink message is cut short"};

void read_policy(const Attributes &policy, Verdict &verdict)
{
	const auto least = policy.number<std::uint64_t>(NL_POLICY_TYPE_ATTR_MIN_VALUE_U);
	const auto most = policy.number<std::uint64_t>(NL_POLICY_TYPE_ATTR_MAX_VALUE_U);
	if (least && most)
		verdict.range = {*least, *most};
}

void read_extended_ack(View stream, Verdict &verdict)
{
	const Attributes tlvs(stream);
	verdict.text = tlvs.text(NLMSGERR_ATTR_MSG).value_or("");
	verdict.bad_offset = tlvs.number<std::uint32_t>(NLMSGERR_ATTR_OFFS);
	verdict.missing_type = tlvs.number<std::uint32_t>(NLMSGERR_ATTR_MISS_TYPE);
	verdict.missing_nest = tlvs.number<std::uint32_t>(NLMSGERR_ATTR_MISS_NEST);
	if (const auto policy = tlvs.nest(NLMSGERR_ATTR_POLICY))
		read_policy(*policy, verdict);
}

/// Bytes between the error code and the extended ack: the refused request.
Result<std::size_t> echo_size(const RawMessage &message, int code)
{
	nlmsghdr refused;
	if (message.type == NLMSG_DONE)
		return std::size_t{0};
	if (message.payload.size() < sizeof(int) + sizeof(refused))
		return kMalformed;
	std::memcpy(&refused, message.payload.data() + sizeof(int), sizeof(refused));
	// A success never carries the request's payload back.
	if (code == 0 || (message.flags & NLM_F_CAPPED))
		return sizeof(refused);
	return std::size_t{NLMSG_ALIGN(std::max<std::size_t>(refused.nlmsg_len, sizeof(refused)))};
}

} // namespace

Error malformed_answer(std::string_view what)
{
	return Error{fmt::format("the module's answer is malformed: {}", what), EBADMSG};
}

Result<std::vector<RawMessage>> split_datagram(View datagram)
{
	std::vector<RawMessage> messages;
	while (!datagram.empty()) {
		nlmsghdr header;
		if (datagram.size() < sizeof(header))
			return kMalformed;
		std::memcpy(&header, datagram.data(), sizeof(header));
		if (header.nlmsg_len < sizeof(header) || header.nlmsg_len > datagram.size())
			return kMalformed;
		messages.push_back(
			{header.nlmsg_type, header.nlmsg_flags, header.nlmsg_seq,
			 datagram.subspan(sizeof(header), header.nlmsg_len - sizeof(header))});
		const std::size_t step = (std::size_t{header.nlmsg_len} + 3) & ~std::size_t{3};
		datagram = datagram.subspan(std::min(step, datagram.size()));
	}
	return messages;
}

Result<Verdict> read_verdict(const RawMessage &message)
{
	Verdict verdict;
	std::int32_t code = 0;
	// Some kernels end a dump with a DONE that has no code.
	if (message.type == NLMSG_DONE && message.payload.empty())
		return verdict;
	if (message.payload.size() < sizeof(code))
		return kMalformed;
	std::memcpy(&code, message.payload.data(), sizeof(code));
	if (code == std::numeric_limits<std::int32_t>::min())
		return kMalformed;
	verdict.code = code < 0 ? -code : code;

	const auto echo = echo_size(message, code);
	if (!echo)
		return echo.error();
	const std::size_t skip = sizeof(code) + *echo;
	if ((message.flags & NLM_F_ACK_TLVS) && skip <= message.payload.size())
		read_extended_ack(message.payload.subspan(skip), verdict);
	return verdict;
}

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
#include "capture/comments.h"

#include <fmt/format.h>
#include <linux/pib_capture.h>

#include <iterator>

namespace pib::ctl {
namespace {

constexpr std::size_t kLrh = 8;
constexpr std::size_t kGrh = 40;
constexpr std::size_t kBth = 12;
constexpr std::uint32_t kPsnMask = 0xffffff;

struct Reason {
	pib_capture_reason reason;
	std::string_view text;
};
/// By their numbers.
constexpr Reason kReasons[] = {
	{PIB_CAPTURE_PASSED, ""},
	{PIB_CAPTURE_INACTIVE, "the port is not active or has no cable"},
	{PIB_CAPTURE_MTU, "larger than the MTU of the link"},
	{PIB_CAPTURE_NO_VL, "no VL for its SL"},
	{PIB_CAPTURE_NO_ROUTE, "no route to its DLID"},
	{PIB_CAPTURE_LOOP, "it would leave by the port by which it came"},
	{PIB_CAPTURE_PKEY_IN, "the port's P_Keys do not let it in"},
	{PIB_CAPTURE_PKEY_OUT, "the port's P_Keys do not let it out"},
	{PIB_CAPTURE_HOPS, "too many switches"},
	{PIB_CAPTURE_FULL, "no room where it goes"},
	{PIB_CAPTURE_LOST, "lost in the cable"},
	{PIB_CAPTURE_DAMAGED, "damaged in the cable"},
	{PIB_CAPTURE_DUPLICATED, "duplicated by the cable"},
	{PIB_CAPTURE_REORDERED, "overtaken in the cable"},
	{PIB_CAPTURE_HOQ, "head of its queue for too long (HOQLife)"},
	{PIB_CAPTURE_LIFE, "in the switch for too long (LifeTimeValue)"},
	{PIB_CAPTURE_BAD_PATH, "its LID or GID is not the port's"},
	{PIB_CAPTURE_NO_QP, "no such QP"},
	{PIB_CAPTURE_BAD_SERVICE, "the QP has another service or peer"},
	{PIB_CAPTURE_BAD_PKEY, "the QP has another P_Key"},
	{PIB_CAPTURE_INJECTED, "lost on purpose where the QP sends"},
	{PIB_CAPTURE_NO_COPY, "a multicast of which no more copies are made"},
	{PIB_CAPTURE_NO_MEMORY, "the kernel has no memory for it"},
	{PIB_CAPTURE_QP_STATE, "it takes nothing in"},
	{PIB_CAPTURE_BAD_QKEY, "it has another Q_Key"},
	{PIB_CAPTURE_BAD_LENGTH, "the length does not fit"},
	{PIB_CAPTURE_BAD_OPCODE, "the opcode is not expected"},
	{PIB_CAPTURE_BAD_RESPONSE, "a response to no request"},
	{PIB_CAPTURE_OLD_RESPONSE, "a response that has come before"},
	{PIB_CAPTURE_OLD_REQUEST, "a request that has come before"},
	{PIB_CAPTURE_NO_PAGE, "its memory has no page yet"},
	{PIB_CAPTURE_NO_RECEIVE, "no receive is posted"},
	{PIB_CAPTURE_OUT_OF_SEQUENCE, "one before it is missing"},
	{PIB_CAPTURE_REFUSED, "it has refused a request before"},
	{PIB_CAPTURE_AGENT_BUSY, "the switch has no time for it"},
	{PIB_CAPTURE_NO_GROUP, "nobody at this port has joined its group"},
};
constexpr bool every_reason_has_its_row()
{
	for (std::size_t i = 0; i < std::size(kReasons); ++i)
		if (kReasons[i].reason != i)
			return false;
	return std::size(kReasons) == __PIB_CAPTURE_REASONS;
}
static_assert(every_reason_has_its_row());

std::string_view reason_text(std::uint8_t reason)
{
	return reason < std::size(kReasons) ? kReasons[reason].text
					    : "a reason that this pibctl does not know";
}

/// True for what a cable does to packets that go on all the same.
bool goes_on(std::uint8_t reason)
{
	return reason == PIB_CAPTURE_DUPLICATED || reason == PIB_CAPTURE_REORDERED ||
	       reason == PIB_CAPTURE_DAMAGED;
}

std::string fate_of(const CapturedPacket &packet)
{
	if (!packet.reason)
		return {};
	const auto text = reason_text(packet.reason);
	if (packet.flags & PIB_CAPTURE_JUDGED)
		return fmt::format("dropped by its queue pair: {}", text);
	if (packet.flags & PIB_CAPTURE_FAILED)
		return fmt::format("did not pass: {}", text);
	return goes_on(packet.reason) ? std::string(text) : fmt::format("dropped: {}", text);
}

std::uint32_t get24(View bytes, std::size_t at)
{
	return static_cast<std::uint32_t>(bytes[at] << 16 | bytes[at + 1] << 8 | bytes[at + 2]);
}

/// RC, UC and XRC; 0x0d to 0x12 answer.
bool is_connected_request(std::uint8_t opcode)
{
	const int service = opcode >> 5;
	const int operation = opcode & 0x1f;
	return (service == 0 || service == 1 || service == 5) &&
	       (operation < 0x0d || operation > 0x12);
}

/// 0: the packet was cut before its end, or has none.
std::size_t bth_of(View data)
{
	if (data.size() < kLrh)
		return 0;
	const std::size_t bth = kLrh + ((data[1] & 3) == 3 ? kGrh : 0);
	return data.size() < bth + kBth ? 0 : bth;
}

/// Its requests are not acknowledged, so nothing is sent again.
bool is_uc(View data)
{
	const auto bth = bth_of(data);
	return bth && data[bth] >> 5 == 1;
}

/// was_seen: a request of the same PSN has passed.
std::string_view repetition_of(const CapturedPacket &packet, bool was_seen)
{
	if (packet.reason == PIB_CAPTURE_DUPLICATED || packet.flags & PIB_CAPTURE_JUDGED)
		return {};
	if (packet.flags & PIB_CAPTURE_COPY || (was_seen && is_uc(packet.data)))
		return "copy";
	return was_seen ? "retransmission" : "";
}

} // namespace

bool Retransmissions::seen(const CapturedPacket &packet)
{
	const View data = packet.data;
	const auto bth = bth_of(data);
	if (!bth || !is_connected_request(data[bth]) ||
	    packet.flags & (PIB_CAPTURE_FAILED | PIB_CAPTURE_JUDGED))
		return false;
	const std::uint64_t out = packet.flags & PIB_CAPTURE_OUT ? 1 : 0;
	const std::uint64_t slid = get24(data, 5) & 0xffff;
	const std::uint64_t qp = get24(data, bth + 5);
	const std::uint64_t key = std::uint64_t{packet.port} << 56 | out << 48 | qp << 16 | slid;
	if (flows_.size() >= kConnections && !flows_.contains(key))
		flows_.clear();
	return note(flows_[key], get24(data, bth + 9));
}

bool Retransmissions::note(Flow &flow, std::uint32_t psn)
{
	const std::uint32_t ahead = (psn - flow.newest) & kPsnMask;
	const std::uint32_t behind = (flow.newest - psn) & kPsnMask;
	if (flow.psns.none() || (ahead >= kWindow && behind >= kWindow)) {
		flow.psns.reset();
		flow.newest = psn;
		flow.psns.set(psn % kWindow);
		return false;
	}
	if (behind < kWindow) {
		const bool before = flow.psns[psn % kWindow];
		flow.psns.set(psn % kWindow);
		return before;
	}
	for (; flow.newest != psn; flow.newest = (flow.newest + 1) & kPsnMask)
		flow.psns.reset((flow.newest + 1) % kWindow);
	flow.psns.set(psn % kWindow);
	return false;
}

std::string comment_on(const CapturedPacket &packet, Retransmissions &retransmissions)
{
	std::string text = fate_of(packet);
	const auto repetition = repetition_of(packet, retransmissions.seen(packet));
	if (!text.empty() && !repetition.empty())
		text += "; ";
	return text.append(repetition);
}

} // namespace pib::ctl

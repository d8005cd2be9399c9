// SPDX-License-Identifier: GPL-2.0
#include "capture/comments.h"

#include <fmt/format.h>
#include <linux/pib_capture.h>

namespace pib::ctl {
namespace {

constexpr std::size_t kLrh = 8;
constexpr std::size_t kGrh = 40;
constexpr std::size_t kBth = 12;
constexpr std::uint32_t kPsnMask = 0xffffff;

std::string_view reason_text(std::uint8_t reason)
{
	static constexpr std::array<std::string_view, __PIB_CAPTURE_REASONS> kTexts = {
		"",
		"the port is not active or has no cable",
		"larger than the MTU of the link",
		"no VL for its SL",
		"no route to its DLID",
		"it would leave by the port by which it came",
		"the port's P_Keys do not let it in",
		"the port's P_Keys do not let it out",
		"too many switches",
		"no room where it goes",
		"lost in the cable",
		"damaged in the cable",
		"duplicated by the cable",
		"overtaken in the cable",
		"head of its queue for too long (HOQLife)",
		"in the switch for too long (LifeTimeValue)",
		"its LID or GID is not the port's",
		"no such QP",
		"the QP has another service or peer",
		"the QP has another P_Key",
		"lost on purpose where the QP sends",
		"a multicast of which no more copies are made",
		"the kernel has no memory for it",
		"it takes nothing in",
		"it has another Q_Key",
		"the length does not fit",
		"the opcode is not expected",
		"a response to no request",
		"a response that has come before",
		"a request that has come before",
		"its memory has no page yet",
		"no receive is posted",
		"one before it is missing",
		"it has refused a request before",
	};
	return reason < kTexts.size() ? kTexts[reason] : "a reason that this pibctl does not know";
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

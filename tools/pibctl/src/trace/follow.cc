// SPDX-License-Identifier: GPL-2.0
#include "trace/follow.h"

#include <algorithm>
#include <charconv>

namespace pib::ctl {
namespace {

/// As many as may be under way, for a queue pair has no more work requests.
constexpr std::size_t kMessages = 1 << 15;

template <typename T>
T number_of(const TraceRecord &record, std::string_view name)
{
	T value = 0;
	if (const auto *word = record.field(name))
		std::from_chars(word->data(), word->data() + word->size(), value);
	return value;
}

double time_of(const TraceRecord &record)
{
	double value = 0;
	std::from_chars(record.time.data(), record.time.data() + record.time.size(), value);
	return value;
}

bool field_is(const TraceRecord &record, std::string_view name, std::string_view value)
{
	const auto *word = record.field(name);
	return word && *word == value;
}

/// Signed distance in the circle of 24 bits.
std::int32_t psn_distance(std::uint32_t a, std::uint32_t b)
{
	return static_cast<std::int32_t>((a - b) << 8) >> 8;
}

bool is_response(const TraceRecord &record)
{
	return field_is(record, "opcode", "RDMA_READ_RESPONSE") ||
	       field_is(record, "opcode", "ATOMIC_ACKNOWLEDGE");
}

/// These carry no payload of their own: one packet is all that is sent.
bool is_one_packet(const TraceRecord &record)
{
	return !field_is(record, "opcode", "SEND") && !field_is(record, "opcode", "RDMA_WRITE");
}

bool is_local(const TraceRecord &record)
{
	return field_is(record, "opcode", "LOCAL_INV") || field_is(record, "opcode", "BIND_MW") ||
	       field_is(record, "opcode", "REG_MR");
}

} // namespace

bool MessageFollower::is_near(const TraceRecord &record) const
{
	return field_is(record, "device", device_) && record.event != "dropped" &&
	       number_of<std::uint32_t>(record, "qpn") == qpn_;
}

bool MessageFollower::is_far(const TraceRecord &record)
{
	if (number_of<std::uint32_t>(record, "qpn") != far_qpn_)
		return false;
	if (record.event == "dropped")
		return true;
	if (record.field("far_qpn") && number_of<std::uint32_t>(record, "far_qpn") == qpn_)
		far_device_ = *record.field("device");
	return far_device_ && field_is(record, "device", *far_device_);
}

void MessageFollower::post(const TraceRecord &record)
{
	Message message;
	message.number = ++posted_;
	message.posted = time_of(record);
	message.wr_id = record.field("wr_id") ? *record.field("wr_id") : "";
	message.bytes = number_of<std::uint64_t>(record, "bytes");
	message.is_sent = is_local(record);
	messages_.push_back(message);
	if (messages_.size() > kMessages)
		messages_.pop_front();
}

/// The last one that begins at the packet or before it.
const MessageFollower::Message *MessageFollower::by_psn(const TraceRecord &record) const
{
	const auto psn = number_of<std::uint32_t>(record, "psn");
	const Message *found = nullptr;
	for (const Message &message : messages_) {
		if (message.psn && psn_distance(psn, *message.psn) >= 0)
			found = &message;
	}
	return found;
}

const MessageFollower::Message *MessageFollower::by_wr_id(const TraceRecord &record) const
{
	const auto *wr_id = record.field("wr_id");
	const auto found =
		wr_id ? std::ranges::find(messages_, *wr_id, &Message::wr_id) : messages_.end();
	return found == messages_.end() ? nullptr : &*found;
}

/// What was never sent before belongs to the first message that is not sent yet.
const MessageFollower::Message *MessageFollower::send(const TraceRecord &record)
{
	const auto psn = number_of<std::uint32_t>(record, "psn");
	const auto found = std::ranges::find(messages_, false, &Message::is_sent);
	if (found == messages_.end() || (next_psn_ && psn_distance(psn, *next_psn_) < 0))
		return by_psn(record);
	next_psn_ = psn + number_of<std::uint32_t>(record, "packets");
	if (!found->psn)
		found->psn = psn;
	found->sent += number_of<std::uint64_t>(record, "bytes");
	found->is_sent = is_one_packet(record) || found->sent >= found->bytes;
	return &*found;
}

const MessageFollower::Message *MessageFollower::near(const TraceRecord &record)
{
	if (record.event == "wr_posted") {
		post(record);
		return &messages_.back();
	}
	if (record.event == "qp_sent")
		return is_response(record) ? nullptr : send(record);
	if (record.event == "qp_received" && !is_response(record))
		return nullptr;
	if (record.event == "completion")
		return by_wr_id(record);
	return record.field("psn") && record.event != "ack_sent" ? by_psn(record) : nullptr;
}

const MessageFollower::Message *MessageFollower::far(const TraceRecord &record)
{
	if (record.event == "completion") {
		const auto found = std::ranges::find(messages_, received_, &Message::number);
		const auto *opcode = record.field("opcode");
		return opcode && opcode->starts_with("RECV") && found != messages_.end() ? &*found
											 : nullptr;
	}
	const bool answers = record.event == "ack_sent" ||
			     (record.event == "qp_sent" && is_response(record)) ||
			     (record.event == "qp_received" && !is_response(record)) ||
			     record.event == "dropped";
	const Message *message = answers ? by_psn(record) : nullptr;
	if (message && record.event == "qp_received")
		received_ = message->number;
	return message;
}

std::optional<MessageEvent> MessageFollower::follow(const TraceRecord &record)
{
	if (record.kind != TraceRecord::Kind::kEvent)
		return std::nullopt;
	const bool here = is_near(record);
	const Message *message = here ? near(record) : is_far(record) ? far(record) : nullptr;
	if (!message)
		return std::nullopt;
	const MessageEvent event{message->number, time_of(record) - message->posted,
				 here && record.event == "completion"};
	/// Those before it have no completion, or had theirs.
	if (event.is_end)
		while (!messages_.empty() && messages_.front().number <= event.message)
			messages_.pop_front();
	return event;
}

} // namespace pib::ctl

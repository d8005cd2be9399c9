// SPDX-License-Identifier: GPL-2.0
#include "trace/follow.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace pib::ctl {
namespace {

/// Most messages on their way, since a queue pair has no more work requests.
constexpr std::size_t kMessages = 1 << 15;
/// Path MTUs, bytes.
constexpr std::uint64_t kLeastMtu = 256;
constexpr std::uint64_t kMostMtu = 4096;
/// In "flags" of a work request.
constexpr std::uint64_t kSignaled = 1 << 1;

template <typename T>
T number_of(const TraceRecord &record, std::string_view name)
{
	T value = 0;
	const auto *field = record.field(name);
	if (!field)
		return value;
	std::string_view word = *field;
	const bool hexadecimal = word.starts_with("0x");
	if (hexadecimal)
		word.remove_prefix(2);
	std::from_chars(word.data(), word.data() + word.size(), value, hexadecimal ? 16 : 10);
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

bool is_receive(const TraceRecord &record)
{
	const auto *opcode = record.field("opcode");
	return opcode && opcode->starts_with("RECV");
}

bool is_local(const TraceRecord &record)
{
	return field_is(record, "opcode", "LOCAL_INV") || field_is(record, "opcode", "BIND_MW") ||
	       field_is(record, "opcode", "REG_MR");
}

} // namespace

std::string trace_json(const FinishedMessage &finished)
{
	return fmt::format(R"({{"event":"finished","message":{},"completion":"{}"}})",
			   finished.message, finished.is_signaled ? "not seen" : "not asked for");
}

std::string trace_text(const FinishedMessage &finished)
{
	return fmt::format("message {} {}", finished.message,
			   finished.is_signaled ? "completion not seen"
						: "no completion asked for");
}

bool MessageFollower::is_near(const TraceRecord &record) const
{
	return field_is(record, "device", device_) && record.source == file_ &&
	       record.event != "dropped" && number_of<std::uint32_t>(record, "qpn") == qpn_;
}

bool MessageFollower::is_far(const TraceRecord &record)
{
	if (number_of<std::uint32_t>(record, "qpn") != far_qpn_)
		return false;
	if (record.event == "dropped")
		return true;
	const auto *device = record.field("device");
	if (device && record.field("far_qpn") &&
	    number_of<std::uint32_t>(record, "far_qpn") == qpn_) {
		far_device_ = *device;
		far_file_ = record.source;
	}
	return far_device_ && field_is(record, "device", *far_device_) &&
	       record.source == far_file_;
}

void MessageFollower::post(const TraceRecord &record)
{
	Message message;
	message.number = ++posted_;
	message.posted = time_of(record);
	message.index = number_of<std::uint32_t>(record, "index");
	message.is_signaled = number_of<std::uint64_t>(record, "flags") & kSignaled;
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

/// Names of work requests may be all the same, and are 0 of what the kernel posts.
const MessageFollower::Message *MessageFollower::by_index(const TraceRecord &record) const
{
	const auto found = std::ranges::find(messages_, number_of<std::uint32_t>(record, "index"),
					     &Message::index);
	return found == messages_.end() ? nullptr : &*found;
}

/// Packets of a message are full but for the last, so several, or the first of more, say it.
void MessageFollower::learn_mtu(const TraceRecord &record)
{
	const auto packets = number_of<std::uint64_t>(record, "packets");
	const auto bytes = number_of<std::uint64_t>(record, "bytes");
	const auto *message = packets == 1 ? by_psn(record) : nullptr;
	const bool is_full = message && message->bytes > bytes &&
			     message->psn == number_of<std::uint32_t>(record, "psn");
	if (mtu_ || (packets < 2 && !is_full))
		return;
	for (auto mtu = kLeastMtu; mtu <= kMostMtu; mtu *= 2)
		if (packets == 1 ? bytes == mtu : (bytes + mtu - 1) / mtu == packets)
			mtu_ = mtu;
}

/// A READ takes a PSN for each packet of its answer, and may be asked for again at any of them.
std::uint32_t MessageFollower::first_new_psn() const
{
	const auto answer = mtu_ ? (read_bytes_ + mtu_ - 1) / mtu_ : 1;
	return *next_psn_ + static_cast<std::uint32_t>(answer > 1 ? answer - 1 : 0);
}

/// Packets that were never sent before belong to the first message that is not sent yet.
const MessageFollower::Message *MessageFollower::send(const TraceRecord &record)
{
	const auto psn = number_of<std::uint32_t>(record, "psn");
	const auto found = std::ranges::find(messages_, false, &Message::is_sent);
	if (found == messages_.end() || (next_psn_ && psn_distance(psn, first_new_psn()) < 0))
		return by_psn(record);
	next_psn_ = psn + number_of<std::uint32_t>(record, "packets");
	read_bytes_ = field_is(record, "opcode", "RDMA_READ_REQUEST") ? found->bytes : 0;
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
	if (record.event == "qp_received")
		learn_mtu(record);
	if (record.event == "completion")
		return is_receive(record) ? nullptr : by_index(record);
	return record.field("psn") && record.event != "ack_sent" ? by_psn(record) : nullptr;
}

const MessageFollower::Message *MessageFollower::far(const TraceRecord &record)
{
	if (record.event == "completion") {
		const auto found = std::ranges::find(messages_, received_, &Message::number);
		return is_receive(record) && found != messages_.end() ? &*found : nullptr;
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

/// Forgets the message and those before it, which are finished, too, and are returned.
std::vector<FinishedMessage> MessageFollower::retire(std::uint64_t message)
{
	std::vector<FinishedMessage> before;
	for (; !messages_.empty() && messages_.front().number <= message; messages_.pop_front()) {
		const Message &first = messages_.front();
		if (first.number < message)
			before.push_back({first.number, first.is_signaled});
	}
	return before;
}

std::optional<MessageEvent> MessageFollower::follow(const TraceRecord &record)
{
	if (record.kind != TraceRecord::Kind::kEvent)
		return std::nullopt;
	const bool here = is_near(record);
	const Message *message = here ? near(record) : is_far(record) ? far(record) : nullptr;
	if (!message)
		return std::nullopt;
	MessageEvent event{message->number,
			   time_of(record) - message->posted,
			   here && record.event == "completion",
			   {}};
	if (event.is_end)
		event.before = retire(event.message);
	return event;
}

} // namespace pib::ctl

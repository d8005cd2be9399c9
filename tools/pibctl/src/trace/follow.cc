// SPDX-License-Identifier: GPL-2.0
#include "trace/follow.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace pib::ctl {
namespace {

/// Most messages on their way, since a queue pair has no more work requests.
constexpr std::size_t kMessages = 1 << 15;
/// Messages of UC and UD that are finished here and may still be on their way.
constexpr std::size_t kOnTheirWay = 1 << 10;
/// Queue pairs that have taken in datagrams whose completions are to come.
constexpr std::size_t kArrivals = 1 << 10;
constexpr std::uint32_t kMulticastQpn = 0xFFFFFF;
/// Path MTUs, bytes.
constexpr std::uint64_t kLeastMtu = 256;
constexpr std::uint64_t kMostMtu = 4096;
/// Most PSNs of a message (9.7.2): half of them.
constexpr std::uint64_t kMostPsns = 1 << 23;
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

std::int32_t index_distance(std::uint32_t a, std::uint32_t b)
{
	return static_cast<std::int32_t>(a - b);
}

/// The latest of those that are so, or nothing.
template <typename Things, typename IsSo>
auto *latest(Things &things, IsSo is_so)
{
	const auto found = std::find_if(things.rbegin(), things.rend(), is_so);
	return found == things.rend() ? nullptr : &*found;
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

std::string trace_json(const LeftOutMessage &left_out)
{
	return fmt::format(R"({{"event":"left_out","index":{}}})", left_out.index);
}

std::string trace_text(const LeftOutMessage &left_out)
{
	return fmt::format("index {} left out: its post was not seen", left_out.index);
}

bool MessageFollower::is_near(const TraceRecord &record) const
{
	return field_is(record, "device", device_) && record.source == file_ &&
	       record.event != "dropped" && number_of<std::uint32_t>(record, "qpn") == qpn_;
}

bool MessageFollower::is_far(const TraceRecord &record)
{
	if (!far_qpn_)
		return true;
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

/// Later events belong to none of the messages until now.
void MessageFollower::forget()
{
	messages_.clear();
	finished_.reset();
	next_psn_.reset();
	read_bytes_ = 0;
	mtu_ = 0;
}

/// An index that was there before is of another queue pair, which has got the same number. Events of two CPUs may come
/// in the wrong order, which the time says.
MessageFollower::Message *MessageFollower::post(const TraceRecord &record)
{
	Message message;
	message.posted = trace_seconds(record.time);
	message.index = number_of<std::uint32_t>(record, "index");
	if (posted_index_ && index_distance(message.index, *posted_index_) <= 0 &&
	    message.posted > posted_at_)
		forget();
	posted_index_ = message.index;
	posted_at_ = message.posted;
	message.number = ++posted_;
	message.is_signaled = number_of<std::uint64_t>(record, "flags") & kSignaled;
	message.is_read = field_is(record, "opcode", "RDMA_READ");
	message.bytes = number_of<std::uint64_t>(record, "bytes");
	message.is_sent = is_local(record);
	messages_.push_back(message);
	if (messages_.size() > kMessages)
		messages_.pop_front();
	return &messages_.back();
}

/// An answer to a READ has a PSN for each of its packets.
bool MessageFollower::has(const Message &message, std::uint32_t psn) const
{
	if (!message.is_read)
		return psn_distance(psn, message.end_psn) < 0;
	const auto packets = mtu_ ? (message.bytes + mtu_ - 1) / mtu_ : kMostPsns;
	return psn_distance(psn, *message.psn) <
	       static_cast<std::int64_t>(std::max<std::uint64_t>(packets, 1));
}

MessageFollower::Message *MessageFollower::by_psn(const TraceRecord &record)
{
	const auto psn = number_of<std::uint32_t>(record, "psn");
	Message *found = nullptr;
	for (Message &message : messages_) {
		if (message.psn && psn_distance(psn, *message.psn) >= 0)
			found = &message;
	}
	return found && has(*found, psn) ? found : nullptr;
}

/// Of two with the same index the later one. Names of work requests may be all the same, and are 0 of what the kernel posts.
MessageFollower::Message *MessageFollower::by_index(const TraceRecord &record)
{
	const auto index = number_of<std::uint32_t>(record, "index");
	Message *message =
		latest(messages_, [&](const Message &one) { return one.index == index; });
	return message ? message : leave_out(index);
}

/// Makes a message whose post was not seen. Nothing: it is finished.
MessageFollower::Message *MessageFollower::leave_out(std::uint32_t index)
{
	if (finished_ && index_distance(index, *finished_) <= 0)
		return nullptr;
	if (messages_.size() >= kMessages)
		messages_.pop_front();
	const auto behind = std::ranges::find_if(messages_, [&](const Message &message) {
		return index_distance(message.index, index) > 0;
	});
	Message message;
	message.index = index;
	return &*messages_.insert(behind, message);
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

/// Without an index packets that were never sent before are taken for those of the first message that
/// is not sent yet, which they are if all posts were seen.
MessageFollower::Message *MessageFollower::send_next(const TraceRecord &record)
{
	const auto psn = number_of<std::uint32_t>(record, "psn");
	const auto found = std::ranges::find(messages_, false, &Message::is_sent);
	if (found == messages_.end() || (next_psn_ && psn_distance(psn, first_new_psn()) < 0))
		return by_psn(record);
	next_psn_ = psn + number_of<std::uint32_t>(record, "packets");
	read_bytes_ = found->is_read ? found->bytes : 0;
	return &*found;
}

MessageFollower::Message *MessageFollower::send(const TraceRecord &record)
{
	Message *message = record.field("index") ? by_index(record) : send_next(record);
	if (!message)
		return nullptr;
	const auto psn = number_of<std::uint32_t>(record, "psn");
	const auto end = psn + number_of<std::uint32_t>(record, "packets");
	const bool is_first = !message->psn;
	if (is_first || psn_distance(psn, *message->psn) < 0)
		message->psn = psn;
	if (is_first || psn_distance(end, message->end_psn) > 0) {
		message->end_psn = end;
		message->sent += number_of<std::uint64_t>(record, "bytes");
	}
	message->is_sent = is_one_packet(record) || message->sent >= message->bytes;
	is_uc_ = field_is(record, "service", "UC");
	message->far_qpn = number_of<std::uint32_t>(record, "far_qpn");
	message->slid = number_of<std::uint32_t>(record, "slid");
	return message;
}

MessageFollower::Message *MessageFollower::near(const TraceRecord &record)
{
	if (record.event == "wr_posted")
		return post(record);
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

MessageFollower::Message *MessageFollower::by_number(std::uint64_t number)
{
	const auto found = std::ranges::find(messages_, number, &Message::number);
	return number && found != messages_.end() ? &*found : nullptr;
}

/// The one that the queue pair has taken in, or that was dropped on its way there. Another HCA may have a sender of the
/// same number, and queue pairs of datagrams the same PSNs. These come again after a RESET: it is the latest.
MessageFollower::Message *MessageFollower::datagram(std::uint32_t qpn, std::uint32_t slid,
						    std::uint32_t psn)
{
	return latest(messages_, [&](const Message &message) {
		return message.psn && psn_distance(psn, *message.psn) >= 0 &&
		       psn_distance(psn, message.end_psn) < 0 && message.slid == slid &&
		       (message.far_qpn == qpn || message.far_qpn == kMulticastQpn);
	});
}

bool MessageFollower::Arrival::is_at(const TraceRecord &record) const
{
	return file == record.source && field_is(record, "device", device) &&
	       number_of<std::uint32_t>(record, "qpn") == qpn;
}

bool MessageFollower::Arrival::has(std::uint32_t which) const
{
	const auto ahead = psn_distance(which, psn);
	return ahead >= 0 && static_cast<std::uint32_t>(ahead) < left;
}

/// Another sender's burst ends what the queue pair had of this one: its completions are not told.
void MessageFollower::arrive(const TraceRecord &record)
{
	std::erase_if(arrivals_, [&](const Arrival &arrival) { return arrival.is_at(record); });
	const auto *device = record.field("device");
	if (!device || number_of<std::uint32_t>(record, "far_qpn") != qpn_)
		return;
	arrivals_.push_back({record.source, *device, number_of<std::uint32_t>(record, "qpn"),
			     number_of<std::uint32_t>(record, "slid"),
			     number_of<std::uint32_t>(record, "psn"),
			     number_of<std::uint32_t>(record, "packets")});
	if (arrivals_.size() > kArrivals)
		arrivals_.pop_front();
}

/// Takes out what has no completion any more. Of a multicast the queue pair is not named: it is that of the device
/// which has looked at it last.
void MessageFollower::drop(const TraceRecord &record)
{
	const auto qpn = number_of<std::uint32_t>(record, "qpn");
	const auto psn = number_of<std::uint32_t>(record, "psn");
	Arrival *found = latest(arrivals_, [&](const Arrival &arrival) {
		return arrival.file == record.source &&
		       field_is(record, "device", arrival.device) &&
		       (arrival.qpn == qpn || qpn == kMulticastQpn) &&
		       arrival.slid == number_of<std::uint32_t>(record, "slid") && arrival.has(psn);
	});
	if (!found)
		return;
	const auto passed = static_cast<std::uint32_t>(psn_distance(psn, found->psn)) +
			    number_of<std::uint32_t>(record, "packets");
	found->left -= std::min(found->left, passed);
	found->psn += passed;
	found->is_dropped = true;
}

/// A datagram that is too long for its receive is dropped before it completes that in error. An error ends the queue
/// pair, so that none of the burst has another completion.
MessageFollower::Message *MessageFollower::complete_datagram(const TraceRecord &record)
{
	const auto found = std::ranges::find_if(
		arrivals_, [&](const Arrival &arrival) { return arrival.is_at(record); });
	if (found == arrivals_.end())
		return nullptr;
	const bool is_too_long = found->is_dropped && field_is(record, "status", "LOC_LEN_ERR");
	const bool is_flushed = field_is(record, "status", "WR_FLUSH_ERR");
	Message *message = nullptr;
	if (is_too_long || (found->left && !is_flushed))
		message = datagram(found->qpn, found->slid, found->psn - is_too_long);
	found->is_dropped = false;
	++found->psn;
	if (found->left <= 1 || !field_is(record, "status", "SUCCESS"))
		arrivals_.erase(found);
	else
		--found->left;
	return message;
}

/// As far(), where each message has a far end of its own. Of a burst the first is told.
MessageFollower::Message *MessageFollower::far_datagram(const TraceRecord &record)
{
	if (record.event == "completion" && is_receive(record))
		return complete_datagram(record);
	const bool drops = record.event == "dropped";
	if (drops ? number_of<std::uint32_t>(record, "src_qpn") != qpn_
		  : record.event != "qp_received")
		return nullptr;
	if (drops)
		drop(record);
	else
		arrive(record);
	if (!drops && number_of<std::uint32_t>(record, "far_qpn") != qpn_)
		return nullptr;
	return datagram(number_of<std::uint32_t>(record, "qpn"),
			number_of<std::uint32_t>(record, "slid"),
			number_of<std::uint32_t>(record, "psn"));
}

/// Of a completion: the message that was taken in before it, which has no other one.
MessageFollower::Message *MessageFollower::far(const TraceRecord &record)
{
	if (!far_qpn_)
		return far_datagram(record);
	if (record.event == "completion" && is_receive(record))
		return by_number(std::exchange(received_, 0));
	const bool takes = record.event == "qp_received" && !is_response(record);
	const bool answers = record.event == "ack_sent" ||
			     (record.event == "qp_sent" && is_response(record)) || takes ||
			     record.event == "dropped";
	Message *message = answers ? by_psn(record) : nullptr;
	// Another HCA may have a sender to a queue pair of the same number.
	if (message && is_uc_ && record.event == "dropped" &&
	    message->slid != number_of<std::uint32_t>(record, "slid"))
		return nullptr;
	if (takes)
		received_ = message ? message->number : 0;
	return message;
}

/// The message and those before it are finished, of which those that were not before it are returned. Finished ones are
/// forgotten, but for those of UC and UD, which may arrive later.
std::vector<FinishedMessage> MessageFollower::retire(std::uint32_t index)
{
	const std::size_t kept = far_qpn_ && !is_uc_ ? 0 : kOnTheirWay;
	std::size_t finished = 0;
	std::vector<FinishedMessage> before;
	for (Message &message : messages_) {
		if (index_distance(message.index, index) > 0)
			break;
		if (!message.is_finished && message.number && message.index != index)
			before.push_back({message.number, message.is_signaled});
		message.is_finished = true;
		++finished;
	}
	for (; finished > kept; --finished)
		messages_.pop_front();
	finished_ = index;
	return before;
}

std::optional<MessageEvent> MessageFollower::follow(const TraceRecord &record)
{
	if (record.kind == TraceRecord::Kind::kLost) {
		received_ = 0;
		arrivals_.clear();
	}
	if (record.kind != TraceRecord::Kind::kEvent)
		return std::nullopt;
	const bool here = is_near(record);
	Message *message = here ? near(record) : is_far(record) ? far(record) : nullptr;
	if (!message || (!message->number && message->is_told))
		return std::nullopt;
	if (!message->number) {
		message->is_told = true;
		return MessageEvent{0, 0, false, {}, LeftOutMessage{message->index}};
	}
	MessageEvent event{message->number,
			   trace_seconds(record.time) - message->posted,
			   here && record.event == "completion",
			   {},
			   std::nullopt};
	if (event.is_end)
		event.before = retire(message->index);
	return event;
}

} // namespace pib::ctl

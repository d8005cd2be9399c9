// SPDX-License-Identifier: GPL-2.0
// The life of messages: which message of a queue pair an event at either end belongs to.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "trace/line.h"

namespace pib::ctl {

/// A message that is finished without a completion of its own.
struct FinishedMessage {
	std::uint64_t message = 0;
	/// A completion was asked for, which must have been lost.
	bool is_signaled = false;
};

/// A message whose post the trace has not seen: it was before its beginning, or is lost.
struct LeftOutMessage {
	/// In the ring of its queue pair.
	std::uint32_t index = 0;
};

/// Without a line's end.
std::string trace_json(const FinishedMessage &finished);
std::string trace_text(const FinishedMessage &finished);
std::string trace_json(const LeftOutMessage &left_out);
std::string trace_text(const LeftOutMessage &left_out);

/// An event that belongs to a message, or says that there is one that is left out.
struct MessageEvent {
	/// From 1 on, in the order in which they were posted; 0: it is left out.
	std::uint64_t message = 0;
	/// Since it was posted.
	double seconds = 0;
	/// It was the message's last one at the end that has posted it.
	bool is_end = false;
	/// Of an end: what was posted before, and is finished by it.
	std::vector<FinishedMessage> before;
	/// Said once of each such message.
	std::optional<LeftOutMessage> left_out;
};

/// A request that was posted before the first event, or is lost, is no message, and nothing of it is told of
/// another one, as far as the trace says by an index what a queue pair sends: older ones do not.
class MessageFollower {
public:
	/// The file is that with the trace of the machine that sends: the far one may have another,
	/// and names of devices are those of their machines. far_qpn is 0 of a queue pair that sends
	/// datagrams, of which each has a far end of its own.
	MessageFollower(std::string device, std::uint32_t qpn, std::uint32_t far_qpn,
			std::string file = "") :
		device_(std::move(device)), file_(std::move(file)), qpn_(qpn), far_qpn_(far_qpn)
	{
	}

	std::optional<MessageEvent> follow(const TraceRecord &record);

private:
	struct Message {
		/// 0: it is left out.
		std::uint64_t number = 0;
		double posted = 0;
		/// In the ring of its queue pair.
		std::uint32_t index = 0;
		bool is_signaled = false;
		bool is_read = false;
		std::uint64_t bytes = 0;
		std::uint64_t sent = 0;
		/// Of its first packet, once that was sent.
		std::optional<std::uint32_t> psn;
		/// Behind its last packet that was sent.
		std::uint32_t end_psn = 0;
		bool is_sent = false;
		/// It has its completion, or one behind it has.
		bool is_finished = false;
		/// Of a datagram: whom it was for, and from which LID it comes.
		std::uint32_t far_qpn = 0;
		std::uint32_t slid = 0;
		/// It was said that it is left out.
		bool is_told = false;
	};
	/// Datagrams of a burst that a queue pair has taken in, and has not completed yet.
	struct Arrival {
		/// Of the queue pair.
		std::string file;
		std::string device;
		std::uint32_t qpn = 0;
		/// Whence they come.
		std::uint32_t slid = 0;
		/// Of the next one, if any are left.
		std::uint32_t psn = 0;
		std::uint32_t left = 0;
		/// The one before it was dropped.
		bool is_dropped = false;

		bool is_at(const TraceRecord &record) const;
		bool has(std::uint32_t which) const;
	};

	bool is_near(const TraceRecord &record) const;
	bool is_far(const TraceRecord &record);
	Message *post(const TraceRecord &record);
	Message *near(const TraceRecord &record);
	Message *far(const TraceRecord &record);
	Message *far_datagram(const TraceRecord &record);
	Message *datagram(std::uint32_t qpn, std::uint32_t slid, std::uint32_t psn);
	void arrive(const TraceRecord &record);
	void drop(const TraceRecord &record);
	Message *complete_datagram(const TraceRecord &record);
	void forget();
	Message *by_number(std::uint64_t number);
	Message *send(const TraceRecord &record);
	Message *send_next(const TraceRecord &record);
	Message *by_psn(const TraceRecord &record);
	Message *by_index(const TraceRecord &record);
	Message *leave_out(std::uint32_t index);
	bool has(const Message &message, std::uint32_t psn) const;
	std::vector<FinishedMessage> retire(std::uint32_t index);
	void learn_mtu(const TraceRecord &record);
	std::uint32_t first_new_psn() const;

	std::string device_;
	std::string file_;
	std::uint32_t qpn_;
	std::uint32_t far_qpn_;
	bool is_uc_ = false;
	/// Learned from the first event that names both queue pairs.
	std::optional<std::string> far_device_;
	std::string far_file_;
	std::uint64_t posted_ = 0;
	/// Without indices. Of what was never sent before, but for the answers to a READ that was sent
	/// last.
	std::optional<std::uint32_t> next_psn_;
	/// Of that READ; 0: what was sent last is none.
	std::uint64_t read_bytes_ = 0;
	/// Path MTU in bytes, 0: not known yet.
	std::uint64_t mtu_ = 0;
	/// The message that the far end has taken in last: its completion follows. 0: not known.
	std::uint64_t received_ = 0;
	/// Of datagrams: at most one of each queue pair, the latest last.
	std::deque<Arrival> arrivals_;
	/// Of the message that was posted last.
	std::optional<std::uint32_t> posted_index_;
	double posted_at_ = 0;
	/// Index of the message that was finished last.
	std::optional<std::uint32_t> finished_;
	/// In the order of their indices.
	std::deque<Message> messages_;
};

} // namespace pib::ctl

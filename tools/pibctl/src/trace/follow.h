// SPDX-License-Identifier: GPL-2.0
// The life of messages: which message of a connected queue pair an event at either end belongs to.
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

/// Without a line's end.
std::string trace_json(const FinishedMessage &finished);
std::string trace_text(const FinishedMessage &finished);

/// An event that belongs to a message.
struct MessageEvent {
	/// From 1 on, in the order in which they were posted.
	std::uint64_t message = 0;
	/// Since it was posted.
	double seconds = 0;
	/// It was the message's last one at the end that has posted it.
	bool is_end = false;
	/// Of an end: what was posted before, and is finished by it.
	std::vector<FinishedMessage> before;
};

/// Messages that were posted before the first event are unknown, and so is what belongs to them.
class MessageFollower {
public:
	/// The file is that with the trace of the machine that sends: the far one may have another,
	/// and names of devices are those of their machines.
	MessageFollower(std::string device, std::uint32_t qpn, std::uint32_t far_qpn,
			std::string file = "") :
		device_(std::move(device)), file_(std::move(file)), qpn_(qpn), far_qpn_(far_qpn)
	{
	}

	std::optional<MessageEvent> follow(const TraceRecord &record);

private:
	struct Message {
		std::uint64_t number = 0;
		double posted = 0;
		/// In the ring of its queue pair.
		std::uint32_t index = 0;
		bool is_signaled = false;
		std::uint64_t bytes = 0;
		std::uint64_t sent = 0;
		/// Of its first packet, once that was sent.
		std::optional<std::uint32_t> psn;
		bool is_sent = false;
	};

	bool is_near(const TraceRecord &record) const;
	bool is_far(const TraceRecord &record);
	void post(const TraceRecord &record);
	const Message *near(const TraceRecord &record);
	const Message *far(const TraceRecord &record);
	const Message *send(const TraceRecord &record);
	const Message *by_psn(const TraceRecord &record) const;
	const Message *by_index(const TraceRecord &record) const;
	std::vector<FinishedMessage> retire(std::uint64_t message);
	void learn_mtu(const TraceRecord &record);
	std::uint32_t first_new_psn() const;

	std::string device_;
	std::string file_;
	std::uint32_t qpn_;
	std::uint32_t far_qpn_;
	/// Learned from the first event that names both queue pairs.
	std::optional<std::string> far_device_;
	std::string far_file_;
	std::uint64_t posted_ = 0;
	/// Of what was never sent before, but for the answers to a READ that was sent last.
	std::optional<std::uint32_t> next_psn_;
	/// Of that READ; 0: what was sent last is none.
	std::uint64_t read_bytes_ = 0;
	/// Path MTU in bytes, 0: not known yet.
	std::uint64_t mtu_ = 0;
	/// The message that the far end has taken in last: its completion follows.
	std::uint64_t received_ = 0;
	std::deque<Message> messages_;
};

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
#include "monitor/run.h"

#include <linux/genetlink.h>
#include <linux/pib.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "host/clock.h"
#include "host/outlet.h"
#include "monitor/line.h"
#include "netlink/answer.h"
#include "netlink/attributes.h"
#include "objects/decode.h"

namespace pib::ctl {
namespace {

const Error kGone{"module pib is not loaded any more", ENOENT};

/// The kernel's word that the module is being unloaded.
bool is_farewell(const RawMessage &message)
{
	return message.type == GENL_ID_CTRL && message.payload.size() >= GENL_HDRLEN &&
	       message.payload[0] == CTRL_CMD_DELFAMILY &&
	       Attributes(message.payload.subspan(GENL_HDRLEN)).text(CTRL_ATTR_FAMILY_NAME) ==
		       PIB_FAMILY_NAME;
}

bool is_event(const RawMessage &message, std::uint16_t family)
{
	return message.type == family && message.payload.size() >= GENL_HDRLEN &&
	       message.payload[0] == PIB_CMD_EVENT;
}

/// Makes lines of what datagrams tell.
class EventLines {
public:
	explicit EventLines(const MonitorOptions &options) : options_(options), left_(options.most)
	{
	}

	bool finished() const { return left_ == 0; }
	/// The lines since it was called last.
	std::string taken() { return std::exchange(text_, {}); }

	/// The kernel says that something was lost. It says so before all that is queued still, and
	/// drops what comes until that is read. Where it says so again, all was read in between.
	void lose()
	{
		caught_up();
		lost_ = true;
	}

	/// To be called when all messages queued before a loss have been read: what is asked for
	/// from now on is newer. Prints the loss. True: there was one.
	bool caught_up()
	{
		if (lost_)
			put(options_.json ? lost_json(nanoseconds_now())
					  : lost_text(nanoseconds_now()));
		return std::exchange(lost_, false);
	}

	Status take(View datagram)
	{
		const auto messages = split_datagram(datagram);
		if (!messages)
			return messages.error();
		for (const RawMessage &message : *messages)
			if (auto taken = take(message); !taken)
				return taken;
		return success();
	}

private:
	Status take(const RawMessage &message)
	{
		if (is_farewell(message))
			return kGone;
		if (!is_event(message, options_.family) || finished())
			return success();
		const auto event = decode_event(message.payload.subspan(GENL_HDRLEN));
		if (!event)
			return event.error();
		put(options_.json ? event_json(*event) : event_text(*event));
		if (left_)
			--*left_;
		return success();
	}

	void put(const std::string &line) { text_ += line + '\n'; }

	const MonitorOptions &options_;
	std::optional<std::uint64_t> left_;
	bool lost_ = false;
	std::string text_;
};

/// Reads what has come. False: more may be there.
Result<bool> read_one(Listener &listener, EventLines &lines)
{
	const auto datagram = listener.receive();
	if (datagram) {
		if (auto taken = lines.take(*datagram); !taken)
			return taken.error();
		return lines.finished();
	}
	if (datagram.error().code == ENOBUFS) {
		lines.lose();
		return false;
	}
	if (datagram.error().code == EAGAIN)
		return true;
	return datagram.error();
}

/// Refuses if the module has gone: its farewell may have been lost, or have come too early.
Status check_module(const MonitorOptions &options)
{
	const auto family = options.family_now();
	if (!family)
		return family.error();
	return *family == options.family ? success() : Status(kGone);
}

/// Reads what has come, but not so much that nothing is printed. False: more may be there.
Result<bool> read_some(Listener &listener, EventLines &lines, const MonitorOptions &options)
{
	constexpr int kAtOnce = 64;
	for (int i = 0; i < kAtOnce; ++i) {
		const auto all = read_one(listener, lines);
		if (!all)
			return all.error();
		if (!*all)
			continue;
		if (lines.caught_up())
			if (auto there = check_module(options); !there)
				return there.error();
		return true;
	}
	return false;
}

} // namespace

Status run_monitor(Listener &listener, int file, const Interruption &interruption,
		   const MonitorOptions &options)
{
	constexpr int kForLong = 3600 * 1000;
	if (auto there = check_module(options); !there)
		return there;
	EventLines lines(options);
	const Outlet outlet(file, interruption);
	std::array<pollfd, 2> files{{{listener.fd(), POLLIN, 0}, outlet.watched()}};
	bool all_read = true;
	while (interruption.check() && !lines.finished()) {
		const int ready =
			interruption.poll(files.data(), files.size(), all_read ? kForLong : 0);
		// A reader that is interrupted with this program goes at the same time.
		if ((all_read && ready <= 0) || !interruption.check())
			continue;
		if (Outlet::is_gone(files[1]))
			return Outlet::no_reader();
		const auto read = read_some(listener, lines, options);
		const auto written = outlet.write(lines.taken());
		if (!interruption.check())
			break;
		if (!read)
			return read.error();
		if (!written)
			return written;
		all_read = *read;
	}
	return success();
}

} // namespace pib::ctl

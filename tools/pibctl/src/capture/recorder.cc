// SPDX-License-Identifier: GPL-2.0
#include "capture/recorder.h"

#include <fmt/format.h>
#include <linux/pib_capture.h>

#include <algorithm>
#include <cerrno>

#include "capture/records.h"
#include "host/clock.h"

namespace pib::ctl {
namespace {

constexpr std::size_t kBuffer = 1 << 20;

Bytes file_head(const std::vector<CapturedPort> &ports)
{
	Bytes head;
	pcapng::put_section(head, "pibctl " PIBCTL_VERSION);
	for (const CapturedPort &port : ports)
		pcapng::put_interface(head, port.interface);
	return head;
}

} // namespace

Recorder::Recorder(CaptureSource &source, std::vector<CapturedPort> ports, FilesRequest files,
		   const Interruption &interruption) :
	source_(source), ports_(std::move(ports)),
	files_(std::move(files), file_head(ports_), interruption), buffer_(kBuffer)
{
}

Result<CapturedPort *> Recorder::port_of(const CapturedPacket &packet)
{
	const auto port = std::ranges::find(ports_, packet.port, &CapturedPort::number);
	if (port == ports_.end())
		return Error{
			fmt::format("a packet of port {}, which is not captured", packet.port)};
	return &*port;
}

Status Recorder::leave_out(const CapturedPacket &packet)
{
	const auto port = port_of(packet);
	if (!port)
		return port.error();
	++(*port)->left_out;
	return success();
}

Status Recorder::write_packet(const CapturedPacket &packet)
{
	const auto port = port_of(packet);
	if (!port)
		return port.error();
	const auto comment = comment_on(packet, retransmissions_);
	make_erf(packet, record_);
	block_.clear();
	pcapng::put_packet(block_, {.interface = static_cast<std::uint32_t>(*port - ports_.data()),
				    .time = packet.time,
				    .length = erf_length(packet.length),
				    .data = record_,
				    .outbound = (packet.flags & PIB_CAPTURE_OUT) != 0,
				    .comment = comment});
	++written_;
	return files_.write(block_);
}

/// False: there will be no more.
Result<bool> Recorder::read_some(std::uint64_t most)
{
	const auto read = source_.read(buffer_);
	if (!read && (read.error().code == EINTR || read.error().code == EAGAIN))
		return true;
	if (!read)
		return read.error();
	const auto packets = split_records(View(buffer_).first(*read));
	if (!packets)
		return packets.error();
	for (const CapturedPacket &packet : *packets) {
		if (auto done = full(most) ? leave_out(packet) : write_packet(packet); !done)
			return done.error();
	}
	if (auto flushed = files_.finish({}); !flushed)
		return flushed.error();
	return *read > 0;
}

Status Recorder::record(std::uint64_t most, const std::function<bool()> &go_on)
{
	if (auto opened = files_.open(); !opened)
		return opened;
	bool stopped = false;
	for (;;) {
		if (!stopped && (full(most) || !go_on())) {
			if (auto done = source_.stop(); !done)
				return done;
			stopped = true;
		}
		if (!source_.wait())
			continue;
		const auto more = read_some(most);
		if (!more)
			return more.error();
		if (!*more)
			return finish();
	}
}

/// Statistics stand behind all packets.
Status Recorder::finish()
{
	Bytes blocks;
	std::uint32_t index = 0;
	for (CapturedPort &port : ports_) {
		const auto counts = source_.counts(port.number);
		if (!counts)
			return counts.error();
		port.captured = counts->captured - port.left_out;
		port.lost = counts->lost;
		pcapng::put_statistics(blocks,
				       {index++, nanoseconds_now(), port.captured, port.lost});
	}
	return files_.finish(blocks);
}

} // namespace pib::ctl

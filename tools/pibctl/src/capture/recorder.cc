// SPDX-License-Identifier: GPL-2.0
#include "capture/recorder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/pib_capture.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "capture/records.h"

namespace pib::ctl {
namespace {

constexpr std::size_t kBuffer = 1 << 20;
/// Signals are looked for that often.
constexpr int kPollMs = 200;

Error capture_error(std::string_view doing)
{
	const int code = errno;
	return Error{fmt::format("{}: {}", doing, std::strerror(code)), code};
}

Bytes file_head(const std::vector<CapturedPort> &ports)
{
	Bytes head;
	pcapng::put_section(head, "pibctl " PIBCTL_VERSION);
	for (const CapturedPort &port : ports)
		pcapng::put_interface(head, port.interface);
	return head;
}

std::uint64_t now()
{
	return static_cast<std::uint64_t>(
		std::chrono::duration_cast<std::chrono::nanoseconds>(
			std::chrono::system_clock::now().time_since_epoch())
			.count());
}

} // namespace

Recorder::Recorder(int fd, std::vector<CapturedPort> ports, FilesRequest files,
		   const Interruption &interruption) :
	fd_(fd), ports_(std::move(ports)),
	files_(std::move(files), file_head(ports_), interruption), buffer_(kBuffer)
{
}

Recorder::~Recorder()
{
	close(fd_);
}

Status Recorder::write_packet(const CapturedPacket &packet)
{
	const auto port = std::ranges::find(ports_, packet.port, &CapturedPort::number);
	if (port == ports_.end())
		return Error{
			fmt::format("a packet of port {}, which is not captured", packet.port)};
	const auto comment = comment_on(packet, retransmissions_);
	make_erf(packet, record_);
	block_.clear();
	pcapng::put_packet(block_, {.interface = static_cast<std::uint32_t>(port - ports_.begin()),
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
	const ssize_t n = read(fd_, buffer_.data(), buffer_.size());
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n < 0)
		return capture_error("reading captured packets");
	const auto packets = split_records(View(buffer_).first(static_cast<std::size_t>(n)));
	if (!packets)
		return packets.error();
	for (const CapturedPacket &packet : *packets) {
		if (full(most))
			break;
		if (auto done = write_packet(packet); !done)
			return done.error();
	}
	if (auto flushed = files_.finish({}); !flushed)
		return flushed.error();
	return n > 0;
}

Status Recorder::record(std::uint64_t most, const std::function<bool()> &go_on)
{
	if (auto opened = files_.open(); !opened)
		return opened;
	if (fcntl(fd_, F_SETFL, O_NONBLOCK))
		return capture_error("preparing the capture");
	bool stopped = false;
	for (;;) {
		if (!stopped && (full(most) || !go_on())) {
			if (ioctl(fd_, PIB_CAPTURE_STOP))
				return capture_error("ending the capture");
			stopped = true;
		}
		pollfd waits{fd_, POLLIN, 0};
		const int ready = poll(&waits, 1, kPollMs);
		if (ready <= 0)
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
		pib_capture_stats stats{};
		stats.port = port.number;
		if (ioctl(fd_, PIB_CAPTURE_STATS, &stats))
			return capture_error("asking for the packets that were lost");
		port.captured = stats.captured;
		port.lost = stats.lost;
		pcapng::put_statistics(blocks, {index++, now(), stats.captured, stats.lost});
	}
	return files_.finish(blocks);
}

} // namespace pib::ctl

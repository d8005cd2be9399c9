// SPDX-License-Identifier: GPL-2.0
// A capture of the module, written to files until it ends.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "capture/comments.h"
#include "capture/files.h"
#include "capture/pcapng.h"

namespace pib::ctl {

/// A port that is captured.
struct CapturedPort {
	std::uint32_t number = 0;
	pcapng::Interface interface;
	// Packets, known in the end.
	std::uint64_t captured = 0;
	std::uint64_t lost = 0;
};

class Recorder {
public:
	/// fd: of the capture, which is the recorder's from here on.
	Recorder(int fd, std::vector<CapturedPort> ports, FilesRequest files,
		 const Interruption &interruption);
	~Recorder();
	Recorder(const Recorder &) = delete;
	Recorder &operator=(const Recorder &) = delete;

	/// Records until the HCA or switch is gone, most packets are there (0: no limit), or
	/// go_on() says no. All packets captured until then are written.
	Status record(std::uint64_t most, const std::function<bool()> &go_on);
	const std::vector<CapturedPort> &ports() const { return ports_; }
	std::uint64_t written() const { return written_; }

private:
	Result<bool> read_some(std::uint64_t most);
	Status write_packet(const CapturedPacket &packet);
	Status finish();
	bool full(std::uint64_t most) const { return most && written_ >= most; }

	int fd_;
	std::vector<CapturedPort> ports_;
	CaptureFiles files_;
	Retransmissions retransmissions_;
	std::uint64_t written_ = 0;
	Bytes buffer_;
	Bytes record_;
	Bytes block_;
};

} // namespace pib::ctl

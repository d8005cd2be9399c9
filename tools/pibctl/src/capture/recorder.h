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
#include "capture/source.h"

namespace pib::ctl {

/// A port that is captured.
struct CapturedPort {
	std::uint32_t number = 0;
	pcapng::Interface interface;
	// Packets, known in the end.
	std::uint64_t captured = 0;
	std::uint64_t lost = 0;
	/// More than was asked for: as if they had come later.
	std::uint64_t left_out = 0;
};

class Recorder {
public:
	Recorder(CaptureSource &source, std::vector<CapturedPort> ports, FilesRequest files,
		 const Interruption &interruption);

	/// Records until the HCA or switch is gone, most packets are there (0: no limit), or
	/// go_on() says no. All packets captured until then are written.
	Status record(std::uint64_t most, const std::function<bool()> &go_on);
	const std::vector<CapturedPort> &ports() const { return ports_; }
	std::uint64_t written() const { return written_; }

private:
	Result<bool> read_some(std::uint64_t most);
	Result<CapturedPort *> port_of(const CapturedPacket &packet);
	Status leave_out(const CapturedPacket &packet);
	Status write_packet(const CapturedPacket &packet);
	Status finish();
	bool full(std::uint64_t most) const { return most && written_ >= most; }

	CaptureSource &source_;
	std::vector<CapturedPort> ports_;
	CaptureFiles files_;
	Retransmissions retransmissions_;
	std::uint64_t written_ = 0;
	Bytes buffer_;
	Bytes record_;
	Bytes block_;
};

} // namespace pib::ctl

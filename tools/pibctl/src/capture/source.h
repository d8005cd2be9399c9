// SPDX-License-Identifier: GPL-2.0
// Where captured packets come from: the module.
#pragma once

#include <cstdint>
#include <span>

#include "model/bytes.h"
#include "model/result.h"

namespace pib::ctl {

class CaptureSource {
public:
	/// Packets of a port.
	struct Counts {
		std::uint64_t captured = 0;
		std::uint64_t lost = 0;
	};

	virtual ~CaptureSource() = default;
	/// Waits for packets, or the end, for some time. True: read() may give something.
	virtual bool wait() = 0;
	/// Reads whole records. The number of bytes; 0: there will be no more. Refuses with EAGAIN or
	/// EINTR where there is nothing now.
	virtual Result<std::size_t> read(std::span<std::uint8_t> room) = 0;
	/// Nothing more is captured. The packets of before can still be read.
	virtual Status stop() = 0;
	virtual Result<Counts> counts(std::uint32_t port) = 0;
};

/// A capture of the module by its file descriptor, which is the source's from here on.
class KernelCapture final : public CaptureSource {
public:
	explicit KernelCapture(int fd);
	~KernelCapture() override;
	KernelCapture(const KernelCapture &) = delete;
	KernelCapture &operator=(const KernelCapture &) = delete;

	bool wait() override;
	Result<std::size_t> read(std::span<std::uint8_t> room) override;
	Status stop() override;
	Result<Counts> counts(std::uint32_t port) override;

private:
	int fd_;
};

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
// The most that strangers may make the daemon send.
#pragma once

#include <cstdint>
#include <mutex>

#include "wire/proto.h"

namespace pib::netd {

/// So many datagrams in a second, of so many bytes together, for all threads.
class Budget {
public:
	Budget(unsigned datagrams, std::size_t bytes) : datagrams_(datagrams), bytes_(bytes) {}

	/// True if there is enough left for a datagram of so many bytes.
	bool take(std::size_t bytes, std::uint64_t now)
	{
		const std::lock_guard held(mutex_);
		if (now >= from_ + PIB_NSEC_PER_SEC) {
			from_ = now;
			taken_ = 0;
			taken_bytes_ = 0;
		}
		if (taken_ >= datagrams_ || taken_bytes_ + bytes > bytes_)
			return false;
		taken_++;
		taken_bytes_ += bytes;
		return true;
	}

private:
	const unsigned datagrams_;
	const std::size_t bytes_;
	std::mutex mutex_;
	/// Of this second.
	std::uint64_t from_ = 0;
	unsigned taken_ = 0;
	std::size_t taken_bytes_ = 0;
};

} // namespace pib::netd

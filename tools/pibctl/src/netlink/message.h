// SPDX-License-Identifier: GPL-2.0
// Building of generic netlink requests.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "netlink/transport.h"

struct nlmsghdr;
struct nlattr;

namespace pib::ctl {

class Request {
public:
	/// flags: NLM_F_DUMP for a dump, 0 for everything else. NLM_F_REQUEST and,
	/// except for dumps, NLM_F_ACK are added.
	Request(std::uint8_t command, std::uint8_t version, std::uint16_t flags = 0);

	void put_text(std::uint16_t type, std::string_view text);
	void put_u8(std::uint16_t type, std::uint8_t value);
	void put_u16(std::uint16_t type, std::uint16_t value);
	void put_u32(std::uint16_t type, std::uint32_t value);
	void put_u64(std::uint16_t type, std::uint64_t value);
	void put_flag(std::uint16_t type);
	void put_binary(std::uint16_t type, View data);

	/// Attributes put while a Nest lives go into it.
	class Nest {
	public:
		Nest(Request &request, std::uint16_t type);
		~Nest();
		Nest(const Nest &) = delete;
		Nest &operator=(const Nest &) = delete;

	private:
		Request &request_;
		nlattr *start_;
	};

	void address(std::uint16_t family, std::uint32_t sequence);
	std::uint32_t sequence() const;
	bool is_dump() const;
	View bytes() const;
	/// Some attribute did not fit: the request must not be sent.
	bool overflowed() const { return overflowed_; }

private:
	void note(bool fitted) { overflowed_ |= !fitted; }

	// Attributes of one message: 254 peers of 32 bytes fit several times over.
	static constexpr std::size_t kCapacity = 32768;
	std::unique_ptr<std::uint8_t[]> buffer_;
	nlmsghdr *header_;
	bool overflowed_ = false;
};

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
// For tests: a module that answers as told, and netlink attributes written by hand.
#pragma once

#include <deque>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "netlink/transport.h"

namespace pib::ctl::fake {

// Attribute streams, byte by byte, without help from libmnl.
Bytes join(std::initializer_list<Bytes> parts);
Bytes attribute(std::uint16_t type, View payload);
Bytes u8(std::uint16_t type, std::uint8_t value);
Bytes u16(std::uint16_t type, std::uint16_t value);
Bytes u32(std::uint16_t type, std::uint32_t value);
Bytes u64(std::uint16_t type, std::uint64_t value);
Bytes text(std::uint16_t type, std::string_view value);
Bytes binary(std::uint16_t type, std::initializer_list<int> bytes);
Bytes flag(std::uint16_t type);
Bytes nest(std::uint16_t type, std::initializer_list<Bytes> parts);

/// A netlink message with any payload.
Bytes message(std::uint16_t type, std::uint16_t flags, std::uint32_t sequence,
	      const Bytes &payload);

/// The extended ack of a refusal.
struct Refusal {
	int code = 0;
	std::string text;
	Bytes more = {};
};

class Kernel {
public:
	bool loaded = true;
	std::uint32_t version = 1;
	/// The number of its family, which is another one each time that it is loaded.
	std::uint16_t number = 0x23;
	/// Number of requests for it by its name, which would load it.
	int named = 0;
	/// Its multicast group "events"; 0: it has none.
	std::uint32_t events = 0;
	/// As NETLINK_CAP_ACK: refusals carry only the header of the request.
	bool capped = true;
	/// Requests sent to the family: command byte and attributes of each.
	struct Sent {
		std::uint16_t flags;
		std::uint8_t command;
		Bytes attributes;
	};
	std::vector<Sent> requests;

	// Answers to the next requests, in order; once these run out, acknowledgements.
	void answer(std::vector<Bytes> attribute_streams, std::uint16_t flags = 0);
	void refuse(Refusal refusal);
	/// Bytes as they are, in place of an answer; a sequence number of 0 is filled in.
	void raw(Bytes datagram);

	TransportFactory factory();

private:
	friend class KernelTransport;
	struct Script {
		std::vector<Bytes> streams;
		std::uint16_t flags = 0;
		Refusal refusal;
		Bytes raw;
	};
	std::vector<Bytes> react(View datagram);
	std::vector<Bytes> react_to(View request);
	std::vector<Bytes> play(const Script &script, View request);
	Bytes verdict(const Refusal &refusal, View request) const;
	std::vector<Bytes> family(View request);

	std::deque<Script> scripts_;
};

} // namespace pib::ctl::fake

// SPDX-License-Identifier: GPL-2.0
// pibping's measurements: whether UDP passes, how fast, in which sizes, and which node answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "util/fd.h"
#include "wire/ping.h"
#include "wire/address.h"

namespace pib::netd {

struct ProbeOptions {
	Address peer;
	std::uint32_t fabric = 0;
	Key key;
	unsigned count = 20;
	unsigned interval_ms = 20;
	unsigned timeout_ms = 1000;
};

/// Round trips, microseconds.
struct RoundTrips {
	unsigned sent = 0;
	unsigned answered = 0;
	double least = 0;
	double mean = 0;
	double most = 0;
};

/// The answer of the other end's pib to a hello.
struct HelloAnswer {
	std::string description;
	std::uint64_t node_guid = 0;
	bool keyed = false;
	/// The answer is authenticated with the key that was given.
	bool authentic = false;
	/// Text of the refusal, if it is one.
	std::string refusal;
};

struct ProbeReport {
	std::optional<Ping> pong;
	/// The pong is authenticated with the key that was given.
	bool pong_authentic = false;
	std::optional<HelloAnswer> hello;
	RoundTrips trips;
	/// IP MTU of the largest datagram that passed in one piece, of those that the route lets
	/// leave.
	std::size_t mtu = 0;
	std::size_t route_mtu = 0;
	bool fragments = false;
	/// Error that the network has reported, 0: none.
	int error = 0;

	bool reachable() const { return pong || hello; }
	bool fabric_served() const;
	bool measures_sizes() const;
	bool key_agrees(const Key &key) const;
	/// The two can have a fabric, as the options ask for it, and nothing was lost.
	bool all_is_well(const ProbeOptions &options) const;
};

class Prober {
public:
	explicit Prober(ProbeOptions options) : options_(std::move(options)) {}

	Result<ProbeReport> run();

private:
	Status open();
	bool send(std::span<const std::uint8_t> bytes);
	/// One datagram, within the time given; empty: none.
	std::span<const std::uint8_t> receive(std::uint64_t until);
	void hello(ProbeReport &report);
	bool take_hello(std::span<const std::uint8_t> bytes, ProbeReport &report);
	void trips(ProbeReport &report);
	/// True if a ping of this size comes back.
	bool passes(std::size_t size);
	void sizes(ProbeReport &report);
	void fragment(bool may);
	Ping next_ping();
	std::size_t headers() const;

	ProbeOptions options_;
	Fd fd_;
	std::uint64_t run_ = 0;
	std::uint32_t sequence_ = 0;
	int error_ = 0;
	std::vector<std::uint8_t> buffer_;
};

std::string report_text(const ProbeOptions &options, const ProbeReport &report);
std::string report_json(const ProbeOptions &options, const ProbeReport &report);

} // namespace pib::netd

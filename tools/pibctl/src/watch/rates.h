// SPDX-License-Identifier: GPL-2.0
// Rates between two looks, by the second.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "watch/look.h"

namespace pib::ctl {

/// All of these by the second.
struct PortFlow {
	double xmit_bytes = 0;
	double rcv_bytes = 0;
	double xmit_packets = 0;
	double rcv_packets = 0;
	/// Ticks of PortXmitWait.
	double waits = 0;
	/// Packets that the port had to send and dropped.
	double discards = 0;
	/// Packets that came and were no good.
	double errors = 0;
};

struct PortRates {
	End end;
	std::string state;
	PortFlow flow;
};

struct CableRates {
	End a;
	/// Nothing for a cable over UDP.
	std::optional<End> b;
	/// The other end, as a user calls it.
	std::string far;
	/// As 'pibctl show' spells it; that of the end which is further behind.
	std::string state;
	bool plugged = true;
	/// It was made a bad cable.
	bool faulty = false;
	/// Bytes and packets from a on, and to a, by the second.
	double bytes_out = 0;
	double bytes_in = 0;
	double packets_out = 0;
	double packets_in = 0;
	/// Of both ends.
	double waits = 0;
	/// Lost and damaged in the cable.
	double lost = 0;
};

struct QueuePairRates {
	std::string hca;
	std::uint64_t qpn = 0;
	std::string type;
	std::string state;
	std::optional<std::uint32_t> pid;
	/// In brackets a part of the kernel.
	std::string owner;
	/// Port, if it has one.
	std::optional<std::uint64_t> port;
	/// Work requests finished, receives taken, by the second.
	double sends = 0;
	double receives = 0;
	/// PSNs of requests that were sent (of a reliable queue pair: acknowledged), and taken in.
	double packets_out = 0;
	double packets_in = 0;
	double retransmits = 0;
	double timeouts = 0;
	/// Work requests that are not finished.
	std::uint64_t posted = 0;
	/// As 'pibctl show objects' says it.
	std::string waits_for;
};

struct Rates {
	double seconds = 0;
	std::vector<PortRates> ports;
	std::vector<CableRates> cables;
	std::vector<QueuePairRates> queue_pairs;
};

Rates compare(const Look &before, const Look &now);

/// The growth of a counter; one that is smaller than before was cleared and has started from 0.
std::uint64_t counted(std::uint64_t before, std::uint64_t now);
/// The growth of a number that has so many bits and wraps around.
std::uint64_t moved(std::uint64_t before, std::uint64_t now, unsigned int bits);

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
// The objects of a fabric as plain data: HCAs, switches, the cables between them, and what is to
// change of a cable.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pib::inline model {

/// A UDP endpoint. Port 0 stands for the default.
struct Endpoint {
	bool v6 = false;
	/// Network order; IPv4 uses the first four bytes.
	std::array<std::uint8_t, 16> address{};
	std::uint16_t port = 0;
	/// Netdev after '%' of a link-local address; never sent, the uplink's netdev counts.
	std::string scope;

	bool operator==(const Endpoint &) const = default;
};

/// An end of a cable: a port of an HCA or a switch.
struct End {
	std::string node;
	std::uint32_t port = 0;

	bool operator==(const End &) const = default;
};

/// DSCP of data, by service level.
using DscpTable = std::array<std::uint8_t, 16>;

/// A named 64-bit counter.
struct Counter {
	const char *name;
	std::uint64_t value;
};
using Counters = std::vector<Counter>;

/// Vendor's part of NodeInfo. In a request: the module's own if absent.
struct Product {
	std::optional<std::uint64_t> sys_image_guid;
	/// 24 bits.
	std::optional<std::uint32_t> vendor_id;
	std::optional<std::uint16_t> device_id;

	bool operator==(const Product &) const = default;
};

struct Port {
	std::uint32_t number = 0;
	std::optional<std::uint64_t> guid;
	std::optional<std::uint8_t> state;
	std::optional<std::uint8_t> physical_state;
	std::optional<std::uint16_t> lid;
	std::optional<std::uint8_t> lmc;
	std::optional<std::uint16_t> sm_lid;
	std::optional<std::uint32_t> mtu;
	std::optional<std::uint8_t> width;
	std::optional<std::uint16_t> speed;
	std::optional<std::string> netdev;
	Counters counters;
};

struct Hca {
	std::string name;
	std::optional<std::string> description;
	std::optional<std::uint64_t> node_guid;
	std::optional<std::string> netdev;
	std::optional<std::uint32_t> ifindex;
	std::optional<std::uint32_t> ibdev_index;
	std::optional<std::uint32_t> fabric;
	std::optional<std::uint16_t> udp_port;
	std::optional<std::uint32_t> num_ports;
	Product product{};
	bool standalone = false;
	/// "none", or what it does other than by default.
	std::optional<std::string> behavior;
	/// Of what that leaves to chance.
	std::optional<std::uint64_t> behavior_seed;
	std::vector<Endpoint> peers;
	std::vector<Port> ports;
};

struct Switch {
	std::string name;
	std::optional<std::string> description;
	std::optional<std::uint64_t> node_guid;
	std::optional<std::uint32_t> num_ports;
	Product product{};
	bool enhanced_port0 = false;
	bool automatic = false;
	std::vector<Port> ports;
};

/// The window of a VL of a link over UDP. Bytes count as in credits, each packet for 256 more.
struct VlWindow {
	std::uint32_t vl = 0;
	/// Bytes that may be on their way to the peer.
	std::uint32_t window = 0;
	/// Bytes that are, as far as this end knows.
	std::uint32_t on_way = 0;
	/// Something waits for the window to open.
	bool waits = false;
	/// The peer was never heard: the window holds nothing back.
	bool unbounded = false;
};

struct UdpLink {
	std::optional<std::string> netdev;
	std::optional<Endpoint> peer;
	std::optional<std::uint32_t> local_id;
	std::optional<std::uint32_t> remote_id;
	bool up = false;
	std::optional<std::uint64_t> peer_node_guid;
	std::optional<std::uint32_t> peer_port;
	std::optional<std::string> peer_description;
	std::optional<std::uint32_t> last_heard_ms;
	std::optional<std::uint32_t> restarts;
	/// Why the peer has no port for this link.
	std::optional<std::string> refusal;
	/// The peer speaks by the second key of the fabric.
	bool second_key = false;
	/// Data to the peer has UDP source ports by flow.
	bool flows = false;
	/// Bytes of the largest IP packet in which data goes to the peer.
	std::optional<std::uint32_t> path_mtu;
	/// Where the peer reaches this end, which speaks from there.
	std::optional<Endpoint> own;
	/// Times that an address of either end has changed within a session.
	std::optional<std::uint32_t> moves;
	/// VLs have windows: both ends want that.
	std::optional<bool> windows;
	/// VLs that have sent.
	std::vector<VlWindow> vl_windows;
};

/// Fate of the packets to one end of a bad cable.
struct FaultCounts {
	End to;
	std::uint64_t packets = 0;
	std::uint64_t lost = 0;
	std::uint64_t damaged = 0;
	std::uint64_t duplicated = 0;
	std::uint64_t reordered = 0;
};

/// A bad cable. Packets in 10^9, bits in 10^15, latency in ns, rate in bits per second, buffer in
/// bytes.
struct Faults {
	std::uint64_t seed = 0;
	std::uint32_t loss = 0;
	std::uint32_t duplicate = 0;
	std::uint32_t reorder = 0;
	std::uint64_t bit_errors = 0;
	std::uint64_t latency = 0;
	std::uint64_t rate = 0;
	std::uint32_t buffer = 0;
	std::uint32_t flap_up = 0;
	std::uint32_t flap_down = 0;
	std::vector<FaultCounts> counts;
};

struct Link {
	End a;
	/// Exactly one of b and udp is set.
	std::optional<End> b;
	std::optional<UdpLink> udp;
	std::optional<bool> plugged;
	std::optional<Faults> faults;
	bool automatic = false;
};

struct Uplink {
	std::string netdev;
	std::optional<std::uint32_t> ifindex;
	/// Of the netdev, as ip(8) spells it: UP, NO-CARRIER or DOWN.
	std::optional<std::string> state;
	std::optional<std::uint32_t> fabric;
	std::optional<std::uint16_t> udp_port;
	std::optional<std::string> switch_name;
	/// Number of keys that the fabric has.
	std::optional<std::uint32_t> keys;
	/// Which hosts get a port, enum pib_accept.
	std::optional<std::uint8_t> accept;
	/// Data may be marked by the network.
	std::optional<bool> ecn;
	/// Of the data of each service level.
	std::optional<DscpTable> dscp;
	/// Flows have UDP source ports of their own.
	std::optional<bool> flow_ports;
	/// VLs have windows, where peers want it, too.
	std::optional<bool> windows;
	Counters counters;
};

/// A change by "pibctl link set"; absent members stay as they are.
struct LinkChange {
	End end;
	std::optional<bool> plugged;
	std::optional<std::uint8_t> width;
	std::optional<std::uint16_t> speed;
	/// All faults that are not given go.
	bool healthy = false;
	std::optional<std::uint64_t> seed;
	std::optional<std::uint32_t> loss;
	std::optional<std::uint32_t> duplicate;
	std::optional<std::uint32_t> reorder;
	std::optional<std::uint64_t> bit_errors;
	std::optional<std::uint64_t> latency;
	std::optional<std::uint64_t> rate;
	std::optional<std::uint32_t> buffer;
	/// Milliseconds in and out.
	std::optional<std::pair<std::uint32_t, std::uint32_t>> flap;
};

} // namespace pib::inline model

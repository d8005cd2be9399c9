// SPDX-License-Identifier: GPL-2.0
// The configuration: addresses, switches, cables, and the places of HCAs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/address.h"
#include "model/objects.h"
#include "switch/switch.h"
#include "wire/data_class.h"

namespace pib::netd {

/// A cable that the configuration asks for: exactly one of b and peer is set.
struct CableConfig {
	model::End a;
	std::optional<model::End> b;
	std::optional<Address> peer;

	bool operator==(const CableConfig &) const = default;
};

/// A port for a peer.
struct Place {
	model::End at;
	/// Node GUID and port of the peer.
	std::uint64_t guid = 0;
	std::uint8_t peer_port = 0;
};

struct Config {
	std::vector<Address> listen;
	std::string control;
	std::string state;
	/// Threads; 0: as many as are likely to pay.
	unsigned threads = 0;
	DataClass data_class;
	/// VLs have windows on links to peers that want that, too.
	bool windows = false;
	/// Packets have their ICRC on all links, and so from one host to the other.
	bool icrc = false;
	std::vector<SwitchConfig> switches;
	std::vector<CableConfig> cables;
	/// Places at which a topology file has HCAs.
	std::vector<Place> places;
};

/// Reads JSON. A refusal names the place: "switches[1].ports must be ...".
Result<Config> parse_config(std::string_view text);
Result<Config> read_config(const std::string &path);
/// A second key needs another one that is first.
Status check_second_key(const SwitchConfig &node);
/// Gives switches without a GUID one that stays the same on this machine, and what else is missing.
void complete_config(Config &config);

} // namespace pib::netd

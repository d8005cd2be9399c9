/* SPDX-License-Identifier: GPL-2.0 */
/* Where the cases run: one device, or two that are connected. */
#pragma once

#include <string>

#include "objects.h"

namespace ops {

/**
 * A port of a device, opened by each end for itself: its asynchronous events are that end's alone.
 */
struct Device {
	explicit Device(const std::string &name, int port = 1, int gid_index = -1);

	bool has(uint64_t cap) const { return caps & cap; }
	/** RoCE has no LIDs: address handles need a GRH. */
	bool needs_grh() const { return port_attr.link_layer == IBV_LINK_LAYER_ETHERNET; }
	unsigned mtu() const { return 128u << port_attr.active_mtu; }

	Context ctx;
	int port;
	int gid_index = 0;
	ibv_port_attr port_attr{};
	ibv_device_attr_ex device_attr{};
	uint64_t caps = 0;
	ibv_gid gid{};
};

struct Env {
	std::string dev_a, dev_b;
	int port = 1;
	int gid_index = -1;
	/** Where packets between the two devices can be seen: "NETNS:NETDEV", or nothing. */
	std::string capture;

	Device open_a() const { return Device(dev_a, port, gid_index); }
	Device open_b() const { return Device(dev_b, port, gid_index); }
	bool two_devices() const { return dev_a != dev_b; }
};

/** How many times slower than usual this kernel is (PIB_SLOW, see vm/README.md). */
unsigned slowness();

/** The value of @what in /proc/meminfo, in MiB. */
long meminfo(const std::string &what);

} // namespace ops

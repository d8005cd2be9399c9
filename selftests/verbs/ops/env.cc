// SPDX-License-Identifier: GPL-2.0
#include "env.h"

#include <cstdlib>
#include <fstream>

namespace ops {

namespace {

Context open_device(const std::string &name)
{
	int n = 0;
	ibv_device **list = ibv_get_device_list(&n);
	ibv_context *ctx = nullptr;

	for (int i = 0; i < n; i++)
		if (name == ibv_get_device_name(list[i]))
			ctx = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	if (!ctx)
		throw Failure("device " + name + " cannot be opened");
	return Context(ctx);
}

/* RoCE: the last GID is the one of IPv4, which needs no duplicate address detection. */
int choose_gid(ibv_context *ctx, int port, const ibv_port_attr &attr)
{
	int best = 0;
	ibv_gid gid;

	if (attr.link_layer != IBV_LINK_LAYER_ETHERNET)
		return 0;
	for (int i = 0; i < attr.gid_tbl_len; i++)
		if (!ibv_query_gid(ctx, port, i, &gid) && gid.global.interface_id)
			best = i;
	return best;
}

} // namespace

unsigned slowness()
{
	const char *text = getenv("PIB_SLOW");
	int n = text ? atoi(text) : 1;

	return n > 0 ? n : 1;
}

long meminfo(const std::string &what)
{
	std::ifstream in("/proc/meminfo");
	for (std::string name, unit; in >> name;) {
		long kib;
		in >> kib;
		std::getline(in, unit);
		if (name == what)
			return kib >> 10;
	}
	throw Skip("/proc/meminfo does not have " + what);
}

Device::Device(const std::string &name, int port_, int gid_index_) :
	ctx(open_device(name)), port(port_)
{
	if (ibv_query_port(ctx.get(), port, &port_attr))
		throw Failure("ibv_query_port: " + name);
	if (ibv_query_device_ex(ctx.get(), nullptr, &device_attr))
		throw Failure("ibv_query_device_ex: " + name);
	caps = device_attr.device_cap_flags_ex | device_attr.orig_attr.device_cap_flags;
	gid_index = gid_index_ >= 0 ? gid_index_ : choose_gid(ctx.get(), port, port_attr);
	if (ibv_query_gid(ctx.get(), port, gid_index, &gid))
		throw Failure("ibv_query_gid: " + name);
}

} // namespace ops

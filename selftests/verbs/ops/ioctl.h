/* SPDX-License-Identifier: GPL-2.0 */
/* A method of the kernel's interface, attribute by attribute: as a library makes it that knows more than this one. */
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <string>
#include <sys/ioctl.h>
#include <vector>

#include "harness.h"

namespace ops {

class Method {
public:
	/** A driver's own attributes and methods begin here. */
	static constexpr uint16_t drivers = 1 << 12;

	Method(uint16_t object, uint16_t method) : object_(object), method_(method) {}

	/** An object that is used, or (handle 0) the place of one that is made. */
	Method &object(uint16_t id, uint32_t handle = 0) { return add(id, 0, handle, true); }
	template <typename T>
	Method &value(uint16_t id, T value)
	{
		return add(id, sizeof(value), value, true);
	}
	Method &pointer(uint16_t id, const void *at, size_t length, bool mandatory = true)
	{
		return add(id, length, reinterpret_cast<uintptr_t>(at), mandatory);
	}

	/** Returns 0 or the errno. */
	int run(int fd) const
	{
		std::vector<uint64_t> room((sizeof(ib_uverbs_ioctl_hdr) +
					    attributes_.size() * sizeof(ib_uverbs_attr)) /
					   8);
		auto *hdr = new (room.data()) ib_uverbs_ioctl_hdr{};
		hdr->length = room.size() * 8;
		hdr->object_id = object_;
		hdr->method_id = method_;
		hdr->num_attrs = attributes_.size();
		memcpy(hdr->attrs, attributes_.data(), attributes_.size() * sizeof(ib_uverbs_attr));
		return ioctl(fd, RDMA_VERBS_IOCTL, hdr) ? errno : 0;
	}

private:
	Method &add(uint16_t id, size_t length, uint64_t data, bool mandatory)
	{
		ib_uverbs_attr a{};
		a.attr_id = id;
		a.len = length;
		a.flags = mandatory ? UVERBS_ATTR_F_MANDATORY : 0;
		a.data = data;
		attributes_.push_back(a);
		return *this;
	}

	uint16_t object_, method_;
	std::vector<ib_uverbs_attr> attributes_;
};

/**
 * An attribute that nobody knows, of the core's or of the driver's: where it must be understood the method is
 * refused, else it works without.
 */
inline void unknown_attributes_refused(const char *what, int fd, const Method &method)
{
	uint64_t data = 1;

	if (int err = method.run(fd))
		FAIL(std::string(what) + ": " + strerror(err));
	for (unsigned id : {30u, Method::drivers + 30u}) {
		if (int err = Method(method).pointer(id, &data, 8).run(fd); err != EPROTONOSUPPORT)
			FAIL(std::string(what) + " with an unknown attribute: " + strerror(err));
		if (int err = Method(method).pointer(id, &data, 8, false).run(fd))
			FAIL(std::string(what) +
			     " with one that need not be known: " + strerror(err));
	}
}

} // namespace ops

/* SPDX-License-Identifier: GPL-2.0 */
/* The cases about regions with on-demand paging have this in common. */
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include "end.h"

namespace ops {

constexpr int odp_access = all_access | IBV_ACCESS_ON_DEMAND;

inline void *mapped(size_t length, int prot, int flags, int fd, void *at = nullptr)
{
	void *p = mmap(at, length, prot, flags, fd, 0);
	if (p == MAP_FAILED)
		throw Skip("no such memory here");
	return p;
}

/* Memory of a file, seen through two mappings. */
class Shared {
public:
	explicit Shared(size_t length) : length_(length), fd_(memfd_create("pib-odp", 0))
	{
		CHECK(fd_ >= 0 && !ftruncate(fd_, length));
		here_ = static_cast<uint8_t *>(
			mapped(length, PROT_READ | PROT_WRITE, MAP_SHARED, fd_));
		there_ = static_cast<uint8_t *>(
			mapped(length, PROT_READ | PROT_WRITE, MAP_SHARED, fd_));
	}
	~Shared()
	{
		munmap(here_, length_);
		munmap(there_, length_);
		close(fd_);
	}
	Shared(const Shared &) = delete;
	Shared &operator=(const Shared &) = delete;

	/** The bytes by the mapping that is registered. */
	uint8_t *at(size_t offset = 0) const { return here_ + offset; }
	uint64_t addr(size_t offset = 0) const { return reinterpret_cast<uintptr_t>(at(offset)); }
	/** The same bytes by the other mapping. */
	std::span<uint8_t> bytes(size_t offset, size_t length) const
	{
		return {there_ + offset, length};
	}
	size_t size() const { return length_; }
	void drop() const { CHECK(!madvise(here_, length_, MADV_DONTNEED)); }

private:
	size_t length_;
	int fd_;
	uint8_t *here_, *there_;
};

inline void need(const Device &dev, uint32_t ibv_odp_caps_wanted = 0, ibv_qp_type type = IBV_QPT_RC)
{
	const ibv_odp_caps &caps = dev.device_attr.odp_caps;
	uint32_t have = type == IBV_QPT_UD   ? caps.per_transport_caps.ud_odp_caps
			: type == IBV_QPT_UC ? caps.per_transport_caps.uc_odp_caps
					     : caps.per_transport_caps.rc_odp_caps;
	if (!(caps.general_caps & IBV_ODP_SUPPORT))
		throw Skip("no on-demand paging");
	if ((have & ibv_odp_caps_wanted) != ibv_odp_caps_wanted)
		throw Skip(std::string("no on-demand paging of these for ") + type_name(type));
}

inline Mr reg(ibv_pd *pd, void *addr, size_t length, int access = odp_access)
{
	return Mr(made(ibv_reg_mr(pd, addr, length, access), "ibv_reg_mr"));
}

inline ibv_sge sge(const Mr &mr, const void *at, size_t length)
{
	return {reinterpret_cast<uintptr_t>(at), static_cast<uint32_t>(length), mr->lkey};
}

inline void need_implicit(const Device &dev)
{
	need(dev);
	if (!(dev.device_attr.odp_caps.general_caps & IBV_ODP_SUPPORT_IMPLICIT))
		throw Skip("no implicit regions");
}

inline int advise(const Mr &mr, ibv_advise_mr_advice advice, uint32_t flags, uint64_t addr,
		  size_t length, ibv_pd *pd = nullptr)
{
	ibv_sge sg = {addr, static_cast<uint32_t>(length), mr ? mr->lkey : 0xdead00};
	return ibv_advise_mr(pd ? pd : mr->pd, advice, flags, &sg, 1);
}

} // namespace ops

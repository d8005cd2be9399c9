/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libibverbs objects that end themselves. A destruction that fails is noted
 * and fails the case: the objects of a case are always destroyable.
 */
#pragma once

#include <cerrno>
#include <cstring>
#include <infiniband/verbs.h>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness.h"

namespace ops {

template <auto destroy>
struct Destroy {
	template <typename T>
	void operator()(T *object) const
	{
		if (int err = destroy(object))
			note_failure(std::string("destroying an object: ") +
				     strerror(err > 0 ? err : errno));
	}
};

using Context = std::unique_ptr<ibv_context, Destroy<ibv_close_device>>;
using Pd = std::unique_ptr<ibv_pd, Destroy<ibv_dealloc_pd>>;
using Mr = std::unique_ptr<ibv_mr, Destroy<ibv_dereg_mr>>;
using Cq = std::unique_ptr<ibv_cq, Destroy<ibv_destroy_cq>>;
using Channel = std::unique_ptr<ibv_comp_channel, Destroy<ibv_destroy_comp_channel>>;
using Srq = std::unique_ptr<ibv_srq, Destroy<ibv_destroy_srq>>;
using Qp = std::unique_ptr<ibv_qp, Destroy<ibv_destroy_qp>>;
using Ah = std::unique_ptr<ibv_ah, Destroy<ibv_destroy_ah>>;

inline int mw_dealloc(ibv_mw *mw)
{
	return ibv_dealloc_mw(mw);
}
inline int xrcd_close(ibv_xrcd *xrcd)
{
	return ibv_close_xrcd(xrcd);
}
inline int dm_free(ibv_dm *dm)
{
	return ibv_free_dm(dm);
}
using Mw = std::unique_ptr<ibv_mw, Destroy<mw_dealloc>>;
using Xrcd = std::unique_ptr<ibv_xrcd, Destroy<xrcd_close>>;
using Dm = std::unique_ptr<ibv_dm, Destroy<dm_free>>;

/** made(pointer, "what"): the pointer, or a Failure with errno; a Skip if it is not supported. */
template <typename T>
T *made(T *object, const char *what)
{
	if (object)
		return object;
	if (errno == EOPNOTSUPP || errno == ENOSYS)
		throw Skip(std::string(what) + ": not supported");
	throw Failure(std::string(what) + ": " + strerror(errno));
}

constexpr unsigned all_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

/** Registered memory, with guard bytes on both sides of it. */
class Memory {
public:
	Memory() = default;
	Memory(ibv_pd *pd, size_t size, unsigned access = all_access);
	Memory(Memory &&) = default;
	Memory &operator=(Memory &&) = default;
	/* The region goes before its pages do; only a case that still lives checks the guards. */
	~Memory();

	uint8_t *at(size_t offset = 0) const { return base_.get() + guard + offset; }
	size_t size() const { return size_; }
	ibv_mr *mr() const { return mr_.get(); }
	uint32_t lkey() const { return mr_->lkey; }
	uint32_t rkey() const { return mr_->rkey; }
	uint64_t addr(size_t offset = 0) const { return reinterpret_cast<uintptr_t>(at(offset)); }
	ibv_sge sge(size_t offset, size_t length) const
	{
		return {addr(offset), static_cast<uint32_t>(length), mr_->lkey};
	}
	std::span<uint8_t> bytes(size_t offset, size_t length) const
	{
		return {at(offset), length};
	}
	void drop_mr() { mr_.reset(); }

private:
	static constexpr size_t guard = 4096;
	struct Unmap {
		size_t length;
		void operator()(uint8_t *p) const;
	};
	std::unique_ptr<uint8_t, Unmap> base_;
	Mr mr_;
	size_t size_ = 0;
};

/** Bytes that tell where they come from. */
void fill(std::span<uint8_t> bytes, unsigned seed);
/** Fails unless the bytes are what fill() with that seed, from position on, writes. */
void check_filled(std::span<const uint8_t> bytes, unsigned seed, size_t position = 0);
void check_all(std::span<const uint8_t> bytes, uint8_t value);

} // namespace ops

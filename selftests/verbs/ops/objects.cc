// SPDX-License-Identifier: GPL-2.0
#include "objects.h"

#include <sys/mman.h>

namespace ops {

namespace {

constexpr uint8_t guard_byte = 0xa5;

uint8_t byte_of(unsigned seed, size_t position)
{
	uint64_t x = (position + 1) * 0x9e3779b97f4a7c15ULL + seed * 0xbf58476d1ce4e5b9ULL;
	return (x >> 40) ^ (x >> 17);
}

} // namespace

void Memory::Unmap::operator()(uint8_t *p) const
{
	munmap(p, length);
}

Memory::Memory(ibv_pd *pd, size_t size, unsigned access) : size_(size)
{
	size_t length = guard + (size + 4095) / 4096 * 4096 + guard;
	void *p = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		throw Failure("no memory");
	base_ = {static_cast<uint8_t *>(p), Unmap{length}};
	memset(base_.get(), guard_byte, guard);
	memset(at(size), guard_byte, length - guard - size);
	/* The guards are registered too, so that only an overrun's own check keeps them whole. */
	mr_.reset(made(ibv_reg_mr(pd, at(), size ? size : 1, access), "ibv_reg_mr"));
}

Memory::~Memory()
{
	mr_.reset();
	if (!base_)
		return;
	for (size_t i = 0; i < guard; i++) {
		if (base_.get()[i] != guard_byte || at(size_)[i % (guard - 1)] != guard_byte) {
			note_failure("bytes beside the buffer were written");
			return;
		}
	}
}

void fill(std::span<uint8_t> bytes, unsigned seed)
{
	for (size_t i = 0; i < bytes.size(); i++)
		bytes[i] = byte_of(seed, i);
}

void check_filled(std::span<const uint8_t> bytes, unsigned seed, size_t position)
{
	for (size_t i = 0; i < bytes.size(); i++) {
		if (bytes[i] != byte_of(seed, position + i))
			FAIL("byte " + std::to_string(i) + " of " + std::to_string(bytes.size()) +
			     " is " + std::to_string(bytes[i]) + ", not " +
			     std::to_string(byte_of(seed, position + i)));
	}
}

void check_all(std::span<const uint8_t> bytes, uint8_t value)
{
	for (size_t i = 0; i < bytes.size(); i++)
		if (bytes[i] != value)
			FAIL("byte " + std::to_string(i) + " was changed to " +
			     std::to_string(bytes[i]));
}

} // namespace ops

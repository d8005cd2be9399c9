/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of another device, of which vgem stands in: the kernel's GPU without hardware. */
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <span>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"

namespace ops {

namespace vgem {

struct drm_version {
	int major, minor, patch;
	size_t name_len;
	char *name;
	size_t date_len;
	char *date;
	size_t desc_len;
	char *desc;
};
struct dumb_create {
	uint32_t height, width, bpp, flags, handle, pitch;
	uint64_t size;
};
struct dumb_map {
	uint32_t handle, pad;
	uint64_t offset;
};
struct prime {
	uint32_t handle, flags;
	int32_t fd;
};

constexpr unsigned long get_version = _IOWR('d', 0x00, drm_version),
			create_dumb = _IOWR('d', 0xb2, dumb_create),
			map_dumb = _IOWR('d', 0xb3, dumb_map),
			handle_to_fd = _IOWR('d', 0x2d, prime);

inline int open_device()
{
	for (int i = 0; i < 8; i++) {
		char name[16] = {}, path[32];
		drm_version version{};
		version.name = name;
		version.name_len = sizeof(name) - 1;
		snprintf(path, sizeof(path), "/dev/dri/card%d", i);
		int fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!ioctl(fd, get_version, &version) && !strcmp(name, "vgem"))
			return fd;
		close(fd);
	}
	throw Skip("no vgem");
}

} // namespace vgem

/** A buffer of the device, mapped by the process too. Skips the case where there is no such device. */
class GpuBuffer {
public:
	explicit GpuBuffer(size_t size, uint32_t mode = O_RDWR) : drm_(vgem::open_device())
	{
		vgem::dumb_create create{.height = uint32_t(size / 4096), .width = 1024, .bpp = 32};
		CHECK(!ioctl(drm_, vgem::create_dumb, &create));
		size_ = create.size;
		vgem::prime p{.handle = create.handle, .flags = mode | O_CLOEXEC};
		CHECK(!ioctl(drm_, vgem::handle_to_fd, &p));
		fd = p.fd;
		vgem::dumb_map m{.handle = create.handle};
		CHECK(!ioctl(drm_, vgem::map_dumb, &m));
		void *at = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, drm_, m.offset);
		CHECK(at != MAP_FAILED);
		bytes_ = static_cast<uint8_t *>(at);
	}
	~GpuBuffer()
	{
		munmap(bytes_, size_);
		close(fd);
		close(drm_);
	}
	GpuBuffer(const GpuBuffer &) = delete;
	GpuBuffer &operator=(const GpuBuffer &) = delete;
	std::span<uint8_t> bytes(size_t offset, size_t length) const
	{
		return {bytes_ + offset, length};
	}

	int fd;

private:
	int drm_;
	uint8_t *bytes_;
	size_t size_;
};

} // namespace ops

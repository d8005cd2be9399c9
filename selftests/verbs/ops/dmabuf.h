/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of another device, of which vgem stands in: the kernel's GPU without hardware. */
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <drm/drm.h>
#include <fcntl.h>
#include <span>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"

namespace ops {

inline int open_vgem()
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
		if (!ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, "vgem"))
			return fd;
		close(fd);
	}
	throw Skip("no vgem");
}

/** A buffer of the device, mapped by the process too. Skips the case where there is no such device. */
class GpuBuffer {
public:
	explicit GpuBuffer(size_t size, uint32_t mode = O_RDWR) : drm_(open_vgem())
	{
		drm_mode_create_dumb create{
			.height = uint32_t(size / 4096), .width = 1024, .bpp = 32};
		CHECK(!ioctl(drm_, DRM_IOCTL_MODE_CREATE_DUMB, &create));
		size_ = create.size;
		drm_prime_handle p{.handle = create.handle, .flags = mode | O_CLOEXEC};
		CHECK(!ioctl(drm_, DRM_IOCTL_PRIME_HANDLE_TO_FD, &p));
		fd = p.fd;
		drm_mode_map_dumb m{.handle = create.handle};
		CHECK(!ioctl(drm_, DRM_IOCTL_MODE_MAP_DUMB, &m));
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

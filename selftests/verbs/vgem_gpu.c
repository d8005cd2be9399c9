// SPDX-License-Identifier: GPL-2.0
/*
 * LD_PRELOAD: shows vgem, the kernel's GPU without hardware, as a GPU that pyverbs knows, so that
 * its dma-buf cases run where there is none. pyverbs opens the render node of an i915 and creates
 * and maps buffers by that driver's ioctls; vgem has the dumb-buffer ioctls for it, on its primary
 * node.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <drm/drm.h>
#include <drm/i915_drm.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

static int (*next_ioctl)(int fd, unsigned long request, ...);

static int create(int fd, struct drm_i915_gem_create *create)
{
	uint64_t pages = (create->size + 4095) / 4096;
	struct drm_mode_create_dumb dumb = {
		.height = pages ? pages : 1,
		.width = 1024,
		.bpp = 32,
	};
	int err = next_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &dumb);

	create->handle = dumb.handle;
	return err;
}

static int version(int fd, struct drm_version *v)
{
	int err = next_ioctl(fd, DRM_IOCTL_VERSION, v);

	if (!err && v->name && !strncmp(v->name, "vgem", 4))
		strcpy(v->name, "i915");
	return err;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (!next_ioctl)
		next_ioctl = dlsym(RTLD_NEXT, "ioctl");
	switch (request) {
	case DRM_IOCTL_VERSION:
		return version(fd, arg);
	case DRM_IOCTL_I915_GEM_CREATE:
		return create(fd, arg);
	case DRM_IOCTL_I915_GEM_MMAP_GTT:
		return next_ioctl(fd, DRM_IOCTL_MODE_MAP_DUMB, arg);
	default:
		return next_ioctl(fd, request, arg);
	}
}

static int open_node(const char *symbol, const char *path, int flags, mode_t mode)
{
	int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, symbol);
	char primary[32];
	int gpu;

	if (sscanf(path, "/dev/dri/renderD%d", &gpu) == 1) {
		snprintf(primary, sizeof(primary), "/dev/dri/card%d", gpu - 128);
		path = primary;
	}
	return next(path, flags, mode);
}

#define OPEN(name)						\
int name(const char *path, int flags, ...)			\
{								\
	mode_t mode = 0;					\
	va_list ap;						\
								\
	va_start(ap, flags);					\
	if (flags & (O_CREAT | O_TMPFILE))			\
		mode = va_arg(ap, mode_t);			\
	va_end(ap);						\
	return open_node(#name, path, flags, mode);		\
}

OPEN(open)
OPEN(open64)

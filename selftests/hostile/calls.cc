// SPDX-License-Identifier: GPL-2.0
#include "calls.h"

#include <cstdarg>
#include <rdma/rdma_user_ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hostile {

thread_local CallHook *call_hook;

int kernel_ioctl(int fd, void *ioctl_command)
{
	return syscall(SYS_ioctl, fd, RDMA_VERBS_IOCTL, ioctl_command);
}

ssize_t kernel_write(int fd, const void *from, size_t length)
{
	return syscall(SYS_write, fd, from, length);
}

} // namespace hostile

using namespace hostile;

extern "C" int ioctl(int fd, unsigned long request, ...)
{
	va_list rest;
	va_start(rest, request);
	void *arg = va_arg(rest, void *);
	va_end(rest);
	if (call_hook && request == RDMA_VERBS_IOCTL)
		return call_hook->command(fd, arg);
	return syscall(SYS_ioctl, fd, request, arg);
}

extern "C" ssize_t write(int fd, const void *from, size_t length)
{
	/* On a device the hook sees it; what it writes elsewhere it has to do by kernel_write(). */
	if (call_hook && fd > 2)
		return call_hook->command(fd, from, length);
	return kernel_write(fd, from, length);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libibverbs' own commands, before they reach the kernel: this program's ioctl() and write() are
 * those that libibverbs and the provider find.
 */
#pragma once

#include <cstddef>
#include <sys/types.h>

namespace hostile {

/** Gets a thread's commands instead of the kernel. */
class CallHook {
public:
	virtual ~CallHook() = default;
	virtual int command(int fd, void *ioctl_command) = 0;
	virtual ssize_t command(int fd, const void *written, size_t length) = 0;
};

/** The thread's hook, or nothing. */
extern thread_local CallHook *call_hook;

/* The kernel's answer: -1 and errno, as of the calls of that name. */
int kernel_ioctl(int fd, void *ioctl_command);
ssize_t kernel_write(int fd, const void *from, size_t length);

} // namespace hostile

// SPDX-License-Identifier: GPL-2.0
/*
 * LD_PRELOAD: the allocation FAIL_NTH of each netlink request of a program fails in the kernel. The
 * file FAIL_REPORT gets a line for each request, "failed" or "left N": N more allocations would
 * have made it fail.
 */
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/socket.h>

#include "fail_nth.h"

namespace {

unsigned wanted()
{
	const char *n = getenv("FAIL_NTH");
	return n ? atoi(n) : 0;
}

bool is_netlink(int fd)
{
	sockaddr_storage a;
	socklen_t length = sizeof(a);

	return !getsockname(fd, reinterpret_cast<sockaddr *>(&a), &length) &&
	       a.ss_family == AF_NETLINK;
}

void report(unsigned left)
{
	const char *path = getenv("FAIL_REPORT");
	FILE *f = path ? fopen(path, "a") : nullptr;

	if (!f)
		return;
	if (left)
		fprintf(f, "left %u\n", left);
	else
		fputs("failed\n", f);
	fclose(f);
}

template <typename F>
ssize_t failing(int fd, F send)
{
	if (!wanted() || !is_netlink(fd))
		return send();
	FailNth fail;
	if (!fail.available())
		return send();
	fail.arm(wanted());
	ssize_t n = send();
	int err = errno;
	report(fail.disarm());
	errno = err;
	return n;
}

} // namespace

extern "C" ssize_t sendto(int fd, const void *data, size_t length, int flags, const sockaddr *to,
			  socklen_t to_length)
{
	static auto next = reinterpret_cast<decltype(&sendto)>(dlsym(RTLD_NEXT, "sendto"));
	return failing(fd, [&] { return next(fd, data, length, flags, to, to_length); });
}

extern "C" ssize_t sendmsg(int fd, const msghdr *message, int flags)
{
	static auto next = reinterpret_cast<decltype(&sendmsg)>(dlsym(RTLD_NEXT, "sendmsg"));
	return failing(fd, [&] { return next(fd, message, flags); });
}

extern "C" ssize_t send(int fd, const void *data, size_t length, int flags)
{
	static auto next = reinterpret_cast<decltype(&send)>(dlsym(RTLD_NEXT, "send"));
	return failing(fd, [&] { return next(fd, data, length, flags); });
}

/* SPDX-License-Identifier: GPL-2.0 */
/* Lets one allocation of this thread's fail in the kernel: /proc/thread-self/fail-nth. */
#pragma once

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

class FailNth {
public:
	FailNth() : fd_(open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC)) {}
	~FailNth()
	{
		if (fd_ >= 0)
			close(fd_);
	}
	FailNth(const FailNth &) = delete;

	bool available() const { return fd_ >= 0; }
	/** The @n-th allocation from now on fails; 0: none. */
	void arm(unsigned n)
	{
		char text[16];
		int length = snprintf(text, sizeof(text), "%u", n);
		if (pwrite(fd_, text, length, 0) != length)
			abort();
	}
	/** No more; returns how many allocations would have been left until one fails, 0: one has failed. */
	unsigned disarm()
	{
		char text[16] = "";
		if (pread(fd_, text, sizeof(text) - 1, 0) < 0)
			abort();
		arm(0);
		return atoi(text);
	}

private:
	int fd_;
};

// SPDX-License-Identifier: GPL-2.0
/*
 * changing FILE: writes to the first MiB of a file in memory, again and again, until it is ended.
 */
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	size_t size = 1 << 20, i;
	volatile unsigned long *p;
	int fd = argc == 2 ? open(argv[1], O_RDWR) : -1;

	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return 1;
	for (;;)
		for (i = 0; i < size / sizeof(*p); i += 64)
			p[i]++;
}

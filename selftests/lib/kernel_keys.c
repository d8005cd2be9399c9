// SPDX-License-Identifier: GPL-2.0
/*
 * kernel_keys FILE: how often the module's memory has the key in FILE, which ends in 0 if it does.
 *
 * All of the kernel's memory is searched (/proc/kcore) for how struct pib_psk begins: the length of
 * the key, which is 32, and its first half. The second half may have been overwritten when memory
 * was freed, for the allocator keeps a pointer in the middle of what is free. The key itself is
 * elsewhere, too, as in the pages of FILE, and so may be what this program has read: it holds the
 * key inverted, and leaves nothing behind.
 */
#include <elf.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY_WORDS 8
#define HALF_WORDS 4
#define PSK_WORDS (1 + HALF_WORDS)
#define CHUNK (1 << 20)

static uint32_t inverted[KEY_WORDS];
/* One chunk, and what may begin in it. */
static uint32_t memory[CHUNK / sizeof(uint32_t) + PSK_WORDS];

static void read_key(const char *name)
{
	uint32_t bytes[KEY_WORDS];
	int fd = open(name, O_RDONLY);
	int i;

	if (fd < 0 || read(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		error(2, errno, "%s: no key of %zu bytes", name, sizeof(bytes));
	close(fd);
	for (i = 0; i < KEY_WORDS; i++)
		inverted[i] = ~bytes[i];
	explicit_bzero(bytes, sizeof(bytes));
}

static int is_psk(const uint32_t *at)
{
	int i;

	if (at[0] != KEY_WORDS * sizeof(uint32_t))
		return 0;
	for (i = 0; i < HALF_WORDS; i++)
		if (at[1 + i] != ~inverted[i])
			return 0;
	return 1;
}

/* The hits among the chunk's words in @memory, of which @bytes are there. */
static unsigned int count_in(size_t bytes)
{
	size_t words = bytes / sizeof(uint32_t), i;
	unsigned int n = 0;

	for (i = 0; i < CHUNK / sizeof(uint32_t) && i + PSK_WORDS <= words; i++)
		n += is_psk(memory + i);
	return n;
}

static unsigned int search(int fd, const Elf64_Phdr *part)
{
	unsigned int n = 0;
	uint64_t at;

	for (at = 0; at < part->p_filesz; at += CHUNK) {
		uint64_t left = part->p_filesz - at;
		ssize_t want = left < sizeof(memory) ? left : sizeof(memory);

		if (pread(fd, memory, want, part->p_offset + at) != want)
			error(2, errno, "/proc/kcore, from %#jx", (uintmax_t)(part->p_vaddr + at));
		n += count_in(want);
		explicit_bzero(memory, sizeof(memory));
	}
	return n;
}

int main(int argc, char **argv)
{
	int fd = open("/proc/kcore", O_RDONLY);
	unsigned int n = 0;
	Elf64_Ehdr head;
	Elf64_Phdr part;
	int i;

	if (argc != 2)
		error(2, 0, "kernel_keys FILE");
	if (fd < 0 || pread(fd, &head, sizeof(head), 0) != sizeof(head))
		error(2, errno, "/proc/kcore");
	read_key(argv[1]);
	for (i = 0; i < head.e_phnum; i++) {
		if (pread(fd, &part, sizeof(part), head.e_phoff + i * sizeof(part)) != sizeof(part))
			error(2, errno, "/proc/kcore");
		/* A part without a physical address is other parts seen again (vmalloc). */
		if (part.p_type == PT_LOAD && part.p_paddr != UINT64_MAX)
			n += search(fd, &part);
	}
	printf("found %u\n", n);
	return !n;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The stack of a call that is told of. Functions are named by who reads it (host/symbols.cc): an
 * object's table for the linker has only those that other objects may call.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "manners.h"

/* Calls that are looked at, and told of. */
#define DEPTH	24
#define TOLD	10

static char program[PATH_MAX];
static void *own_base;
/* It has returned from main(). */
static int has_ended;

void stack_begin(void)
{
	void *call;
	Dl_info own;
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	program[length > 0 ? length : 0] = '\0';
	if (dladdr((void *)stack_begin, &own))
		own_base = own.dli_fbase;
	/* The first call loads a library, for which a hook is no place. */
	backtrace(&call, 1);
}

void stack_end(void)
{
	has_ended = 1;
}

/* Return: its length; 0: it is a call of this library, of nothing that is known, or too long. */
static size_t put_call(const void *call, char *text, size_t room)
{
	const struct link_map *map;
	const char *path;
	Dl_info info;
	int length;

	if (!dladdr1(call, &info, (void **)&map, RTLD_DL_LINKMAP) || info.dli_fbase == own_base)
		return 0;
	path = map->l_name[0] ? map->l_name : program;
	if (strpbrk(path, "\t\n"))
		return 0;
	length = snprintf(text, room, "\t%s+0x%zx", path, (uintptr_t)call - map->l_addr);
	return length > 0 && (size_t)length < room ? (size_t)length : 0;
}

uint64_t stack_sum(void)
{
	void *calls[DEPTH];
	int i, depth = has_ended ? 0 : backtrace(calls, DEPTH);
	uint64_t sum = 0;

	for (i = 0; i < depth; i++)
		sum = (sum ^ (uintptr_t)calls[i]) * 0x100000001b3;
	return sum;
}

/* A call returns behind itself: in its last byte it stands itself. */
size_t stack_of(char *text, size_t room)
{
	void *calls[DEPTH];
	int i, told = 0, depth = has_ended ? 0 : backtrace(calls, DEPTH);
	size_t length = 0;

	for (i = 0; i < depth && told < TOLD; i++) {
		size_t more = put_call((const char *)calls[i] - 1, text + length, room - length);

		length += more;
		told += more > 0;
	}
	return length;
}

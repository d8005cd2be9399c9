/* SPDX-License-Identifier: GPL-2.0 */
/* For the small programs here, each of which is one file. */
#pragma once

#include <infiniband/verbs.h>
#include <string.h>

/* The device of that name, opened; NULL with errno if there is none or it cannot be. */
static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;
	int i;

	for (i = 0; list && list[i] && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

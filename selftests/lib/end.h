/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue pair at port 1 of a device, with all that it needs: for programs whose ends are all
 * alike.
 */
#pragma once

#include <errno.h>
#include <error.h>
#include <stddef.h>
#include "device.h"

#define END_POLL 64

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_port_attr port;
	unsigned int posted, done;
};

static void die(const char *device, const char *what)
{
	error(1, errno, "%s: %s", device, what);
}

/* @type, and work requests of one piece of memory: so many to send, so many to receive. */
static void open_end(struct end *e, const char *name, enum ibv_qp_type type, unsigned int sends,
		     unsigned int receives, void *memory, size_t size)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = type,
		.sq_sig_all = 1,
		.cap = {.max_send_wr = sends,
			.max_recv_wr = receives,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};

	e->ctx = open_device(name);
	if (!e->ctx)
		die(name, "cannot open");
	if (ibv_query_port(e->ctx, 1, &e->port))
		die(name, "cannot query the port");
	e->pd = ibv_alloc_pd(e->ctx);
	e->cq = ibv_create_cq(e->ctx, sends + receives, NULL, NULL, 0);
	if (!e->pd || !e->cq)
		die(name, "cannot make objects");
	attr.send_cq = e->cq;
	attr.recv_cq = e->cq;
	e->qp = ibv_create_qp(e->pd, &attr);
	e->mr = ibv_reg_mr(e->pd, memory, size,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ);
	if (!e->qp || !e->mr)
		die(name, "cannot make a QP");
}

static const char *name_of(const struct end *e)
{
	return ibv_get_device_name(e->ctx->device);
}

static void modify(struct end *e, struct ibv_qp_attr attr, int mask, const char *what)
{
	if (ibv_modify_qp(e->qp, &attr, mask | IBV_QP_STATE))
		die(name_of(e), what);
}

/* Count what has been done since. Return: how much that is. */
static inline int take(struct end *e)
{
	struct ibv_wc wc[END_POLL];
	int i, n = ibv_poll_cq(e->cq, END_POLL, wc);

	for (i = 0; i < n; i++) {
		if (wc[i].status)
			error(1, 0, "%s: %s", name_of(e), ibv_wc_status_str(wc[i].status));
		e->done++;
	}
	return n;
}

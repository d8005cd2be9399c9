/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Polls as queues.c knows them: extended.c tells it of those by the newer interfaces. Structs are
 * libibverbs'.
 */
#ifndef PIB_PRELOAD_QUEUES_H
#define PIB_PRELOAD_QUEUES_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include "manners.h"

/* enum ibv_wr_opcode, enum ibv_send_flags */
enum {
	RDMA_WRITE = 0,
	RDMA_WRITE_WITH_IMM = 1,
	SEND = 2,
	SEND_WITH_IMM = 3,
	RDMA_READ = 4,
	CMP_AND_SWP = 5,
	FETCH_AND_ADD = 6,
	LOCAL_INV = 7,
	BIND_MW = 8,
	SEND_WITH_INV = 9,
	SIGNALED = 1 << 1,
	INLINE = 1 << 3,
	/* FENCE to IP_CSUM */
	KNOWN_FLAGS = (1 << 5) - 1,
};

/* Calls of struct ibv_context_ops. */
#define OPS 32

struct context {
	void *device;
	void *ops[OPS];
	int fds[2], vectors;
	pthread_mutex_t mutex;
	void *abi_compat;
};

/* Among the objects that struct ibv_qp begins with. */
enum {
	SEND_CQ = 3,
	RECV_CQ = 4,
};

/* Pieces of a work request whose memory is looked at. */
#define PIECES 4

struct piece {
	uint64_t addr;
	uint32_t length, lkey;
};

struct send_wr {
	uint64_t wr_id;
	struct send_wr *next;
	struct piece *pieces;
	int num_pieces, opcode;
	unsigned int flags;
};

struct wc {
	uint64_t wr_id;
	int status, opcode;
	uint32_t vendor_err, byte_len, imm, qp_num, src_qp, flags;
	uint16_t pkey_index, slid;
	uint8_t sl, path_bits;
};

/* Calls of struct verbs_context, which stands before struct ibv_context: the last ones of it. */
struct more_calls {
	void *create_cq_ex, *others[6], *open_qp, *create_qp_ex, *get_srq_num, *create_srq_ex,
		*open_xrcd, *close_xrcd;
	uint64_t placeholder;
	size_t size;
};

struct cq;

const char *ibv_get_device_name(void *device);

/* The lock of what is known of memory, sends, CQs and devices. */
void take_lock(void);
void give_lock(void);
/* This was polled from the CQ. Nobody else polls that meanwhile. */
void polled(const void *cq, const struct wc *wc);
/* Something was, and nobody knows of which queue pair. */
void polled_unknown(const void *cq);
/* The device's own calls. */
struct more_calls more_calls_of(const struct context *context);

/* ---- extended.c ---- */

/* A device was opened: they are replaced. Return: its own ones. */
struct more_calls more_calls_begin(struct context *context);
/*
 * A queue pair or a CQ is about to go, and has not if @err. Return: its place, for what follows.
 * Another one may have its address before it is known that it has gone.
 */
int extended_qp_leaves(const void *qp);
void extended_qp_left(int place, int err);
int extended_cq_leaves(const void *cq);
void extended_cq_left(int place, int err);
/* Return: whether this CQ may be polled by ibv_start_poll(), too. */
int is_extended_cq(const void *cq);
/* Nobody is in the middle of something until they go on, as queues_stop(). */
void extended_stop(void);
void extended_go_on(void);

#endif

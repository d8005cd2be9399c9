/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Pipes: cables that are slow, far, bad or short of room. A port into which such a cable
 * leads has a pipe: what arrives goes through it instead of straight in. A good cable has
 * none, which is all that the data path looks at.
 */
#ifndef PIB_FABRIC_PIPE_H
#define PIB_FABRIC_PIPE_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include "proto/fault.h"
#include "proto/vl.h"

struct pib_burst;
struct pib_kport;

#define PIB_PIPE_VLS	16

/**
 * struct pib_pipe_vl - one VL of a pipe
 * @out: bursts that the sending port holds until it is their turn and there are credits
 * @out_bytes: of them, on the wire
 * @in: bursts that have arrived and hold room in the receiving port until it passes them on
 * @bursts: all of this VL in the pipe
 * @tx: credits and times of the sending port
 * @retry_at: ns: when the receiving port is asked again to pass on the head of @in
 * @retry_ns: how long it was left alone the last time
 * @waits_for: while @retry_ns is set: port of the same switch by which it could not leave, NULL if not known
 */
struct pib_pipe_vl {
	struct list_head out;
	u32 out_bytes;
	struct list_head in;
	u32 bursts;
	struct pib_vl_tx tx;
	u64 retry_at;
	u32 retry_ns;
	struct pib_kport *waits_for;
};

/**
 * struct pib_pipe - a cable in one direction, with what waits before and behind it
 * @from: the port that sends; NULL: it is another host's. Never changes
 * @port: where it leads to; never changes
 * @lock: softirqs off; guards what follows. May be taken under qp->lock
 * @fault: choices and counts
 * @arb: arbiter of @from
 * @vl: per VL
 * @ready: bit per VL that has something in @vl.out
 * @arrived: bit per VL that has something in @vl.in
 * @backlog: the cable was busy when it was last given something: the next follows without a gap
 * @starved: ns: since when @from has not sent for want of credits
 * @wire: bursts in the cable, the next one to arrive first; those of @held are not among them
 * @held: a burst that others are to overtake, or NULL
 * @overtakers: how many still
 * @held_until: ns; they may never come
 * @busy: somebody is passing on what has arrived
 * @timer: fires when there is something to be done; in softirqs
 */
struct pib_pipe {
	struct pib_kport *from;
	struct pib_kport *port;
	spinlock_t lock;
	struct pib_fault fault;
	struct pib_vl_arb arb;
	struct pib_pipe_vl vl[PIB_PIPE_VLS];
	u32 ready;
	u32 arrived;
	bool backlog;
	u64 starved;
	struct list_head wire;
	struct pib_burst *held;
	u8 overtakers;
	u64 held_until;
	bool busy;
	struct hrtimer timer;
};

void pib_pipe_init(struct pib_pipe *pipe, struct pib_kport *from, struct pib_kport *port,
		   const struct pib_fault_cfg *cfg, unsigned int direction);
/* Nobody enters it any more. What is in it arrives now, if the port takes it. */
void pib_pipe_stop(struct pib_pipe *pipe);

void pib_pipe_counts(struct pib_pipe *pipe, struct pib_fault_counts *counts);

/**
 * pib_pipe_enter() - the sending port queues a burst on h.vl
 *
 * 0: consumed, and counted when it is sent. -EBUSY: the queue is full, @b is still the
 * caller's. Softirqs off, RCU.
 */
int pib_pipe_enter(struct pib_pipe *pipe, struct pib_burst *b);

#endif

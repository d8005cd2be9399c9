/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Pipes: cables that are slow, far, bad or short of room. A port into which such a cable
 * leads has a pipe, and what arrives goes through the pipe instead of straight in. A good
 * cable has no pipe, which is all that the data path looks at.
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
 * @out_bytes: their bytes on the wire
 * @in: bursts that have arrived and hold room in the receiving port until it passes them on
 * @bursts: all of this VL in the pipe
 * @tx: credits and times of the sending port
 * @retry_at: ns: when the receiving port is asked again to pass on the head of @in
 * @retry_ns: ns for which the receiving port was left alone the last time; 0: it has not refused
 * @waits_for: while @retry_ns is set: port of the same switch by which the head of @in could not
 *	leave; NULL: not known
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
 * @from: the port that sends; NULL: that port is another host's. Never changes
 * @port: the port that receives; never changes
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
 * @overtakers: how many are still to overtake @held
 * @held_until: ns: until when @held waits for them, for they may never come
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

/* Set up a pipe. @direction: 0 or 1, as for pib_fault_init(). Process context. */
void pib_pipe_init(struct pib_pipe *pipe, struct pib_kport *from, struct pib_kport *port,
		   const struct pib_fault_cfg *cfg, unsigned int direction);
/*
 * Nobody enters the pipe any more. What is in it arrives now, if the port takes it. Process
 * context.
 */
void pib_pipe_stop(struct pib_pipe *pipe);

/* What the faults have done so far. Process or softirq context. */
void pib_pipe_counts(struct pib_pipe *pipe, struct pib_fault_counts *counts);

/**
 * pib_pipe_enter() - the sending port queues a burst on h.vl
 * @pipe: pipe
 * @b: burst, which is counted when it is sent
 *
 * Context: softirqs off, under rcu_read_lock().
 * Return: 0: the burst is consumed; -EBUSY: the queue is full, the burst is still the caller's.
 */
int pib_pipe_enter(struct pib_pipe *pipe, struct pib_burst *b);

#endif

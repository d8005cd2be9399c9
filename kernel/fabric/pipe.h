/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Pipes: cables that are slow, far, bad or short of room. A port into which such a cable
 * leads has a pipe, and bursts go through the pipe instead of straight in. A good cable has
 * no pipe, and the data path looks at nothing but that.
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
 * @out_bytes: bytes of @out on the wire
 * @in: bursts that have arrived and hold room in the receiving port until it passes them on
 * @bursts: number of bursts of this VL in the pipe
 * @tx: credits and times of the sending port
 * @retry_at: ns: when the receiving port is asked again to pass on the head of @in
 * @retry_ns: delay before @retry_at, doubled by each refusal; 0: the port has not refused
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
 * @backlog: bursts have waited for the busy cable: the next one follows without a gap
 * @starved: ns: since when @from has not sent for want of credits
 * @wire: bursts in the cable, the next one to arrive first; those of @held are not among them
 * @held: a burst that is held back until others have overtaken it, or NULL
 * @overtakers: number of bursts that have yet to overtake @held
 * @held_until: ns: when @held stops waiting for them, for they may never come
 * @asked: see pib_mem_is_asked()
 * @look_at: ns: @pipe does not look before whether its bursts are wanted back
 * @busy: a CPU is in pipe_run(), where it drops @lock to pass bursts on
 * @timer: fires when the pipe has something to do; in softirqs
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
	u32 asked;
	u64 look_at;
	bool busy;
	struct hrtimer timer;
};

/* Set up a pipe. @direction: 0 or 1, as for pib_fault_init(). Context: process. */
void pib_pipe_init(struct pib_pipe *pipe, struct pib_kport *from, struct pib_kport *port,
		   const struct pib_fault_cfg *cfg, unsigned int direction);
/*
 * Stop a pipe that nobody enters any more. Its bursts arrive now, and those that the port refuses
 * are dropped. Context: process.
 */
void pib_pipe_stop(struct pib_pipe *pipe);

/* Read the counts of what the faults have done so far. Context: process or softirq. */
void pib_pipe_counts(struct pib_pipe *pipe, struct pib_fault_counts *counts);

/**
 * pib_pipe_enter() - queue a burst at the sending port, on h.vl
 * @pipe: pipe
 * @b: burst, which is counted when it is sent
 *
 * Context: softirqs off, under rcu_read_lock().
 * Return: 0: the burst is consumed; -EBUSY: the queue is full, the burst is still the caller's.
 */
int pib_pipe_enter(struct pib_pipe *pipe, struct pib_burst *b);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Cables with faults. A port into which a bad cable leads has a lane: what
 * arrives goes through it instead of straight in. A good cable has none, which is
 * all that the data path looks at.
 */
#ifndef PIB_FAULT_H
#define PIB_FAULT_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include "proto/fault.h"

struct netlink_ext_ack;
struct pib_burst;
struct pib_kport;
struct pib_net;

/**
 * struct pib_lane - a cable with faults, in one direction
 * @port: where it leads to; never changes
 * @lock: softirqs off; guards what follows. May be taken under qp->lock
 * @fault: choices and counts
 * @queue: bursts on their way, the next one first; those of @held are not among them
 * @queued: entries in @queue
 * @held: a burst that others are to overtake, or NULL
 * @overtakers: how many still
 * @held_until: ns; they may never come
 * @busy: somebody is taking bursts out
 * @timer: fires when the next burst is due; in softirqs
 */
struct pib_lane {
	struct pib_kport *port;
	spinlock_t lock;
	struct pib_fault fault;
	struct list_head queue;
	u32 queued;
	struct pib_burst *held;
	u8 overtakers;
	u64 held_until;
	bool busy;
	struct hrtimer timer;
};

/**
 * struct pib_flap - a cable that comes loose again and again
 * @up_ms: how long it holds; 0: it does not flap
 * @down_ms: how long it is out
 */
struct pib_flap {
	u32 up_ms;
	u32 down_ms;
};

/**
 * struct pib_faults - the faults of a link; replaced as a whole, but for @out
 * @cfg: of packets
 * @flap: of the cable
 * @pn: namespace
 * @end: ports at its ends; of a link over UDP only [0], and only what arrives there meets @cfg
 * @lane: into @end
 * @work: pulls the cable and plugs it in
 * @out: the work has pulled it; under pn->link_lock
 */
struct pib_faults {
	struct pib_fault_cfg cfg;
	struct pib_flap flap;
	struct pib_net *pn;
	struct pib_kport *end[2];
	struct pib_lane lane[2];
	struct delayed_work work;
	bool out;
};

/* What of struct pib_fault_req is given. */
enum pib_fault_given {
	PIB_FAULT_SEED = 1 << 0,
	PIB_FAULT_LOSS = 1 << 1,
	PIB_FAULT_DUPLICATE = 1 << 2,
	PIB_FAULT_REORDER = 1 << 3,
	PIB_FAULT_BIT_ERRORS = 1 << 4,
	PIB_FAULT_LATENCY = 1 << 5,
	PIB_FAULT_RATE = 1 << 6,
	PIB_FAULT_FLAP = 1 << 7,
};

/**
 * struct pib_fault_req - what is asked for
 * @given: enum pib_fault_given; the rest stays as it is
 * @anew: the rest becomes as in a good cable
 * @cfg: faults of packets
 * @flap: of the cable
 */
struct pib_fault_req {
	u32 given;
	bool anew;
	struct pib_fault_cfg cfg;
	struct pib_flap flap;
};

/*
 * Change the faults of the cable in @port. All sequences begin anew, counts too.
 * pn->lock held. 0 or -ENOMEM.
 */
int pib_faults_set(struct pib_net *pn, struct pib_kport *port, const struct pib_fault_req *req);
/* The cable in @port goes. pn->lock held; sleeps for a grace period if it has faults. */
void pib_faults_drop(struct pib_kport *port);
/* It is asked to be plugged in or out by hand: no flapping any more. pn->lock held. */
void pib_faults_stop_flap(struct pib_kport *port);
/* Counts of the lane into @end. */
void pib_lane_counts(struct pib_lane *lane, struct pib_fault_counts *counts);

/* How full the buffer before the cable is, in 1/256. */
u32 pib_lane_fill(struct pib_lane *lane);

/**
 * pib_lane_enter() - send a burst through a cable with faults
 *
 * 0: consumed. -EBUSY: the cable is full, @b is still the caller's. Softirqs off, RCU.
 */
int pib_lane_enter(struct pib_lane *lane, struct pib_burst *b);

#endif

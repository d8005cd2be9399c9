/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Faults of cables: set, changed and taken away under the configuration mutex. */
#ifndef PIB_FABRIC_IMPAIR_H
#define PIB_FABRIC_IMPAIR_H

#include <linux/workqueue.h>
#include "fabric/pipe.h"

struct pib_kport;
struct pib_net;

/**
 * struct pib_flap - times of a cable that comes loose again and again
 * @up_ms: time for which the cable holds; 0: it does not flap
 * @down_ms: time for which the cable is out
 */
struct pib_flap {
	u32 up_ms;
	u32 down_ms;
};

/**
 * struct pib_impair - the faults of a link; replaced as a whole, but for @out
 * @cfg: faults of packets
 * @flap: faults of the cable
 * @pn: namespace
 * @end: ports at the link's ends; of a link that leads elsewhere only [0], and only what arrives
 *	there meets @cfg
 * @pipe: pipes into @end
 * @work: pulls the cable and plugs it in
 * @out: the work has pulled the cable; under pn->link_lock
 */
struct pib_impair {
	struct pib_fault_cfg cfg;
	struct pib_flap flap;
	struct pib_net *pn;
	struct pib_kport *end[2];
	struct pib_pipe pipe[2];
	struct delayed_work work;
	bool out;
};

/* Fields of struct pib_fault_req that are given. */
enum pib_fault_given {
	PIB_FAULT_SEED = 1 << 0,
	PIB_FAULT_LOSS = 1 << 1,
	PIB_FAULT_DUPLICATE = 1 << 2,
	PIB_FAULT_REORDER = 1 << 3,
	PIB_FAULT_BIT_ERRORS = 1 << 4,
	PIB_FAULT_LATENCY = 1 << 5,
	PIB_FAULT_RATE = 1 << 6,
	PIB_FAULT_FLAP = 1 << 7,
	PIB_FAULT_BUFFER = 1 << 8,
};

/**
 * struct pib_fault_req - a change of a cable's faults
 * @given: enum pib_fault_given; what is not given stays as it is
 * @anew: what is not given becomes as in a good cable
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
 * Change the faults of the cable in @port. All random sequences and counts start over.
 *
 * Context: process, pn->lock held; sleeps for a grace period if the cable had faults.
 * Return: 0 or -ENOMEM.
 */
int pib_impair_set(struct pib_net *pn, struct pib_kport *port, const struct pib_fault_req *req);
/*
 * Free the faults of the cable in @port, which is about to go. Context: process, pn->lock held;
 * sleeps for a grace period if the cable has faults.
 */
void pib_impair_drop(struct pib_kport *port);
/*
 * Stop the cable in @port from flapping, since the user plugs it in or out. Context: process,
 * pn->lock held.
 */
void pib_impair_stop_flap(struct pib_kport *port);

#endif

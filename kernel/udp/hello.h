/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Hellos of a bearer: what they say, and the discovery hello. */
#ifndef PIB_UDP_HELLO_H
#define PIB_UDP_HELLO_H

struct pib_bearer;
struct pib_hello;
struct pib_kport;
struct work_struct;

/*
 * Fill in the fields of @h that the bearer and @port's node know; capabilities are added. The
 * caller sets the others, and leaves what it does not know zero.
 *
 * Context: any but interrupts; the lock of @port's node and bearer->lock not held.
 */
void pib_bearer_fill_hello(struct pib_bearer *bearer, struct pib_kport *port, struct pib_hello *h);
/* Send discovery hellos soon, and often for ten seconds. Context: any. */
void pib_bearer_announce(struct pib_bearer *bearer);
/*
 * Function of bearer->hello: send the discovery hello, and queue itself for the next one while the
 * bearer has a host switch. Context: process; sleeps.
 */
void pib_bearer_hello_work(struct work_struct *work);

#endif

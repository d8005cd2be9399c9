/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A cable whose other end is not in this kernel, as its port sees it. */
#ifndef PIB_FABRIC_LINK_H
#define PIB_FABRIC_LINK_H

#include <linux/types.h>

struct list_head;
struct pib_burst;
struct pib_link;

/**
 * struct pib_link_ops - what a port does with a cable that leads elsewhere
 * @full: true if @b must wait, since enough is on its way already. If it waits for a window, it has
 *	that in @b->window, and is tried again when pib_parking_wake() says so. Softirqs off, RCU
 * @xmit: send a burst, which is consumed. Softirqs off, RCU
 * @bounce: restart the link: the cable was pulled or put back here, or the port retrains. Process
 *	context; link_lock of the namespace held
 * @unplug: take the port down and the cable out of it, and put the link on @dead. The maker of the
 *	link frees it after a grace period. Process context; lock of the namespace held
 */
struct pib_link_ops {
	bool (*full)(const struct pib_link *link, struct pib_burst *b);
	void (*xmit)(struct pib_link *link, struct pib_burst *b);
	void (*bounce)(struct pib_link *link);
	void (*unplug)(struct pib_link *link, struct list_head *dead);
};

/**
 * struct pib_link - a cable that leads out of this kernel; part of its carrier
 * @ops: never changes
 * @cable_out: the user has unplugged the cable; under the namespace's link_lock, and read
 *	without it where it is shown
 */
struct pib_link {
	const struct pib_link_ops *ops;
	bool cable_out;
};

#endif

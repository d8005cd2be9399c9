/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Notifications by generic netlink: the group "events". */
#ifndef PIB_CONTROL_NOTIFY_H
#define PIB_CONTROL_NOTIFY_H

#include <linux/skbuff.h>
#include <linux/workqueue.h>

/**
 * struct pib_notes - messages of a namespace that wait to be sent
 * @queue: messages, the oldest first
 * @lost: 1: a message was lost, for want of memory or of room in @queue; none is added until
 *	listeners know of the loss
 * @work: sends the messages
 */
struct pib_notes {
	struct sk_buff_head queue;
	u32 lost;
	struct work_struct work;
};

/* Set up, before anything is made in the namespace. Context: process. */
void pib_notes_init(struct pib_notes *notes);
/* Free the messages, when nothing is left in the namespace. Context: process; sleeps. */
void pib_notes_exit(struct pib_notes *notes);

/*
 * Let messages be sent, once the family is registered, or stop that, before it is unregistered.
 * Context: process; sleep.
 */
void pib_notes_open(void);
void pib_notes_close(void);

#endif

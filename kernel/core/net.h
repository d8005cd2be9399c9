/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A network namespace as everything of pib in it sees it: its locks and its numbers. */
#ifndef PIB_CORE_NET_H
#define PIB_CORE_NET_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

struct net;

/**
 * struct pib_net - the pib of a network namespace
 * @net: the namespace, with which this goes
 * @lock: configuration mutex: guards all lists. docs/architecture.md has the order of locks
 * @get_lock: mutex of the one get that may go for @view_lock; taken by gets alone
 * @view_lock: mutex that is held with @lock all the time, see pib_net_lock(); gets look at what
 *	@lock guards under this one, change nothing, and hold it for one message at a time
 * @link_lock: guards which cables are up; taken under @lock
 * @udp_socks: sockets of netdevs (udp/socket.h); written under @lock, read under RCU
 * @links: link id -> link over UDP (udp/link.h); written under @lock, read under RCU
 * @next_id: for the places in dumps, which grow; under @lock
 * @changes: counts changes, so that a dump can tell that it was overtaken; under @lock
 *
 * control/registry.h has it within its struct pib_registry.
 */
struct pib_net {
	struct net *net;
	struct mutex lock;
	struct mutex get_lock;
	struct mutex view_lock;
	struct mutex link_lock;
	struct list_head udp_socks;
	struct xarray links;
	u32 next_id;
	u32 changes;
};

/* Work of nodes, cables and links: nothing that waits for long. */
extern struct workqueue_struct *pib_wq;
/* Generic id of what a namespace has of pib. That begins with the namespace's struct pib_net. */
extern unsigned int pib_net_id;

/* The pib of @net; NULL: not made yet. Not to be asked once that is gone. Any context. */
struct pib_net *pib_net(struct net *net);

/* Before anything is made in the namespace. Process context. */
void pib_net_init(struct pib_net *pn, struct net *net);
/* When nothing is left in the namespace. Process context. */
void pib_net_exit(struct pib_net *pn);

/* Take the configuration mutex and what keeps gets away. Process context. */
void pib_net_lock(struct pib_net *pn);
/*
 * The same where somebody who has the mutex may be waiting for the caller. Only the mutex is tried
 * for: gets do not take it, so they cannot make this fail, and the rest waits for few of them.
 * Process context. Return: false: somebody else has the mutex.
 */
bool pib_net_trylock(struct pib_net *pn);
/* Give both back. */
void pib_net_unlock(struct pib_net *pn);

/*
 * Have a look at the namespace, for one message. One get at a time looks: so a change waits for few
 * messages, however many ask. Process context. Return: 0; -EINTR: the caller is killed.
 */
int pib_net_view(struct pib_net *pn);
/* The look is over. */
void pib_net_view_end(struct pib_net *pn);

/* Make pib_wq. Process context. Return: 0 or -ENOMEM. */
int pib_wq_init(void);
/* Destroy pib_wq, when nobody queues work any more. Process context; sleeps. */
void pib_wq_exit(void);

#endif

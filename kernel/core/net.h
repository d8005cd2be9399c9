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
 * @lock: configuration mutex: guards all lists. docs/architecture/locks.md has the order of locks
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

/*
 * Work of nodes, cables, bearers and namespaces: nothing that waits for long. Some of it allocates
 * memory, and some waits for work of ib_core and its clients.
 */
extern struct workqueue_struct *pib_wq;
/*
 * Work without which data stands still: calls of completion handlers, on the CPU that asks for
 * them, and news of a session for its port, on any. A storage device may be on top, and memory may
 * be short until that has written. So this work has a worker even then (WQ_MEM_RECLAIM), allocates
 * nothing that it cannot do without, and waits for no work that has no such worker.
 */
extern struct workqueue_struct *pib_data_wq;
extern struct workqueue_struct *pib_link_wq;
/* Generic id of a namespace's part of pib, which begins with its struct pib_net. */
extern unsigned int pib_net_id;

/*
 * The pib of @net. The caller makes sure that pib_net_exit() has not run for it.
 *
 * Context: any.
 * Return: the pib; NULL: it is not made yet.
 */
struct pib_net *pib_net(struct net *net);

/* Fill in @pn, before anything is made in the namespace. Context: process. */
void pib_net_init(struct pib_net *pn, struct net *net);
/* Undo pib_net_init(), when nothing is left in the namespace. Context: process. */
void pib_net_exit(struct pib_net *pn);

/* Take the configuration mutex, and @view_lock, which keeps gets away. Context: process. */
void pib_net_lock(struct pib_net *pn);
/*
 * As pib_net_lock(), for a caller for whom the holder of the mutex may be waiting. Only the mutex
 * is tried for: gets do not take it, so they cannot make this fail. @view_lock is waited for, which
 * takes no longer than a get's message.
 *
 * Context: process; sleeps.
 * Return: false: somebody else has the mutex.
 */
bool pib_net_trylock(struct pib_net *pn);
/* Give both locks back. Context: process. */
void pib_net_unlock(struct pib_net *pn);

/*
 * Take the locks to look at the namespace, for one message. One get at a time looks. So a change
 * waits for few messages, however many gets there are.
 *
 * Context: process; sleeps.
 * Return: 0, until pib_net_view_end(); -EINTR: the caller is killed.
 */
int pib_net_view(struct pib_net *pn);
/* End the look: give the locks of pib_net_view() back. Context: process. */
void pib_net_view_end(struct pib_net *pn);

/* Make the workqueues. Context: process. Return: 0 or -ENOMEM. */
int pib_wq_init(void);
/* Destroy them, when nobody queues work any more. Context: process; sleeps. */
void pib_wq_exit(void);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What is made to happen on purpose in an HCA (docs/inject.md). Some of it happens at once. The
 * rest are rules for what a queue pair sends and is asked for: here is what they are and when they
 * act, transport/inject.c has what they do.
 */
#ifndef PIB_HCA_INJECT_H
#define PIB_HCA_INJECT_H

#include <linux/jump_label_ratelimit.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include "proto/fault.h"
#include "uapi/linux/pib.h"

struct netlink_ext_ack;

/* Rules of an HCA, those included that will not act any more. */
#define PIB_INJECT_MAX	64

/**
 * struct pib_inject_cfg - what is asked for
 * @kind: enum pib_inject_kind
 * @object: number of the queue pair, port, CQ or SRQ
 * @arg: what the kind says
 * @delay: ns
 * @after: packets or requests that are left alone first
 * @every: of those that follow, each of so many
 * @count: how often at most; 0: no limit
 * @probability: of those that are due, so many in 10^9
 * @seed: of all choices
 */
struct pib_inject_cfg {
	u8 kind;
	u32 object;
	u32 arg;
	u64 delay;
	u32 after;
	u32 every;
	u32 count;
	u32 probability;
	u64 seed;
};

/* Is what @kind names a rule? What happens at once comes first in enum pib_inject_kind. */
static inline bool pib_inject_is_rule(u8 kind)
{
	return kind > PIB_INJECT_KIND_PORT_ERROR;
}

/**
 * struct pib_inject - a rule
 * @entry: in the HCA's list; RCU
 * @rcu: the rule outlives the list by a grace period
 * @id: number by which it is taken away; never changes, nor does @cfg
 * @cfg: what it does
 * @lock: guards what follows; softirqs off
 * @fault: choices
 * @seen: packets or requests that it has looked at
 * @done: how often it has acted
 */
struct pib_inject {
	struct list_head entry;
	struct rcu_head rcu;
	u32 id;
	struct pib_inject_cfg cfg;
	spinlock_t lock;
	struct pib_fault fault;
	u64 seen;
	u64 done;
};

/**
 * struct pib_injects - the rules of an HCA
 * @lock: guards what follows (process context); those of rules are taken under it
 * @rules: struct pib_inject, oldest first; read under RCU
 * @num: entries in @rules
 * @last_id: number of the newest rule
 */
struct pib_injects {
	struct mutex lock;
	struct list_head rules;
	u32 num;
	u32 last_id;
};

/*
 * There is a rule somewhere in this kernel. Rules go with their queue pairs, and a CPU that goes
 * offline may wait for who destroys one: the lock of CPU hotplug is taken later, by a worker.
 */
extern struct static_key_false_deferred pib_inject_key;

/*
 * May the HCA have a rule? While there is none in the kernel this is a static branch. Any context
 * but interrupts.
 */
static inline bool pib_injects_any(const struct pib_injects *in)
{
	return static_branch_unlikely(&pib_inject_key.key) && !list_empty(&in->rules);
}

/* Before the HCA is known to anybody. */
void pib_injects_init(struct pib_injects *in);
/* No HCA is left. Process context. */
void pib_injects_exit(void);

/*
 * Before pib_injects_add(), and after it where no rule came of it. The first takes the lock of CPU
 * hotplug: the caller has no lock and no reference of pib's then. A CPU that goes offline may wait
 * for requests of a consumer that destroys a queue pair, and that waits for references.
 *
 * Context: process.
 */
void pib_injects_prepare(void);
void pib_injects_give_up(void);

/**
 * pib_injects_add() - make a rule, after pib_injects_prepare()
 * @in: rules of an HCA
 * @cfg: what it does; checked by the caller
 * @extack: says why not
 *
 * The object stays until this has returned. Where there is no room the oldest rule that will not
 * act any more makes it.
 *
 * Context: process.
 * Return: the number of the rule; -ENOSPC; -ENOMEM.
 */
int pib_injects_add(struct pib_injects *in, const struct pib_inject_cfg *cfg,
		    struct netlink_ext_ack *extack);
/* Take rule @id away, or all if it is 0. Process context. Return: 0; -ENOENT: there is no such. */
int pib_injects_del(struct pib_injects *in, u32 id);
/* A queue pair goes: its rules go with it. Process context. */
void pib_injects_forget_qp(struct pib_injects *in, u32 qpn);
/*
 * Copy the rule with the least number above @id to @rule. Process context. Return: false: there is
 * none.
 */
bool pib_injects_next(struct pib_injects *in, u32 id, struct pib_inject *rule);
/* How many rules queue pair @qpn has that may yet act. Any context but interrupts. */
u32 pib_injects_of_qp(const struct pib_injects *in, u32 qpn);
/* Does the rule act, now that it sees something of its kind? Softirqs off. */
bool pib_inject_acts(struct pib_inject *rule);

#endif

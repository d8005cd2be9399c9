/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Injections: errors made on purpose in an HCA or a switch (docs/inject.md). Some happen at once.
 * The others are rules for what a queue pair, or the agent of a switch, sends and is asked for.
 * This file says what a rule is and when it acts. transport/inject.c has what rules do in an HCA,
 * fabric/switch_inject.c in a switch.
 */
#ifndef PIB_FABRIC_INJECT_H
#define PIB_FABRIC_INJECT_H

#include <linux/jump_label_ratelimit.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include "proto/fault.h"
#include "uapi/linux/pib.h"

struct netlink_ext_ack;

/* Most rules of an HCA or a switch, including those that will never act again. */
#define PIB_INJECT_MAX	64

/* Object of a rule that is not about a queue pair. */
#define PIB_INJECT_NO_QP	U32_MAX

/**
 * struct pib_inject_cfg - configuration of an injection
 * @kind: enum pib_inject_kind
 * @object: number of the queue pair, port, CQ or SRQ; PIB_INJECT_NO_QP: there is none
 * @port: port of queue pair 0 or 1 of an HCA; for other objects 0
 * @mgmt_class: queue pairs 0 and 1: only MADs of this class; 0: of any
 * @mad_attr: queue pairs 0 and 1: only MADs about this attribute; 0: about any
 * @value: value that PIB_INJECT_KIND_MAD_LIE writes
 * @verb: PIB_INJECT_KIND_VERB_ERROR: enum pib_verb
 * @pid: PIB_INJECT_KIND_VERB_ERROR: the process, in the initial PID namespace; 0: any
 * @arg: argument, whose meaning depends on @kind
 * @delay: ns
 * @after: number of packets or requests that are left alone first
 * @every: of those that follow, the rule is due for each @every-th
 * @count: greatest number of times that the rule acts; 0: no limit
 * @probability: chance that a rule that is due acts, in 10^-9
 * @seed: seed of all random choices
 */
struct pib_inject_cfg {
	u8 kind;
	u32 object;
	u32 port;
	u8 mgmt_class;
	u16 mad_attr;
	u64 value;
	u32 verb;
	u32 pid;
	u32 arg;
	u64 delay;
	u32 after;
	u32 every;
	u32 count;
	u32 probability;
	u64 seed;
};

/*
 * Return: true if @kind is a rule. Kinds that happen at once come first in enum pib_inject_kind.
 * Context: any.
 */
static inline bool pib_inject_is_rule(u8 kind)
{
	return kind > PIB_INJECT_KIND_PORT_ERROR;
}

/**
 * struct pib_inject - a rule
 * @entry: in the list of its HCA or switch; RCU
 * @rcu: the rule outlives the list by a grace period
 * @id: number by which users take it away; never changes, nor does @cfg
 * @cfg: configuration
 * @lock: guards what follows; softirqs off
 * @fault: source of random choices
 * @seen: number of packets or requests that the rule has looked at
 * @done: number of times that the rule has acted
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
 * struct pib_injects - the rules of an HCA or a switch
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
 * On while there is a rule somewhere in this kernel. The key is deferred: rules go with their queue
 * pairs, and a CPU that goes offline may wait for a task that destroys one. So a worker takes the
 * lock of CPU hotplug later.
 */
extern struct static_key_false_deferred pib_inject_key;

/*
 * Return: true if @in has a rule. While there is none in the kernel this is a static branch.
 * Context: any but interrupts.
 */
static inline bool pib_injects_any(const struct pib_injects *in)
{
	return static_branch_unlikely(&pib_inject_key.key) && !list_empty(&in->rules);
}

/* Set up the rules of an HCA or switch that nobody else knows yet. Context: any. */
void pib_injects_init(struct pib_injects *in);
/* Wait for what is deferred, when no HCA is left. Context: process. */
void pib_injects_exit(void);

/*
 * Turn the static key on before pib_injects_add(), and give it up again if no rule was made.
 * pib_injects_prepare() takes the lock of CPU hotplug, so the caller must have no lock and no
 * reference of pib's: a CPU that goes offline may wait for requests of a consumer that destroys a
 * queue pair, and that waits for references.
 *
 * Context: process.
 */
void pib_injects_prepare(void);
void pib_injects_unprepare(void);

/**
 * pib_injects_add() - make a rule, after pib_injects_prepare()
 * @in: rules of an HCA or a switch
 * @cfg: configuration, checked by the caller
 * @extack: set to the reason of -ENOSPC
 *
 * The object stays until this has returned. If there is no room, the oldest rule that will never
 * act again is dropped.
 *
 * Context: process.
 * Return: the number of the rule; -ENOSPC; -ENOMEM.
 */
int pib_injects_add(struct pib_injects *in, const struct pib_inject_cfg *cfg,
		    struct netlink_ext_ack *extack);
/*
 * Take rule @id away, or all rules if @id is 0.
 *
 * Context: process.
 * Return: 0; -ENOENT: there is no rule @id.
 */
int pib_injects_del(struct pib_injects *in, u32 id);
/*
 * Take away the rules of queue pair @qpn, which goes; for 0 and 1 those of all ports. Context:
 * process.
 */
void pib_injects_del_qp(struct pib_injects *in, u32 qpn);
/*
 * Copy the rule with the least number above @id to @rule.
 *
 * Context: process.
 * Return: true if there is such a rule.
 */
bool pib_injects_next(struct pib_injects *in, u32 id, struct pib_inject *rule);
/* Return: number of rules of queue pair @qpn that may yet act. Context: any but interrupts. */
u32 pib_injects_of_qp(const struct pib_injects *in, u32 qpn);
/*
 * Look for a rule that makes this call of @verb (enum pib_verb) fail. To be called if
 * pib_injects_any().
 *
 * Context: process.
 * Return: the error with which the call fails, or 0.
 */
int pib_inject_verb(const struct pib_injects *in, u32 verb);
/*
 * Show @rule a packet or request of its kind.
 *
 * Context: softirqs off.
 * Return: true if the rule acts on it.
 */
bool pib_inject_acts(struct pib_inject *rule);

#endif

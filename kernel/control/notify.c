// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Notifications. Events are reported in any context, also with interrupts off under the lock of a
 * node, where netlink must not be called. So a message is made there, and a work item sends it, in
 * the same order. Only listeners in the object's namespace hear it. As everybody may listen, a
 * message tells nothing that a get does not tell everybody, but for numbers of traps.
 *
 * Neighbours can make sessions come and go as fast as packets come. So the number of messages that
 * wait is limited, and they are sent a few at a time. When one is lost, further ones are dropped
 * until those that wait are sent and the listeners know of the loss. The answers that listeners
 * then ask for are newer than the messages that they have missed.
 */
#include <linux/ktime.h>
#include <linux/rwsem.h>
#include <net/genetlink.h>
#include "core/notify.h"
#include "control/netlink.h"
#include "control/netlink_gen.h"
#include "control/netlink_dump.h"
#include "control/notify.h"
#include "control/registry.h"

/* Most messages that wait to be sent. */
#define NOTES_MAX	4096
/* Room for all attributes of a message. */
#define NOTE_SIZE	512

/* Most messages that a worker sends before other namespaces get their turn. */
#define NOTES_AT_ONCE	64

/* Guards family_open. Senders only read it, so that namespaces do not wait for each other. */
static DECLARE_RWSEM(family_sem);
static bool family_open;

/* ---- messages ---- */

/* Put a name. It may change meanwhile, so it is copied before its length is taken. */
static int put_name(struct sk_buff *skb, int attr, const char *name)
{
	char copy[IB_DEVICE_NAME_MAX];

	strscpy(copy, name, sizeof(copy));
	return nla_put_string(skb, attr, copy);
}

static int put_note_end(struct sk_buff *skb, int attr, const struct pib_note_end *end)
{
	struct nlattr *nest = nla_nest_start(skb, attr);

	if (!nest || put_name(skb, PIB_END_NODE, end->node) ||
	    nla_put_u32(skb, PIB_END_PORT, end->port))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_note_port(struct sk_buff *skb, const struct pib_note *note)
{
	const struct pib_note_port *p = note->port;
	struct nlattr *nest = nla_nest_start(skb, PIB_A_PORT);

	if (!nest || nla_put_u32(skb, PIB_P_NUM, note->a.port))
		return -EMSGSIZE;
	if (p && (nla_put_u8(skb, PIB_P_STATE, p->state) ||
		  nla_put_u8(skb, PIB_P_PHYS_STATE, p->phys) ||
		  nla_put_u16(skb, PIB_P_LID, p->lid) ||
		  nla_put_u16(skb, PIB_P_SM_LID, p->sm_lid)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_note_udp(struct sk_buff *skb, const struct pib_note *note)
{
	const struct pib_note_udp *udp = note->udp;
	struct nlattr *nest = nla_nest_start(skb, PIB_A_UDP_LINK);

	if (!nest || pib_nl_put_netdev(skb, PIB_UL_NETDEV, note->pn->net, udp->ifindex) ||
	    pib_nl_put_endpoint(skb, PIB_UL_PEER, udp->peer) ||
	    nla_put_u8(skb, PIB_UL_UP, udp->up) ||
	    nla_put_u32(skb, PIB_UL_RESTARTS, udp->restarts) ||
	    (udp->second_key && nla_put_flag(skb, PIB_UL_BY_SECOND_KEY)))
		return -EMSGSIZE;
	if (udp->guid &&
	    (nla_put_u64_64bit(skb, PIB_UL_PEER_NODE_GUID, udp->guid, PIB_UL_PAD) ||
	     nla_put_u32(skb, PIB_UL_PEER_PORT_NUM, udp->port_num) ||
	     pib_nl_put_desc(skb, PIB_UL_PEER_DESC, udp->desc)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_node_note(struct sk_buff *skb, const struct pib_note *note)
{
	int attr = note->a.is_switch ? PIB_A_SWITCH_NAME : PIB_A_HCA_NAME;

	if (put_name(skb, attr, note->a.node))
		return -EMSGSIZE;
	if (note->guid && nla_put_u64_64bit(skb, PIB_A_NODE_GUID, note->guid, PIB_A_PAD))
		return -EMSGSIZE;
	return note->is_auto ? nla_put_flag(skb, PIB_A_AUTO) : 0;
}

static int put_port_note(struct sk_buff *skb, const struct pib_note *note)
{
	return put_node_note(skb, note) ?: put_note_port(skb, note);
}

static int put_link_note(struct sk_buff *skb, const struct pib_note *note)
{
	if (put_note_end(skb, PIB_A_LINK_A, &note->a) ||
	    (note->b.node && put_note_end(skb, PIB_A_LINK_B, &note->b)) ||
	    (note->udp && put_note_udp(skb, note)) ||
	    (note->is_auto && nla_put_flag(skb, PIB_A_AUTO)))
		return -EMSGSIZE;
	return 0;
}

static int put_plugged_note(struct sk_buff *skb, const struct pib_note *note)
{
	return put_link_note(skb, note) ?: nla_put_u8(skb, PIB_A_LINK_STATE, note->plugged);
}

static int put_keys_note(struct sk_buff *skb, const struct pib_note *note)
{
	return put_node_note(skb, note) ?: nla_put_u8(skb, PIB_A_NUM_KEYS, note->num_keys);
}

static int put_async_note(struct sk_buff *skb, const struct pib_note *note)
{
	return put_node_note(skb, note) ?: (note->a.port ? put_note_port(skb, note) : 0) ?:
	       nla_put_u32(skb, PIB_A_IB_EVENT, note->ib_event);
}

static int put_renamed_note(struct sk_buff *skb, const struct pib_note *note)
{
	return put_node_note(skb, note) ?: put_name(skb, PIB_A_OLD_NAME, note->old_name);
}

static int put_trap_note(struct sk_buff *skb, const struct pib_note *note)
{
	struct nlattr *nest;

	if (put_node_note(skb, note))
		return -EMSGSIZE;
	nest = nla_nest_start(skb, PIB_A_PORT);
	if (!nest || nla_put_u32(skb, PIB_P_NUM, note->a.port) ||
	    nla_put_u16(skb, PIB_P_LID, note->lid))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return nla_put_u16(skb, PIB_A_TRAP, note->trap);
}

static int (*const put_note[])(struct sk_buff *skb, const struct pib_note *note) = {
	[PIB_EVENT_KIND_HCA_NEW] = put_node_note,
	[PIB_EVENT_KIND_HCA_DEL] = put_node_note,
	[PIB_EVENT_KIND_SWITCH_NEW] = put_node_note,
	[PIB_EVENT_KIND_SWITCH_DEL] = put_node_note,
	[PIB_EVENT_KIND_LINK_NEW] = put_link_note,
	[PIB_EVENT_KIND_LINK_DEL] = put_link_note,
	[PIB_EVENT_KIND_LINK_PLUGGED] = put_plugged_note,
	[PIB_EVENT_KIND_PORT_STATE] = put_port_note,
	[PIB_EVENT_KIND_SESSION_UP] = put_link_note,
	[PIB_EVENT_KIND_SESSION_ANEW] = put_link_note,
	[PIB_EVENT_KIND_SESSION_DOWN] = put_link_note,
	[PIB_EVENT_KIND_KEYS] = put_keys_note,
	[PIB_EVENT_KIND_ASYNC] = put_async_note,
	[PIB_EVENT_KIND_HCA_RENAMED] = put_renamed_note,
	[PIB_EVENT_KIND_SESSION_MOVED] = put_link_note,
	[PIB_EVENT_KIND_TRAP] = put_trap_note,
};

/* Make a message. Return: NULL: no memory. */
static struct sk_buff *note_message(const struct pib_note *note)
{
	struct sk_buff *skb = genlmsg_new(NOTE_SIZE, GFP_ATOMIC);
	void *hdr;

	BUILD_BUG_ON(ARRAY_SIZE(put_note) != PIB_EVENT_KIND_MAX + 1);
	if (!skb)
		return NULL;
	hdr = genlmsg_put(skb, 0, 0, &pib_genl_family, 0, PIB_CMD_EVENT);
	if (!hdr || nla_put_u8(skb, PIB_A_EVENT, note->kind) ||
	    nla_put_u64_64bit(skb, PIB_A_TIME, ktime_get_real_ns(), PIB_A_PAD) ||
	    WARN_ON_ONCE(put_note[note->kind](skb, note))) {
		nlmsg_free(skb);
		return NULL;
	}
	genlmsg_end(skb, hdr);
	return skb;
}

/* ---- queueing and sending ---- */

static struct pib_notes *notes_of(struct pib_net *pn)
{
	return &to_registry(pn)->notes;
}

/* Implements struct pib_notify_ops.wanted. */
static bool note_wanted(struct pib_net *pn)
{
	return genl_has_listeners(&pib_genl_family, pn->net, PIB_NLGRP_EVENTS);
}

/* Implements struct pib_notify_ops.tell. */
static void note_tell(const struct pib_note *note)
{
	struct pib_notes *notes = notes_of(note->pn);
	struct sk_buff *skb = NULL;

	/* Listeners learn of a loss after all messages before it, so nothing may be added now. */
	if (!READ_ONCE(notes->lost) && skb_queue_len_lockless(&notes->queue) < NOTES_MAX)
		skb = note_message(note);
	if (skb)
		skb_queue_tail(&notes->queue, skb);
	else
		WRITE_ONCE(notes->lost, 1);
	queue_work(pib_wq, &notes->work);
}

static const struct pib_notify_ops note_ops = {
	.wanted = note_wanted,
	.tell = note_tell,
};

/* Send a few messages, so that no namespace keeps a worker, or a namespace's end, waiting. */
static void notes_send(struct pib_notes *notes, struct net *net)
{
	struct sk_buff *skb;
	unsigned int i;

	lockdep_assert_held_read(&family_sem);
	for (i = 0; i < NOTES_AT_ONCE && (skb = skb_dequeue(&notes->queue)); i++)
		genlmsg_multicast_netns(&pib_genl_family, net, skb, 0, PIB_NLGRP_EVENTS,
					GFP_KERNEL);
	/* xchg() pairs with queue_work() in note_tell(), which is behind what that has written. */
	if (!skb_queue_empty_lockless(&notes->queue))
		queue_work(pib_wq, &notes->work);
	else if (xchg(&notes->lost, 0))
		genl_set_err(&pib_genl_family, net, 0, PIB_NLGRP_EVENTS, -ENOBUFS);
}

static void notes_work(struct work_struct *work)
{
	struct pib_notes *notes = container_of(work, struct pib_notes, work);

	down_read(&family_sem);
	if (family_open)
		notes_send(notes, container_of(notes, struct pib_registry, notes)->pn.net);
	up_read(&family_sem);
}

void pib_notes_init(struct pib_notes *notes)
{
	skb_queue_head_init(&notes->queue);
	INIT_WORK(&notes->work, notes_work);
}

void pib_notes_exit(struct pib_notes *notes)
{
	cancel_work_sync(&notes->work);
	skb_queue_purge(&notes->queue);
}

void pib_notes_open(void)
{
	down_write(&family_sem);
	family_open = true;
	up_write(&family_sem);
	pib_notify_register(&note_ops);
}

void pib_notes_close(void)
{
	pib_notify_unregister();
	down_write(&family_sem);
	family_open = false;
	up_write(&family_sem);
}

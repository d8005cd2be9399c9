// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The dump of the objects of verbs. It goes by HCA, kind and the numbers that objects get when they
 * are made, so that it neither repeats nor skips one when others come and go.
 *
 * The dump may pass over a million objects that are not the requester's. So it releases the
 * namespace after a bounded number of looks, and continues where it stood.
 */
#include <linux/cred.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/sock.h>
#include "control/netlink_gen.h"
#include "control/netlink_dump.h"
#include "control/registry.h"
#include "hca/hca.h"
#include "verbs/name.h"
#include "verbs/objects.h"

/* Most looks for which the namespace is held at a time. */
#define LOOKS_MAX	64

/**
 * struct object_cursor - position of a dump; lives in netlink_callback.ctx
 * @hca: number of the HCA
 * @kind: enum pib_object_kind
 * @id: number of the last object that the dump has shown or passed over
 * @end: number of the last object of this kind when the dump came to the kind; 0: not known yet
 */
struct object_cursor {
	unsigned long hca;
	unsigned long kind;
	u64 id;
	u64 end;
};

/**
 * struct object_dump - a part of a dump
 * @a: the messages
 * @c: position of the dump
 * @look: search for the next object that the requester may see
 * @view: the last object found
 */
struct object_dump {
	struct pib_nl_answer a;
	struct object_cursor *c;
	struct pib_object_look look;
	struct pib_object_view view;
};

static int put_owner(struct sk_buff *skb, const struct pib_object_view *v)
{
	if (nla_put_string(skb, PIB_O_OWNER, v->owner))
		return -EMSGSIZE;
	if (v->user && nla_put_u32(skb, PIB_O_UID, v->uid))
		return -EMSGSIZE;
	return v->pid ? nla_put_u32(skb, PIB_O_PID, v->pid) : 0;
}

static int put_numbers(struct sk_buff *skb, const struct pib_object_view *v)
{
	if (v->has_handle && nla_put_u32(skb, PIB_O_HANDLE, v->handle))
		return -EMSGSIZE;
	if (v->has_resource && nla_put_u32(skb, PIB_O_RESOURCE, v->resource))
		return -EMSGSIZE;
	return v->has_gid ? nla_put(skb, PIB_O_GID, sizeof(v->gid), v->gid) : 0;
}

static int put_facts(struct sk_buff *skb, const struct pib_object_view *v)
{
	unsigned int i;

	for (i = 0; i < v->num; i++)
		if (nla_put_u64_64bit(skb, v->facts[i].attr, v->facts[i].value, PIB_O_PAD))
			return -EMSGSIZE;
	return 0;
}

static int put_object(struct sk_buff *skb, const struct pib_object_view *v)
{
	struct nlattr *nest = nla_nest_start(skb, PIB_A_OBJECT);

	if (!nest || nla_put_u8(skb, PIB_O_KIND, v->kind) ||
	    nla_put_u64_64bit(skb, PIB_O_ID, v->id, PIB_O_PAD) ||
	    nla_put_u64_64bit(skb, PIB_O_CREATED, v->created, PIB_O_PAD) ||
	    put_owner(skb, v) || put_numbers(skb, v) || put_facts(skb, v))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_message(struct object_dump *d, struct pib_hca *hca)
{
	struct sk_buff *skb = d->a.skb;
	char name[IB_DEVICE_NAME_MAX];
	void *hdr = pib_nl_answer_begin(&d->a);

	if (!hdr)
		return -EMSGSIZE;
	pib_hca_get_name(hca, name);
	return pib_nl_answer_end(&d->a, hdr, !nla_put_string(skb, PIB_A_HCA_NAME, name) &&
				 !put_object(skb, &d->view));
}

static void view_object(const struct pib_object *o, void *arg)
{
	struct object_dump *d = arg;

	pib_object_show(o, d->look.all, &d->view);
}

/*
 * Look once for the next object, and put it into a message.
 *
 * Return: 0; -EMSGSIZE: the messages are full; -ENOENT: the HCA has no more objects.
 */
static int dump_one(struct object_dump *d, struct pib_hca *hca)
{
	int err;

	d->look.kind = d->c->kind;
	d->look.after = d->c->id;
	if (!d->c->end)
		d->c->end = pib_objects_last(&hca->objects, d->c->kind);
	d->look.last = d->c->end;
	switch (pib_objects_see(&hca->objects, &d->look)) {
	case PIB_OBJECT_SEEN:
		err = put_message(d, hca);
		if (err)
			return err;
		break;
	case PIB_OBJECT_NONE:
		d->c->id = 0;
		d->c->end = 0;
		return ++d->c->kind < PIB_OBJECT_KINDS ? 0 : -ENOENT;
	case PIB_OBJECT_LATER:
		break;
	}
	d->c->id = d->look.after;
	return 0;
}

/* Return: the HCA where the dump stands, or else the next one; NULL: none. */
static struct pib_hca *dumped_hca(struct pib_net *pn, struct object_cursor *c)
{
	struct pib_hca_ctl *ctl = pib_hca_ctl_from(pn, c->hca);

	if (!ctl)
		return NULL;
	if (ctl->id != c->hca)
		*c = (struct object_cursor) { .hca = ctl->id };
	return ctl->hca;
}

/*
 * Dump a bounded number of objects.
 *
 * Return: 0: there is more; -ENODATA: there is no more; -EMSGSIZE; -EINTR: the caller is killed.
 */
static int dump_batch(struct object_dump *d, struct pib_net *pn)
{
	struct pib_hca *hca;
	int err, n;

	err = pib_net_view(pn);
	if (err)
		return err;
	hca = dumped_hca(pn, d->c);
	err = hca ? 0 : -ENODATA;
	if (fatal_signal_pending(current))
		err = -EINTR;
	for (n = 0; !err && n < LOOKS_MAX; n++)
		err = dump_one(d, hca);
	pib_net_view_end(pn);
	if (err != -ENOENT)
		return err;
	*d->c = (struct object_cursor) { .hca = d->c->hca + 1 };
	return 0;
}

/*
 * Decide whose objects the dump shows. Without CAP_NET_ADMIN in the initial user namespace it shows
 * those of the user who has opened the socket. Passing the socket to a program that may see more
 * does not show more.
 */
static void select_objects(struct object_dump *d)
{
	d->look.all = netlink_capable(d->a.cb->skb, CAP_NET_ADMIN);
	d->look.uid = from_kuid(&init_user_ns, READ_ONCE(d->a.skb->sk->sk_uid));
	d->look.see = view_object;
	d->look.arg = d;
}

int pib_nl_object_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct pib_net *pn = pib_net(sock_net(skb->sk));
	struct object_dump *d;
	int err;

	d = kzalloc(sizeof(*d), GFP_KERNEL);
	if (!d)
		return -ENOMEM;
	err = pib_nl_dump_prepare(skb, cb, &d->a, PIB_CMD_OBJECT_GET);
	if (err)
		goto out_free;
	d->c = (struct object_cursor *)cb->ctx;
	BUILD_BUG_ON(sizeof(*d->c) > sizeof(cb->ctx));
	select_objects(d);
	do {
		err = dump_batch(d, pn);
		cond_resched();
	} while (!err);

out_free:
	kfree(d);
	return skb->len || err == -ENODATA ? skb->len : err;
}

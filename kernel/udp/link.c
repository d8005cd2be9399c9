// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Links over UDP: one end of a cable whose other end is elsewhere.
 *
 * The session with the other end (udp/session.c) is kept under the link's own
 * lock, in softirqs: a busy system does not make its links look dead. A work
 * item carries what the session means to the port (udp/settle.c), under the
 * namespace's link_lock. The data path sees neither: it reads one immutable
 * struct pib_udp_path (udp/path.c).
 */
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "core/net.h"
#include "fabric/impair.h"
#include "fabric/port.h"
#include "udp/answer.h"
#include "udp/bearer.h"
#include "udp/credit.h"
#include "udp/link.h"
#include "udp/seal.h"
#include "udp/session.h"
#include "udp/settle.h"
#include "udp/tx.h"

/* ---- what it means for the port ---- */

static void udp_link_work(struct work_struct *work)
{
	struct pib_udp_link *link = container_of(work, struct pib_udp_link, work);
	struct pib_net *pn = pib_udp_link_net(link);

	mutex_lock(&pn->link_lock);
	pib_udp_link_settle(link);
	mutex_unlock(&pn->link_lock);
}

static void udp_link_bounce(struct pib_link *base)
{
	struct pib_udp_link *link = to_udp_link(base);

	lockdep_assert_held(&pib_udp_link_net(link)->link_lock);
	local_bh_disable();
	rcu_read_lock();
	pib_udp_link_plug(link, base->cable_out || !pib_port_wants_link(&link->port->p));
	rcu_read_unlock();
	local_bh_enable();
	pib_udp_link_settle(link);
}

/* ---- what the port sees ---- */

static void udp_link_unplug(struct pib_link *base, struct list_head *dead)
{
	pib_udp_link_unplug(to_udp_link(base), dead);
}

static const struct pib_link_ops udp_link_ops = {
	.full = pib_udp_full,
	.xmit = pib_udp_xmit,
	.bounce = udp_link_bounce,
	.unplug = udp_link_unplug,
};

/* ---- creation ---- */

static const char *const kind_names[] = {
	[PIB_UDP_LINK_TRUNK] = "found by discovery",
	[PIB_UDP_LINK_ACCEPTED] = "asked for by the peer",
	[PIB_UDP_LINK_EXPLICIT] = "asked for here",
};

/*
 * Give the link an id, that of @said if there is one. Ids are random, so that whoever does not see
 * the traffic cannot name a link. Return: 0 or -errno.
 */
static int udp_link_register(struct pib_udp_link *link, const struct pib_udp_session *said, u32 *id)
{
	int tries, err = -EBUSY;

	if (said) {
		*id = said->id;
		return xa_insert_bh(&pib_udp_link_net(link)->links, *id, link, GFP_KERNEL);
	}
	for (tries = 0; tries < 16 && err == -EBUSY; tries++) {
		*id = get_random_u32();
		if (*id)
			err = xa_insert_bh(&pib_udp_link_net(link)->links, *id, link, GFP_KERNEL);
	}
	return err;
}

struct pib_udp_link *pib_udp_link_create(struct pib_bearer *bearer, struct pib_kport *port, u8 kind,
					 const struct pib_addr *peer, const struct pib_hello *h,
					 const struct pib_udp_session *said)
{
	struct pib_net *pn = bearer->sock->pn;
	struct pib_udp_link *link;
	u32 id;

	lockdep_assert_held(&pn->lock);
	link = kzalloc(sizeof(*link), GFP_KERNEL);
	if (!link)
		return ERR_PTR(-ENOMEM);
	link->base.ops = &udp_link_ops;
	link->bearer = bearer;
	link->port = port;
	link->kind = kind;
	link->id = ++pn->next_id;
	link->to = pib_addr_slot(peer);
	link->peer[link->to] = *peer;
	if (kind == PIB_UDP_LINK_EXPLICIT)
		link->named = *peer;
	link->made_at = ktime_get_ns();
	link->alive_at = link->made_at;
	if (h) {
		link->peer_guid = h->node_guid;
		link->peer_port_num = h->port_num;
	}
	spin_lock_init(&link->lock);
	pib_udp_credits_setup(link);
	pib_frames_init(&link->frames, bearer);
	timer_setup(&link->timer, pib_udp_link_timer, 0);
	INIT_WORK(&link->work, udp_link_work);
	/*
	 * Once it has an id the link can be found, so it counts as dead until it is complete. It is
	 * complete when its port knows it: what a session brings is for the port.
	 */
	spin_lock_bh(&link->lock);
	link->dead = true;
	spin_unlock_bh(&link->lock);
	if (udp_link_register(link, said, &id)) {
		kfree(link);
		return ERR_PTR(-ENOMEM);
	}
	list_add_tail_rcu(&link->entry, &bearer->udp_links);
	rcu_assign_pointer(port->link, &link->base);
	pib_udp_link_begin_session(link, id, said);
	pib_udp_link_dbg(link, "link made, %s", kind_names[kind]);
	pn->changes++;
	return link;
}

void pib_udp_link_unplug(struct pib_udp_link *link, struct list_head *dead)
{
	struct pib_net *pn = pib_udp_link_net(link);

	lockdep_assert_held(&pn->lock);
	pib_udp_link_dbg(link, "link given up");
	pib_impair_drop(link->port);
	pib_udp_link_end_session(link);

	if (link->kind != PIB_UDP_LINK_EXPLICIT &&
	    !pib_cookie_is_over(link->made_at, ktime_get_ns()))
		pib_answer_forget(link->bearer);
	xa_erase_bh(&pn->links, link->session.local_id);
	list_del_rcu(&link->entry);
	RCU_INIT_POINTER(link->port->link, NULL);
	pib_udp_credits_close(link);
	mutex_lock(&pn->link_lock);
	pib_udp_link_settle(link);
	mutex_unlock(&pn->link_lock);
	list_add_tail(&link->dead_entry, dead);
	pn->changes++;
}

void pib_udp_link_free(struct list_head *dead)
{
	struct pib_udp_link *link, *tmp;
	struct pib_bearer *bearer;

	if (list_empty(dead))
		return;
	link = list_first_entry(dead, struct pib_udp_link, dead_entry);
	lockdep_assert_held(&pib_udp_link_net(link)->lock);
	synchronize_rcu();
	list_for_each_entry_safe(link, tmp, dead, dead_entry) {
		timer_delete_sync(&link->timer);
		cancel_work_sync(&link->work);
		bearer = link->holds_bearer ? link->bearer : NULL;
		pib_frames_free(&link->frames);
		pib_seal_put(link->seal);
		kfree(link);
		if (bearer)
			pib_bearer_put(bearer);
	}
	INIT_LIST_HEAD(dead);
}

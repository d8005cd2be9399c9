// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Cables: which ports hear each other. A cable inside this kernel is a pair of
 * pointers. A cable that leads elsewhere belongs to its carrier (fabric/link.h). This file decides,
 * under link_lock, what a port does when its cable is plugged in, pulled or retrained.
 */
#include "fabric/cable.h"
#include "core/net.h"
#include "fabric/impair.h"
#include "fabric/link.h"
#include "fabric/port.h"

static void kport_far(struct pib_kport *port, struct pib_far *far)
{
	spinlock_t *lock = pib_kport_lock(port);

	spin_lock_irq(lock);
	far->mtu_cap = port->p.mtu_cap;
	far->width_en = port->p.width_en;
	far->speed_en = port->p.speed_en;
	far->ext_speed_en = port->p.ext_speed_en;
	spin_unlock_irq(lock);
}

void pib_kport_link_up(struct pib_kport *port, const struct pib_far *far)
{
	spinlock_t *lock = pib_kport_lock(port);

	lockdep_assert_held(&port->nd->pn->link_lock);
	spin_lock_irq(lock);
	port->p.far_width_en = far->width_en;
	port->p.far_speed_en = far->speed_en;
	port->p.far_ext_speed_en = far->ext_speed_en;
	pib_port_link_up(&port->p, far->mtu_cap);
	if (port->nd->standalone)
		pib_port_set_standalone(&port->p, port->standalone_lid);
	pib_kport_changed(port);
	spin_unlock_irq(lock);
	pib_kport_events(port);
}

void pib_kport_link_down(struct pib_kport *port)
{
	spinlock_t *lock = pib_kport_lock(port);
	bool was_up;

	lockdep_assert_held(&port->nd->pn->link_lock);
	spin_lock_irq(lock);
	was_up = port->p.state > PIB_PORT_DOWN;
	pib_port_link_down(&port->p);
	pib_kport_changed(port);
	spin_unlock_irq(lock);
	if (was_up) {
		preempt_disable();
		pib_kport_count(port, link_downed, 1);
		preempt_enable();
	}
	pib_kport_events(port);
}

/* Notify listeners of the cable between @a and @b. @b is NULL if the cable leads elsewhere. */
static void notify_cable(u8 kind, struct pib_kport *a, struct pib_kport *b, bool plugged)
{
	struct pib_note note = {
		.pn = a->nd->pn,
		.kind = kind,
		.a = pib_kport_note_end(a),
		.is_auto = a->is_auto,
		.plugged = plugged,
	};

	if (b)
		note.b = pib_kport_note_end(b);
	pib_notify(&note);
}

/* Bring the link of a local cable up at both ends, if both want it. */
static void cable_train(struct pib_kport *a, struct pib_kport *b)
{
	struct pib_far far_a, far_b;

	if (a->cable_out || !pib_port_wants_link(&a->p) || !pib_port_wants_link(&b->p))
		return;
	kport_far(a, &far_a);
	kport_far(b, &far_b);
	pib_kport_link_up(a, &far_b);
	pib_kport_link_up(b, &far_a);
}

/* Retrain the link of @port. */
static void cable_retrain(struct pib_net *pn, struct pib_kport *port)
{
	struct pib_kport *peer;
	struct pib_link *link;

	lockdep_assert_held(&pn->link_lock);
	peer = rcu_dereference_protected(port->peer, lockdep_is_held(&pn->link_lock));
	/* A link that is about to be deleted waits for the mutex before its memory goes. */
	link = rcu_dereference_check(port->link, lockdep_is_held(&pn->link_lock));
	if (peer) {
		pib_kport_link_down(port);
		pib_kport_link_down(peer);
		cable_train(port, peer);
	} else if (link) {
		link->ops->bounce(link);
	}
}

void pib_kport_phys_changed(struct pib_kport *port)
{
	struct pib_net *pn = port->nd->pn;

	mutex_lock(&pn->link_lock);
	cable_retrain(pn, port);
	mutex_unlock(&pn->link_lock);
}

void pib_cable_ends(struct pib_kport *port, struct pib_kport *end[2])
{
	end[0] = port;
	end[1] = rcu_dereference_protected(port->peer, lockdep_is_held(&port->nd->pn->lock));
}

void pib_cable_plug(struct pib_net *pn, struct pib_kport *a, struct pib_kport *b)
{
	lockdep_assert_held(&pn->lock);
	mutex_lock(&pn->link_lock);
	a->cable_out = false;
	b->cable_out = false;
	rcu_assign_pointer(a->peer, b);
	rcu_assign_pointer(b->peer, a);
	notify_cable(PIB_EVENT_KIND_LINK_NEW, a, b, true);
	cable_train(a, b);
	mutex_unlock(&pn->link_lock);
	pn->changes++;
}

void pib_cable_pull(struct pib_net *pn, struct pib_kport *port, struct list_head *dead)
{
	struct pib_kport *peer;
	struct pib_link *link;

	lockdep_assert_held(&pn->lock);
	peer = rcu_dereference_protected(port->peer, lockdep_is_held(&pn->lock));
	link = rcu_dereference_protected(port->link, lockdep_is_held(&pn->lock));
	pib_impair_drop(port);
	if (link) {
		link->ops->unplug(link, dead);
		return;
	}
	if (!peer)
		return;
	mutex_lock(&pn->link_lock);
	RCU_INIT_POINTER(port->peer, NULL);
	RCU_INIT_POINTER(peer->peer, NULL);
	pib_kport_link_down(port);
	pib_kport_link_down(peer);
	notify_cable(PIB_EVENT_KIND_LINK_DEL, port, peer, false);
	mutex_unlock(&pn->link_lock);
	pn->changes++;
}

void pib_cable_set_plugged(struct pib_net *pn, struct pib_kport *port, bool plugged)
{
	struct pib_kport *peer;
	struct pib_link *link;

	lockdep_assert_held(&pn->link_lock);
	peer = rcu_dereference_protected(port->peer, lockdep_is_held(&pn->link_lock));
	/* A link that is about to be deleted waits for the mutex before its memory goes. */
	link = rcu_dereference_check(port->link, lockdep_is_held(&pn->link_lock));
	if (peer ? port->cable_out == !plugged : link->cable_out == !plugged)
		return;
	if (peer) {
		WRITE_ONCE(port->cable_out, !plugged);
		WRITE_ONCE(peer->cable_out, !plugged);
	} else {
		WRITE_ONCE(link->cable_out, !plugged);
	}
	notify_cable(PIB_EVENT_KIND_LINK_PLUGGED, port, peer, plugged);
	cable_retrain(pn, port);
}

static void kport_set_caps(struct pib_kport *port, u8 width_sup, u8 speed_sup, u8 ext_speed_sup)
{
	spinlock_t *lock = pib_kport_lock(port);

	spin_lock_irq(lock);
	pib_port_set_link_caps(&port->p, width_sup, speed_sup, ext_speed_sup);
	spin_unlock_irq(lock);
}

void pib_cable_set_caps(struct pib_net *pn, struct pib_kport *port, u8 width_sup, u8 speed_sup,
			u8 ext_speed_sup)
{
	struct pib_kport *end[2];

	lockdep_assert_held(&pn->lock);
	pib_cable_ends(port, end);
	mutex_lock(&pn->link_lock);
	if (end[1]) {
		pib_kport_link_down(port);
		pib_kport_link_down(end[1]);
		kport_set_caps(end[1], width_sup, speed_sup, ext_speed_sup);
	}
	kport_set_caps(port, width_sup, speed_sup, ext_speed_sup);
	cable_retrain(pn, port);
	mutex_unlock(&pn->link_lock);
}

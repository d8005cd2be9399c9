// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A look at an object without the lock is counted in @viewers, and pib_object_del() waits for its
 * end. Address handles are destroyed where nobody may wait. They are looked at under the lock.
 */
#include <linux/cred.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/uidgid.h>
#include <linux/wait_bit.h>
#include "core/objects.h"

/* Objects that are passed over with interrupts off. */
#define PASSED_MAX	128

void pib_objects_init(struct pib_objects *all)
{
	int i;

	spin_lock_init(&all->lock);
	for (i = 0; i < PIB_OBJECT_KINDS; i++)
		all->trees[i] = RB_ROOT;
}

static struct pib_object *node_object(struct rb_node *node)
{
	return rb_entry_safe(node, struct pib_object, node);
}

/* The newest has the highest number: it stands rightmost. */
static void tree_append(struct rb_root *tree, struct pib_object *o)
{
	struct rb_node *last = rb_last(tree);

	rb_link_node(&o->node, last, last ? &last->rb_right : &tree->rb_node);
	rb_insert_color(&o->node, tree);
}

static struct pib_object *tree_after(const struct rb_root *tree, u64 id)
{
	struct rb_node *node = tree->rb_node;
	struct pib_object *next = NULL;

	while (node) {
		struct pib_object *o = node_object(node);

		if (o->id > id)
			next = o;
		node = o->id > id ? node->rb_left : node->rb_right;
	}
	return next;
}

static void object_set_owner(struct pib_object *o, const char *kernel)
{
	if (kernel) {
		strscpy(o->owner, kernel, sizeof(o->owner));
		return;
	}
	o->pid = get_pid(task_tgid(current));
	o->uid = from_kuid(&init_user_ns, current_euid());
	get_task_comm(o->owner, current);
}

void pib_object_add(struct pib_objects *all, struct pib_object *o, enum pib_object_kind kind,
		    u64 parent, const char *kernel)
{
	unsigned long flags;

	o->kind = kind;
	o->parent = parent;
	o->created = ktime_get_real_ns();
	object_set_owner(o, kernel);

	spin_lock_irqsave(&all->lock, flags);
	o->id = ++all->last[kind];
	tree_append(&all->trees[kind], o);
	spin_unlock_irqrestore(&all->lock, flags);
}

void pib_object_del(struct pib_objects *all, struct pib_object *o)
{
	unsigned long flags;

	spin_lock_irqsave(&all->lock, flags);
	rb_erase(&o->node, &all->trees[o->kind]);
	spin_unlock_irqrestore(&all->lock, flags);

	/* Pairs with atomic_dec_and_test() in object_unview(). */
	if (o->kind != PIB_OBJECT_KIND_AH)
		wait_var_event(&o->viewers, !atomic_read(&o->viewers));
	put_pid(o->pid);
}

/* The object may go at once: its address is not followed any more. */
static void object_unview(struct pib_object *o)
{
	/* Pairs with wait_var_event() in pib_object_del(). */
	if (atomic_dec_and_test(&o->viewers))
		wake_up_var(&o->viewers);
}

static bool object_shown(const struct pib_object *o, const struct pib_object_look *look)
{
	return look->all || (o->pid && o->uid == look->uid);
}

/* Return: the next object to look at; NULL: *@seen says why there is none. */
static struct pib_object *look_next(struct pib_objects *all, struct pib_object_look *look,
				    enum pib_object_seen *seen)
{
	struct pib_object *o = tree_after(&all->trees[look->kind], look->after);
	int passed;

	lockdep_assert_held(&all->lock);

	if (o && o->id > look->last)
		o = NULL;
	for (passed = 0; o && passed < PASSED_MAX; passed++) {
		look->after = o->id;
		if (object_shown(o, look)) {
			*seen = PIB_OBJECT_SEEN;
			return o;
		}
		o = node_object(rb_next(&o->node));
		if (o && o->id > look->last)
			o = NULL;
	}
	*seen = o ? PIB_OBJECT_LATER : PIB_OBJECT_NONE;
	return NULL;
}

u64 pib_objects_last(struct pib_objects *all, enum pib_object_kind kind)
{
	u64 last;

	spin_lock_irq(&all->lock);
	last = all->last[kind];
	spin_unlock_irq(&all->lock);
	return last;
}

enum pib_object_seen pib_objects_see(struct pib_objects *all, struct pib_object_look *look)
{
	enum pib_object_seen seen;
	struct pib_object *o;

	spin_lock_irq(&all->lock);
	o = look_next(all, look, &seen);
	if (o && look->kind == PIB_OBJECT_KIND_AH)
		look->see(o, look->arg);
	else if (o)
		atomic_inc(&o->viewers);
	spin_unlock_irq(&all->lock);

	if (o && look->kind != PIB_OBJECT_KIND_AH) {
		look->see(o, look->arg);
		object_unview(o);
	}
	return seen;
}

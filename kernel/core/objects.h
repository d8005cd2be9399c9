/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The list of an HCA's verbs objects, those of the kernel and of all processes. An object is
 * entered when it is complete, and taken out before any part of it is freed. The data path does not
 * touch the list.
 */
#ifndef PIB_CORE_OBJECTS_H
#define PIB_CORE_OBJECTS_H

#include <linux/atomic.h>
#include <linux/pid.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include "uapi/linux/pib.h"

#define PIB_OBJECT_KINDS	(PIB_OBJECT_KIND_MAX + 1)

/**
 * struct pib_object - an object in the list, a part of what it is about
 * @node: in its tree; under the lock of that
 * @viewers: number of looks at it that are under way without the lock
 * @id: number among its kind, never used again
 * @parent: @id of its PD, or of its context if it has no PD, 0: none; the one member that changes
 * @created: ns since 1970
 * @pid: process that has made it, referenced; NULL: the kernel
 * @uid: effective user of that process then, as the first user namespace has it
 * @kind: enum pib_object_kind
 * @owner: name of the process then, or of the kernel's part
 */
struct pib_object {
	struct rb_node node;
	atomic_t viewers;
	u64 id;
	u64 parent;
	u64 created;
	struct pid *pid;
	u32 uid;
	u8 kind;
	char owner[TASK_COMM_LEN];
};

/**
 * struct pib_objects - the objects of an HCA
 * @lock: guards what follows; irqsave, nothing is taken under it
 * @last: the last @id of each kind
 * @trees: of each kind, by @id
 */
struct pib_objects {
	spinlock_t lock;
	u64 last[PIB_OBJECT_KINDS];
	struct rb_root trees[PIB_OBJECT_KINDS];
};

/**
 * struct pib_object_look - a look at one object after another
 * @kind: enum pib_object_kind
 * @after: @id of the last one; moves on
 * @last: @id of the last one to look at
 * @all: at everybody's
 * @uid: if not at everybody's, at those of this user
 * @see: called for an object, which stays as long as that takes. Context: process; under
 *	pib_objects.lock with interrupts off if the object is an address handle
 * @arg: for @see
 */
struct pib_object_look {
	u8 kind;
	u64 after;
	u64 last;
	bool all;
	u32 uid;
	void (*see)(const struct pib_object *o, void *arg);
	void *arg;
};

enum pib_object_seen {
	PIB_OBJECT_NONE,	/* no other is there */
	PIB_OBJECT_SEEN,	/* one was seen */
	PIB_OBJECT_LATER,	/* many were passed over: the caller asks again */
};

/* Set up, before the first object is added. Context: any. */
void pib_objects_init(struct pib_objects *all);

/**
 * pib_object_add() - enter an object that was made
 * @all: objects of the HCA
 * @o: part of the object, zeroed
 * @kind: what it is
 * @parent: see struct pib_object
 * @kernel: name of the kernel's part that it is made for; NULL: for the calling process
 *
 * Context: any, but for @kernel NULL process.
 */
void pib_object_add(struct pib_objects *all, struct pib_object *o, enum pib_object_kind kind,
		    u64 parent, const char *kernel);

/**
 * pib_object_del() - take out an object that is about to go
 * @all: objects of the HCA
 * @o: part of the object; nobody looks at it any more when this returns
 *
 * Context: process, sleeps for as long as somebody copies a few numbers; of address handles any.
 */
void pib_object_del(struct pib_objects *all, struct pib_object *o);

/* Return: the @id of the last object of @kind that was made; 0: none was. Context: process. */
u64 pib_objects_last(struct pib_objects *all, enum pib_object_kind kind);

/**
 * pib_objects_see() - call @look->see for the next object
 * @all: objects of the HCA
 * @look: which objects to look at, and how far the look has come
 *
 * One call passes over a bounded number of objects that are not to be seen.
 *
 * Context: process; @all->lock not held.
 * Return: whether there was an object.
 */
enum pib_object_seen pib_objects_see(struct pib_objects *all, struct pib_object_look *look);

#endif

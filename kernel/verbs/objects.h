/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Views of objects of verbs. */
#ifndef PIB_VERBS_OBJECTS_H
#define PIB_VERBS_OBJECTS_H

#include "core/objects.h"

#define PIB_OBJECT_FACTS	64

/**
 * struct pib_object_view - an object, copied
 * @kind: enum pib_object_kind
 * @id: see struct pib_object
 * @created: ns since 1970
 * @owner: name of the process or of the kernel's part
 * @user: a process has made it
 * @pid: that process, as the caller's namespace numbers it; 0: it is not of that namespace
 * @uid: its effective user at that time, as the first user namespace numbers it
 * @all: the viewer may see everything, even keys and addresses of memory
 * @has_handle: @handle is valid
 * @handle: number by which the process knows the object
 * @has_resource: @resource is valid: "rdma resource" shows the object
 * @resource: number that it has there, from 0 on
 * @has_gid: @gid is valid
 * @gid: destination GID
 * @num: entries of @facts
 * @facts: enum pib_o_attr and its value
 */
struct pib_object_view {
	u8 kind;
	u64 id;
	u64 created;
	char owner[TASK_COMM_LEN];
	bool user;
	u32 pid;
	u32 uid;
	bool all;
	bool has_handle;
	u32 handle;
	bool has_resource;
	u32 resource;
	bool has_gid;
	u8 gid[16];
	unsigned int num;
	struct {
		u16 attr;
		u64 value;
	} facts[PIB_OBJECT_FACTS];
};

/**
 * pib_object_show() - copy the view of an object
 * @o: the object
 * @all: as of struct pib_object_view
 * @v: result
 *
 * Context: as pib_object_look.see.
 */
void pib_object_show(const struct pib_object *o, bool all, struct pib_object_view *v);

#endif

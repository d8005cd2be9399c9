/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Attributes of an HCA and of its ports, as verbs query and change them. */
#ifndef PIB_VERBS_QUERY_H
#define PIB_VERBS_QUERY_H

#include <rdma/ib_verbs.h>

/* ib_device_ops. Context: process. Return, where it is an int: 0 or -errno. */
int pib_query_device(struct ib_device *ibdev, struct ib_device_attr *attr, struct ib_udata *udata);
int pib_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *attr);
void pib_get_dev_fw_str(struct ib_device *ibdev, char *str);
int pib_query_port(struct ib_device *ibdev, u32 port_num, struct ib_port_attr *attr);
int pib_modify_port(struct ib_device *ibdev, u32 port_num, int mask, struct ib_port_modify *attr);
int pib_query_gid(struct ib_device *ibdev, u32 port_num, int index, union ib_gid *gid);
int pib_query_pkey(struct ib_device *ibdev, u32 port_num, u16 index, u16 *pkey);
enum rdma_link_layer pib_get_link_layer(struct ib_device *ibdev, u32 port_num);
int pib_get_port_immutable(struct ib_device *ibdev, u32 port_num,
			   struct ib_port_immutable *immutable);

#endif

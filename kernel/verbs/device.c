// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ib_device: its table of operations, its making and its end.
 *
 * ib_core may unregister and free the device by itself (`rdma link delete`), so everything that
 * belongs to an HCA is released in dealloc_driver, which is called when no operation is running any
 * more and none will be. A task that unloads the module calls ib_unregister_device() of the HCA
 * once more, as the fence behind that.
 */
#include <linux/idr.h>
#include <linux/netlink.h>
#include <linux/platform_device.h>
#include <linux/random.h>
#include <linux/utsname.h>
#include <rdma/ib_mad.h>
#include "compat/compat.h"
#include "memory/prefetch.h"
#include "hca/ah.h"
#include "verbs/query.h"
#include "core/net.h"
#include "hca/hw_counters.h"
#include "hca/cq.h"
#include "memory/dm.h"
#include "hca/port_event.h"
#include "hca/hca.h"
#include "verbs/device.h"
#include "verbs/mad.h"
#include "transport/inject.h"
#include "transport/input.h"
#include "transport/mcast.h"
#include "memory/dmabuf.h"
#include "memory/mr.h"
#include "memory/mw.h"
#include "hca/pd.h"
#include "transport/post.h"
#include "transport/qp.h"
#include "transport/qp_counter.h"
#include "verbs/restrack.h"
#include "verbs/traced.h"
#include "verbs/ucontext.h"
#include "hca/srq.h"
#include "core/mmap.h"
#include "uapi/rdma/pib-abi.h"

#define PIB_VERB_CREATE_CQ	pib_traced_create_cq
#define PIB_VERB_RESIZE_CQ	pib_traced_resize_cq
#define PIB_VERB_REG_USER_MR	pib_traced_reg_user_mr
#define PIB_VERB_REG_DMABUF	pib_traced_reg_user_mr_dmabuf
#define PIB_VERB_COUNTER_BIND	pib_counter_bind_qp
#define PIB_VERB_COUNTER_UNBIND	pib_counter_unbind_qp
#define PIB_VERB_FILL_RES_SRQ	pib_fill_res_srq
#define PIB_VERB_PRE_DESTROY_CQ	pib_pre_destroy_cq
#include "compat/device_ops.h"

static DEFINE_IDA(hca_ids);

static ssize_t hca_type_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "pib\n");
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t hw_rev_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct pib_hca *hca = rdma_device_to_drv_device(dev, struct pib_hca, ib);

	return sysfs_emit(buf, "%x\n", hca->nd.node.revision);
}
static DEVICE_ATTR_RO(hw_rev);

static ssize_t board_id_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "pib\n");
}
static DEVICE_ATTR_RO(board_id);

static struct attribute *pib_attrs[] = {
	&dev_attr_hca_type.attr,
	&dev_attr_hw_rev.attr,
	&dev_attr_board_id.attr,
	NULL
};

static const struct attribute_group pib_attr_group = {
	.attrs = pib_attrs,
};

static void hca_free_ports(struct pib_hca *hca)
{
	int i;

	/* hca_init_node() may have got one of the two tables only. */
	for (i = 1; hca->nd.ports && i <= hca->nd.node.num_ports; i++) {
		if (!hca->nd.ports[i])
			continue;
		kfree(hca->nd.ports[i]->p.sl2vl);
		kfree(hca->nd.ports[i]->p.cc_ca);
		pib_kport_free(hca->nd.ports[i]);
	}
	kfree(hca->nd.ports);
	kfree(hca->nd.node.ports);
}

/* ib_device_ops; also called for an HCA that is only half made. */
static void pib_dealloc_driver(struct ib_device *ibdev)
{
	struct pib_hca *hca = to_hca(ibdev);

	if (hca->on_gone)
		hca->on_gone(hca);
	cancel_work_sync(&hca->event_work);
	/* rules about calls, which the end of no queue pair has removed */
	pib_injects_del(&hca->injects, 0);
	/* callbacks that the objects have left behind, and readers of the ports */
	rcu_barrier();
	hca_free_ports(hca);
	if (hca->mcast)
		pib_mcast_exit(hca);
	free_percpu(hca->stats);
	xa_destroy(&hca->qps);
	pib_key_table_exit(&hca->keys);
	xa_destroy(&hca->avs);
	xa_destroy(&hca->cqs);
	xa_destroy(&hca->srqs);
	xa_destroy(&hca->qp_counters);
	pib_quota_exit(&hca->quota);
	if (!IS_ERR_OR_NULL(hca->parent))
		platform_device_unregister(hca->parent);
	if (hca->id >= 0)
		ida_free(&hca_ids, hca->id);
}

static const struct ib_device_ops pib_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = PIB_UVERBS_ABI_VERSION,
	.uverbs_no_driver_id_binding = 1,
	.device_group = &pib_attr_group,

	.advise_mr = pib_traced_advise_mr,
	.alloc_dm = pib_traced_alloc_dm,
	.alloc_hw_port_stats = pib_alloc_hw_port_stats,
	.alloc_mr = pib_traced_alloc_mr,
	.alloc_mw = pib_traced_alloc_mw,
	.alloc_pd = pib_traced_alloc_pd,
	.alloc_ucontext = pib_traced_alloc_ucontext,
	.alloc_xrcd = pib_traced_alloc_xrcd,
	.attach_mcast = pib_traced_attach_mcast,
	.counter_alloc_stats = pib_counter_alloc_stats,
	.counter_dealloc = pib_counter_dealloc,
	.counter_update_stats = pib_counter_update_stats,
	.create_ah = pib_traced_create_ah,
	.create_qp = pib_traced_create_qp,
	.create_srq = pib_traced_create_srq,
	.create_user_ah = pib_traced_create_ah,
	.dealloc_dm = pib_traced_dealloc_dm,
	.dealloc_driver = pib_dealloc_driver,
	.dealloc_mw = pib_traced_dealloc_mw,
	.dealloc_pd = pib_traced_dealloc_pd,
	.dealloc_ucontext = pib_traced_dealloc_ucontext,
	.dealloc_xrcd = pib_traced_dealloc_xrcd,
	.dereg_mr = pib_traced_dereg_mr,
	.destroy_ah = pib_traced_destroy_ah,
	.destroy_cq = pib_traced_destroy_cq,
	.destroy_qp = pib_traced_destroy_qp,
	.destroy_srq = pib_traced_destroy_srq,
	.detach_mcast = pib_traced_detach_mcast,
	.disassociate_ucontext = pib_disassociate_ucontext,
	.fill_res_cq_entry = pib_fill_res_cq,
	.fill_res_mr_entry = pib_fill_res_mr,
	.fill_res_qp_entry = pib_fill_res_qp,
	.get_dev_fw_str = pib_get_dev_fw_str,
	.get_dma_mr = pib_traced_get_dma_mr,
	.get_hw_stats = pib_get_hw_stats,
	.get_link_layer = pib_get_link_layer,
	.get_port_immutable = pib_get_port_immutable,
	.map_mr_sg = pib_map_mr_sg,
	.mmap = pib_mmap,
	.mmap_free = pib_mmap_free,
	.modify_ah = pib_traced_modify_ah,
	.modify_cq = pib_traced_modify_cq,
	.modify_device = pib_modify_device,
	.modify_port = pib_modify_port,
	.modify_qp = pib_traced_modify_qp,
	.modify_srq = pib_traced_modify_srq,
	.poll_cq = pib_poll_cq,
	.post_recv = pib_post_recv,
	.post_send = pib_post_send,
	.post_srq_recv = pib_post_srq_recv,
	.process_mad = pib_process_mad,
	.query_ah = pib_traced_query_ah,
	.query_device = pib_query_device,
	.query_gid = pib_query_gid,
	.query_pkey = pib_query_pkey,
	.query_port = pib_query_port,
	.query_qp = pib_traced_query_qp,
	.query_srq = pib_traced_query_srq,
	.query_ucontext = pib_query_ucontext,
	.reg_dm_mr = pib_traced_reg_dm_mr,
	.req_notify_cq = pib_req_notify_cq,
	.rereg_user_mr = pib_traced_rereg_user_mr,
	PIB_COMPAT_OPS,

	INIT_RDMA_OBJ_SIZE(ib_ah, pib_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, pib_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_mw, pib_mw, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, pib_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, pib_qp, ib),
	INIT_RDMA_OBJ_SIZE(ib_srq, pib_srq, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, pib_ucontext, ib),
	INIT_RDMA_OBJ_SIZE(ib_xrcd, pib_xrcd, ib),
};

static const struct uapi_definition pib_defs[] = {
	UAPI_DEF_CHAIN(pib_ucontext_defs),
	UAPI_DEF_CHAIN(pib_post_defs),
	UAPI_DEF_CHAIN(pib_dm_defs),
	{}
};

static void hca_init_tables(struct pib_hca *hca)
{
	static struct lock_class_key avs_key;

	xa_init_flags(&hca->qps, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
	pib_key_table_init(&hca->keys);
	/* address handles are made and destroyed under the ULPs' locks */
	xa_init_flags(&hca->avs, XA_FLAGS_ALLOC | XA_FLAGS_LOCK_IRQ | XA_FLAGS_ACCOUNT);
	/* to lockdep, all xarrays that one file makes by xa_init_flags() are one class */
	lockdep_set_class(&hca->avs.xa_lock, &avs_key);
	xa_init_flags(&hca->cqs, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
	xa_init_flags(&hca->srqs, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
	pib_pagers_init(&hca->pagers);
	xa_init_flags(&hca->qp_counters, XA_FLAGS_ALLOC);
	pib_quota_init(&hca->quota, &hca->ib);
	pib_objects_init(&hca->objects);
	pib_injects_init(&hca->injects);
	/* numbers that a peer has kept from before a restart do not fit (10.6.3.3) */
	hca->next_qpn = get_random_u32() >> 8;
}

static int hca_init_port(struct pib_hca *hca, const struct pib_hca_ident *id, u8 num)
{
	struct pib_kport *port = pib_kport_alloc(&hca->nd, GFP_KERNEL);

	if (!port)
		return -ENOMEM;
	hca->nd.ports[num] = port;
	hca->nd.node.ports[num] = &port->p;
	port->p.sl2vl = kzalloc(sizeof(*port->p.sl2vl), GFP_KERNEL);
	port->p.cc_ca = kzalloc(sizeof(*port->p.cc_ca), GFP_KERNEL);
	if (!port->p.sl2vl || !port->p.cc_ca)
		return -ENOMEM;
	pib_port_init(&port->p, &hca->nd.node, num, pib_hca_port_guid(id, num));
	return 0;
}

static int hca_init_node(struct pib_hca *hca, const char *name, u8 num_ports,
			 const struct pib_hca_ident *id)
{
	struct pib_node *n = &hca->nd.node;
	int i, err;

	hca->nd.ports = kcalloc(num_ports + 1, sizeof(*hca->nd.ports), GFP_KERNEL);
	n->ports = kcalloc(num_ports + 1, sizeof(*n->ports), GFP_KERNEL);
	if (!hca->nd.ports || !n->ports)
		return -ENOMEM;

	n->type = PIB_NODE_CA;
	n->num_ports = num_ports;
	n->guid = id->node_guid;
	pib_node_set_product(n, &id->product);
	n->priv = hca;
	if (id->desc)
		strscpy_pad(n->desc, id->desc, sizeof(n->desc));
	else
		snprintf(n->desc, sizeof(n->desc), "%.31s %.31s", utsname()->nodename, name);
	pib_node_init(n);
	for (i = 1; i <= num_ports; i++) {
		err = hca_init_port(hca, id, i);
		if (err)
			return err;
	}
	return 0;
}

/* IPoIB's netdevs, and tools that look for them, want a device under the ib_device. */
static int hca_init_parent(struct pib_hca *hca)
{
	hca->id = ida_alloc(&hca_ids, GFP_KERNEL);
	if (hca->id < 0)
		return hca->id;
	hca->parent = platform_device_register_simple("pib", hca->id, NULL, 0);
	return PTR_ERR_OR_ZERO(hca->parent);
}

static int hca_init(struct pib_hca *hca, const char *name, u8 num_ports,
		    const struct pib_hca_ident *id)
{
	struct ib_device *ib = &hca->ib;
	int err;

	hca->stats = alloc_percpu(struct pib_stats);
	if (!hca->stats)
		return -ENOMEM;
	err = pib_mcast_init(hca);
	if (err)
		return err;
	err = hca_init_node(hca, name, num_ports, id);
	if (err)
		return err;
	err = hca_init_parent(hca);
	if (err)
		return err;

	ib->node_type = RDMA_NODE_IB_CA;
	ib->node_guid = cpu_to_be64(id->node_guid);
	ib->phys_port_cnt = num_ports;
	ib->num_comp_vectors = pib_cq_vectors();
	ib->local_dma_lkey = 0;
	ib->driver_def = pib_defs;
	ib->dev.parent = &hca->parent->dev;
	memcpy(ib->node_desc, hca->nd.node.desc, sizeof(ib->node_desc));
	/* the doorbells of older providers, which ib_core lets through for software devices only */
	ib->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
			       BIT_ULL(IB_USER_VERBS_CMD_POST_RECV) |
			       BIT_ULL(IB_USER_VERBS_CMD_POST_SRQ_RECV) |
			       BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
	return 0;
}

static void hca_node_events(struct pib_node_dev *nd)
{
	pib_hca_events(node_dev_to_hca(nd));
}

static const struct pib_node_ops hca_node_ops = {
	.rx = pib_input,
	.trap = pib_kport_inject_trap,
	.events = hca_node_events,
};

/* Return: true if sysfs takes the name as it is: ib_core would number a pattern. */
static bool name_ok(const char *name)
{
	return *name && strlen(name) < IB_DEVICE_NAME_MAX && !strpbrk(name, "%/") &&
	       strcmp(name, ".") && strcmp(name, "..");
}

struct pib_hca *pib_hca_create(struct pib_net *pn, const char *name, u8 num_ports,
			       const struct pib_hca_ident *id,
			       const struct pib_behaviors_cfg *behaviors, bool standalone,
			       void (*on_gone)(struct pib_hca *hca),
			       struct netlink_ext_ack *extack)
{
	struct pib_hca *hca;
	bool elsewhere;
	int err;

	if (!name_ok(name)) {
		NL_SET_ERR_MSG(extack, "the name is not one for a device");
		return ERR_PTR(-EINVAL);
	}
	if (!num_ports || num_ports > PIB_MAX_PORTS) {
		NL_SET_ERR_MSG(extack, "the number of ports is not 1 to 254");
		return ERR_PTR(-EINVAL);
	}

	hca = ib_alloc_device_with_net(pib_hca, ib, pn->net);
	if (!hca)
		return ERR_PTR(-ENOMEM);
	hca->net = pn->net;
	hca->id = -1;
	strscpy(hca->name, name, sizeof(hca->name));
	pib_node_dev_init(&hca->nd, pn, hca->name, &hca_node_ops, standalone);
	INIT_WORK(&hca->event_work, pib_hca_event_work);
	hca_init_tables(hca);
	pib_behaviors_set(&hca->behaviors, behaviors);
	ib_set_device_ops(&hca->ib, &pib_ops);

	err = hca_init(hca, name, num_ports, id);
	if (err) {
		NL_SET_ERR_MSG(extack, "out of memory for the HCA");
		goto err_dealloc;
	}
	/* from here on somebody else may unregister it */
	hca->on_gone = on_gone;
	elsewhere = !rdma_dev_access_netns(&hca->ib, pn->net);
	err = ib_register_device(&hca->ib, name, NULL);
	if (err == -ENFILE) {
		NL_SET_ERR_MSG(extack, "an RDMA device of that name exists");
		err = -EEXIST;
	}
	if (err)
		goto err_dealloc;
	if (elsewhere)
		NL_SET_ERR_MSG(extack,
			       "the HCA is in the initial network namespace: 'rdma dev set HCA netns NAME' there moves it");
	return hca;

err_dealloc:
	hca->on_gone = NULL;
	ib_dealloc_device(&hca->ib);
	return ERR_PTR(err);
}

/* A lock of ib_core for each device makes this wait for a task that was faster. */
void pib_hca_destroy(struct pib_hca *hca)
{
	ib_unregister_device(&hca->ib);
}

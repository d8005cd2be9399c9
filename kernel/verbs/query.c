// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/ktime.h>
#include <rdma/ib_mad.h>
#include "verbs/query.h"
#include "compat/compat.h"
#include "hca/cq.h"
#include "memory/dm.h"
#include "hca/hca.h"
#include "hca/port_event.h"
#include "transport/mcast.h"
#include "proto/mad.h"
#include "transport/qp.h"
#include "core/refuse.h"

#define FW_MAJOR	0
#define FW_MINOR	1
#define FW_SUB		0

#define MAX_MSG		(1U << 31)
#define DEVICE_CAPS	(IB_DEVICE_BAD_PKEY_CNTR | IB_DEVICE_BAD_QKEY_CNTR |		\
			 IB_DEVICE_CHANGE_PHY_PORT | IB_DEVICE_PORT_ACTIVE_EVENT |	\
			 IB_DEVICE_AUTO_PATH_MIG |					\
			 IB_DEVICE_SYS_IMAGE_GUID | IB_DEVICE_CURR_QP_STATE_MOD |	\
			 IB_DEVICE_RC_RNR_NAK_GEN | IB_DEVICE_SRQ_RESIZE |		\
			 IB_DEVICE_XRC | IB_DEVICE_MEM_MGT_EXTENSIONS |			\
			 IB_DEVICE_MEM_WINDOW | IB_DEVICE_MEM_WINDOW_TYPE_2B |		\
			 IB_DEVICE_ATOMIC_WRITE | IB_DEVICE_FLUSH_GLOBAL)

/* Capabilities for consumers in the kernel, and not for processes: checksums of IP packets. */
#define KERNEL_DEVICE_CAPS	IB_DEVICE_UD_IP_CSUM

static struct pib_port *hca_port(struct ib_device *ibdev, u32 port_num)
{
	struct pib_hca *hca = to_hca(ibdev);

	if (!port_num || port_num > hca->nd.node.num_ports)
		return NULL;
	return &hca->nd.ports[port_num]->p;
}

static void query_limits(struct ib_device_attr *attr)
{
	attr->max_mr_size = U64_MAX;
	attr->page_size_cap = U32_MAX & PAGE_MASK;
	attr->max_qp = pib_quota_max(PIB_OBJ_QP);
	attr->max_qp_wr = PIB_QP_MAX_WR;
	attr->max_send_sge = PIB_QP_MAX_SGE;
	attr->max_recv_sge = PIB_QP_MAX_SGE;
	attr->max_sge_rd = PIB_QP_MAX_SGE;
	attr->max_cq = pib_quota_max(PIB_OBJ_CQ);
	attr->max_cqe = PIB_CQ_MAX_CQE;
	attr->max_mr = pib_quota_max(PIB_OBJ_MR);
	attr->max_mw = pib_quota_max(PIB_OBJ_MW);
	attr->max_pd = pib_quota_max(PIB_OBJ_PD);
	attr->max_ah = pib_quota_max(PIB_OBJ_AH);
	attr->max_srq = pib_quota_max(PIB_OBJ_SRQ);
	attr->max_srq_wr = PIB_QP_MAX_WR;
	attr->max_srq_sge = PIB_QP_MAX_SGE;
	attr->max_qp_rd_atom = PIB_QP_MAX_RD_ATOMIC;
	attr->max_qp_init_rd_atom = PIB_QP_MAX_RD_ATOMIC;
	attr->max_res_rd_atom = PIB_QP_MAX_RD_ATOMIC * PIB_QP_MAX;
	attr->max_mcast_grp = PIB_MCAST_GROUPS;
	attr->max_mcast_qp_attach = PIB_MCAST_QPS;
	attr->max_total_mcast_qp_attach = PIB_MCAST_GROUPS * PIB_MCAST_QPS;
	attr->max_fast_reg_page_list_len = 1024;
	attr->max_pkeys = PIB_PKEYS;
	attr->max_dm_size = PIB_DM_SIZE;
	attr->cq_caps.max_cq_moderation_count = PIB_CQ_MODERATION_MAX;
	attr->cq_caps.max_cq_moderation_period = PIB_CQ_MODERATION_MAX;
}

#define ODP_SENDS	(IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV | IB_ODP_SUPPORT_SRQ_RECV)
#define ODP_ALL		(ODP_SENDS | IB_ODP_SUPPORT_WRITE | IB_ODP_SUPPORT_READ |		\
			 IB_ODP_SUPPORT_ATOMIC | IB_ODP_SUPPORT_FLUSH |			\
			 IB_ODP_SUPPORT_ATOMIC_WRITE)

static void query_odp(struct ib_odp_caps *caps)
{
	caps->general_caps = IB_ODP_SUPPORT | IB_ODP_SUPPORT_IMPLICIT;
	caps->per_transport_caps.rc_odp_caps = ODP_ALL;
	caps->per_transport_caps.xrc_odp_caps = ODP_ALL;
	caps->per_transport_caps.uc_odp_caps = ODP_SENDS | IB_ODP_SUPPORT_WRITE;
	caps->per_transport_caps.ud_odp_caps = ODP_SENDS;
}

int pib_query_device(struct ib_device *ibdev, struct ib_device_attr *attr, struct ib_udata *udata)
{
	const struct pib_node *n = &to_hca(ibdev)->nd.node;

	attr->fw_ver = (u64)FW_MAJOR << 32 | FW_MINOR << 16 | FW_SUB;
	attr->sys_image_guid = cpu_to_be64(READ_ONCE(n->sys_guid));
	attr->vendor_id = n->vendor_id;
	attr->vendor_part_id = n->device_id;
	attr->hw_ver = n->revision;
	attr->device_cap_flags = DEVICE_CAPS;
	/* Consumers in the kernel look at ib_core's own copy. */
	if (attr == &ibdev->attrs)
		attr->device_cap_flags |= KERNEL_DEVICE_CAPS;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY | IBK_ALLOW_USER_UNREG |
				 IBK_BLOCK_MULTICAST_LOOPBACK | IBK_ON_DEMAND_PAGING |
				 IBK_UD_TSO;
	attr->atomic_cap = IB_ATOMIC_GLOB;
	attr->local_ca_ack_delay = 15;
	/* completions carry CLOCK_MONOTONIC_RAW in ns */
	attr->timestamp_mask = U64_MAX;
	attr->hca_core_clock = 1000000;
	query_limits(attr);
	query_odp(&attr->odp_caps);
	return 0;
}

void pib_get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	snprintf(str, IB_FW_VERSION_NAME_MAX, "%d.%d.%d", FW_MAJOR, FW_MINOR, FW_SUB);
}

int pib_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *attr)
{
	struct pib_hca *hca = to_hca(ibdev);
	unsigned long flags;

	if (mask & ~(IB_DEVICE_MODIFY_NODE_DESC | IB_DEVICE_MODIFY_SYS_IMAGE_GUID))
		return pib_refuse(ibdev, -EOPNOTSUPP, "modify_device: mask %#x", mask);

	spin_lock_irqsave(&hca->nd.lock, flags);
	if (mask & IB_DEVICE_MODIFY_SYS_IMAGE_GUID) {
		ibdev->attrs.sys_image_guid = cpu_to_be64(attr->sys_image_guid);
		pib_node_set_sys_guid(&hca->nd.node, attr->sys_image_guid, ktime_get_ns());
	}
	if (mask & IB_DEVICE_MODIFY_NODE_DESC) {
		pib_node_set_desc(&hca->nd.node, attr->node_desc, ktime_get_ns());
		memcpy(ibdev->node_desc, hca->nd.node.desc, sizeof(ibdev->node_desc));
	}
	spin_unlock_irqrestore(&hca->nd.lock, flags);
	pib_hca_events(hca);
	return 0;
}

static void fill_port_attr(const struct pib_port *p, struct ib_port_attr *attr)
{
	attr->subnet_prefix = p->gid_prefix;
	attr->state = p->state;
	attr->phys_state = p->phys;
	attr->max_mtu = p->mtu_cap;
	attr->active_mtu = p->nbr_mtu;
	attr->phys_mtu = pib_mtu_bytes(p->nbr_mtu);
	attr->gid_tbl_len = PIB_GUIDS;
	attr->pkey_tbl_len = PIB_PKEYS;
	attr->port_cap_flags = p->cap_mask;
	attr->port_cap_flags2 = p->cap_mask2;
	attr->max_msg_sz = MAX_MSG;
	attr->bad_pkey_cntr = p->pkey_viol;
	attr->qkey_viol_cntr = p->qkey_viol;
	attr->sm_lid = p->sm_lid;
	attr->sm_sl = p->sm_sl;
	attr->lid = p->lid;
	attr->lmc = p->lmc;
	attr->max_vl_num = p->vl_cap;
	attr->subnet_timeout = p->subnet_timeout;
	attr->init_type_reply = p->init_type_reply;
	attr->active_width = p->width_act ?: IB_WIDTH_4X;
	attr->active_speed = pib_port_speed(p);
}

int pib_query_port(struct ib_device *ibdev, u32 port_num, struct ib_port_attr *attr)
{
	struct pib_hca *hca = to_hca(ibdev);
	struct pib_port *p = hca_port(ibdev, port_num);
	unsigned long flags;

	if (!p)
		return pib_refuse(ibdev, -EINVAL, "query_port: no port %u", port_num);
	spin_lock_irqsave(&hca->nd.lock, flags);
	fill_port_attr(p, attr);
	spin_unlock_irqrestore(&hca->nd.lock, flags);
	return 0;
}

int pib_modify_port(struct ib_device *ibdev, u32 port_num, int mask, struct ib_port_modify *attr)
{
	struct pib_hca *hca = to_hca(ibdev);
	struct pib_port *p = hca_port(ibdev, port_num);
	unsigned long flags;
	u32 caps;

	if (!p)
		return pib_refuse(ibdev, -EINVAL, "modify_port: no port %u", port_num);
	/* IB_PORT_SHUTDOWN is not among them: links go down by their cables, or by the SM. */
	if (mask & ~(IB_PORT_INIT_TYPE | IB_PORT_RESET_QKEY_CNTR))
		return pib_refuse(ibdev, -EOPNOTSUPP, "port %u: modify_port: mask %#x", port_num,
				  mask);

	spin_lock_irqsave(&hca->nd.lock, flags);
	caps = (p->cap_mask | attr->set_port_cap_mask) & ~attr->clr_port_cap_mask;
	if (mask & IB_PORT_RESET_QKEY_CNTR)
		p->qkey_viol = 0;
	if (mask & IB_PORT_INIT_TYPE)
		p->init_type = attr->init_type;
	pib_port_set_caps(p, caps, ktime_get_ns());
	spin_unlock_irqrestore(&hca->nd.lock, flags);
	pib_hca_events(hca);
	return 0;
}

int pib_query_gid(struct ib_device *ibdev, u32 port_num, int index, union ib_gid *gid)
{
	struct pib_port *p = hca_port(ibdev, port_num);
	u64 guid;

	if (!p)
		return pib_refuse(ibdev, -EINVAL, "query_gid: no port %u", port_num);
	if (index < 0 || index >= PIB_GUIDS)
		return pib_refuse(ibdev, -EINVAL, "port %u: query_gid: no GID at %d", port_num,
				  index);
	memset(gid, 0, sizeof(*gid));
	guid = READ_ONCE(p->guids[index]);
	if (guid) {
		gid->global.subnet_prefix = cpu_to_be64(READ_ONCE(p->gid_prefix));
		gid->global.interface_id = cpu_to_be64(guid);
	}
	return 0;
}

int pib_query_pkey(struct ib_device *ibdev, u32 port_num, u16 index, u16 *pkey)
{
	struct pib_port *p = hca_port(ibdev, port_num);

	if (!p)
		return pib_refuse(ibdev, -EINVAL, "query_pkey: no port %u", port_num);
	if (index >= PIB_PKEYS)
		return pib_refuse(ibdev, -EINVAL, "port %u: query_pkey: no P_Key at %u", port_num,
				  index);
	*pkey = READ_ONCE(p->pkey[index]);
	return 0;
}

enum rdma_link_layer pib_get_link_layer(struct ib_device *ibdev, u32 port_num)
{
	return IB_LINK_LAYER_INFINIBAND;
}

int pib_get_port_immutable(struct ib_device *ibdev, u32 port_num,
			   struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_IB;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	immutable->gid_tbl_len = PIB_GUIDS;
	immutable->pkey_tbl_len = PIB_PKEYS;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/slab.h>
#include "hca/ah.h"
#include "hca/hca.h"
#include "memory/pd.h"
#include "core/mmap.h"
#include "core/refuse.h"
#include "uapi/rdma/pib-abi.h"

#define AVN_MAX	0xFFFFFF

int pib_av_from_attr(struct pib_hca *hca, const struct rdma_ah_attr *attr, struct pib_av_data *out)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	u32 dlid = rdma_ah_get_dlid(attr);
	u32 port = rdma_ah_get_port_num(attr);
	bool has_grh = rdma_ah_get_ah_flags(attr) & IB_AH_GRH;

	if (!port || port > hca->nd.node.num_ports)
		return pib_refuse(&hca->ib, -EINVAL, "address: no port %u", port);
	/* LID 0 passes: ib_core makes a handle for an SM that is not known yet */
	if (dlid > U16_MAX || rdma_ah_get_sl(attr) > 15)
		return pib_refuse(&hca->ib, -EINVAL, "address: LID %#x, SL %u", dlid,
				  rdma_ah_get_sl(attr));
	/* A multicast packet needs a GRH to name its group (9.3) */
	if (pib_lid_is_mcast(dlid) && !has_grh)
		return pib_refuse(&hca->ib, -EINVAL, "address: multicast LID %#x without a GRH",
				  dlid);
	if (has_grh && grh->sgid_index >= PIB_GUIDS)
		return pib_refuse(&hca->ib, -EINVAL, "address: no GID at %u", grh->sgid_index);

	*out = (struct pib_av_data) {
		.dlid = dlid,
		.sl = rdma_ah_get_sl(attr),
		.path_bits = rdma_ah_get_path_bits(attr) & 0x7F,
		.port = port,
		.rate = rdma_ah_get_static_rate(attr),
		.mbps = max(0, ib_rate_to_mbps(rdma_ah_get_static_rate(attr))),
		.grh = has_grh,
	};
	if (has_grh) {
		out->hop = grh->hop_limit;
		out->tclass = grh->traffic_class;
		out->flow = grh->flow_label & 0xFFFFF;
		out->sgid_index = grh->sgid_index;
		memcpy(out->dgid, grh->dgid.raw, sizeof(out->dgid));
	}
	return 0;
}

void pib_av_to_attr(struct pib_hca *hca, const struct pib_av_data *av, struct rdma_ah_attr *attr)
{
	union ib_gid dgid;

	attr->type = RDMA_AH_ATTR_TYPE_IB;
	rdma_ah_set_dlid(attr, av->dlid);
	rdma_ah_set_sl(attr, av->sl);
	rdma_ah_set_path_bits(attr, av->path_bits);
	rdma_ah_set_static_rate(attr, av->rate);
	rdma_ah_set_port_num(attr, av->port);
	rdma_ah_set_ah_flags(attr, 0);
	if (!av->grh)
		return;
	memcpy(dgid.raw, av->dgid, sizeof(dgid.raw));
	rdma_ah_set_grh(attr, &dgid, av->flow, av->sgid_index, av->hop, av->tclass);
}

struct pib_av *pib_av_find(struct pib_hca *hca, u32 avn)
{
	return xa_load(&hca->avs, avn);
}

static int avn_alloc(struct pib_hca *hca, struct pib_av *av, u32 *avn, gfp_t gfp)
{
	unsigned long flags;
	int err;

	/* with GFP_KERNEL the lock is dropped, and interrupts enabled, to allocate */
	if (gfpflags_allow_blocking(gfp))
		return xa_alloc_cyclic_irq(&hca->avs, avn, av, XA_LIMIT(1, AVN_MAX),
					   &hca->next_avn, gfp);
	xa_lock_irqsave(&hca->avs, flags);
	err = __xa_alloc_cyclic(&hca->avs, avn, av, XA_LIMIT(1, AVN_MAX), &hca->next_avn, gfp);
	xa_unlock_irqrestore(&hca->avs, flags);
	return err;
}

static void avn_erase(struct pib_hca *hca, u32 avn)
{
	unsigned long flags;

	xa_lock_irqsave(&hca->avs, flags);
	__xa_erase(&hca->avs, avn);
	xa_unlock_irqrestore(&hca->avs, flags);
}

/* Give @ah the vector @av, in both places at once. Return: the old one. */
static struct pib_av *av_replace(struct pib_hca *hca, struct pib_ah *ah, struct pib_av *av)
{
	unsigned long flags;
	struct pib_av *old;

	xa_lock_irqsave(&hca->avs, flags);
	/* the slot exists: nothing is allocated */
	old = __xa_store(&hca->avs, ah->avn, av, GFP_ATOMIC);
	/* Pairs with READ_ONCE() in pib_query_ah(), which reads what it points to. */
	smp_store_release(&ah->av, av);
	xa_unlock_irqrestore(&hca->avs, flags);
	return old;
}

int pib_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	gfp_t gfp = init->flags & RDMA_CREATE_AH_SLEEPABLE ? GFP_KERNEL_ACCOUNT : GFP_ATOMIC;
	struct pib_hca *hca = to_hca(ibah->device);
	struct pib_create_ah_resp resp = {};
	struct pib_ah *ah = to_ah(ibah);
	int err;

	err = pib_udata_check(udata, 0);
	if (err)
		return err;
	err = pib_quota_take(&hca->quota, to_pd(ibah->pd)->owner, PIB_OBJ_AH);
	if (err)
		return err;
	ah->av = kzalloc(sizeof(*ah->av), gfp);
	err = -ENOMEM;
	if (!ah->av)
		goto err_give;
	ah->av->pd = ibah->pd;
	err = pib_av_from_attr(hca, init->ah_attr, &ah->av->d);
	if (err)
		goto err_free;
	err = avn_alloc(hca, ah->av, &ah->avn, gfp);
	if (err < 0)
		goto err_free;

	if (udata) {
		resp.ahn = ah->avn;
		err = pib_udata_respond(udata, &resp, sizeof(resp));
		if (err)
			goto err_erase;
	}
	pib_object_add(&hca->objects, &ah->obj, PIB_OBJECT_KIND_AH, to_pd(ibah->pd)->obj.id,
		       pib_pd_kernel(to_pd(ibah->pd)));
	return 0;

err_erase:
	avn_erase(hca, ah->avn);
	kfree_rcu(ah->av, rcu);
	goto err_give;
err_free:
	kfree(ah->av);
err_give:
	pib_quota_give(&hca->quota, to_pd(ibah->pd)->owner, PIB_OBJ_AH);
	return err;
}

int pib_modify_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	struct pib_hca *hca = to_hca(ibah->device);
	struct pib_ah *ah = to_ah(ibah);
	struct pib_av *av, *old;
	int err;

	av = kzalloc(sizeof(*av), GFP_ATOMIC);
	if (!av)
		return -ENOMEM;
	av->pd = ibah->pd;
	err = pib_av_from_attr(hca, attr, &av->d);
	if (err) {
		kfree(av);
		return err;
	}
	old = av_replace(hca, ah, av);
	kfree_rcu(old, rcu);
	return 0;
}

int pib_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	rcu_read_lock();
	pib_av_to_attr(to_hca(ibah->device), &READ_ONCE(to_ah(ibah)->av)->d, attr);
	rcu_read_unlock();
	return 0;
}

int pib_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	struct pib_hca *hca = to_hca(ibah->device);
	struct pib_ah *ah = to_ah(ibah);

	pib_object_del(&hca->objects, &ah->obj);
	avn_erase(hca, ah->avn);
	kfree_rcu(ah->av, rcu);
	pib_quota_give(&hca->quota, to_pd(ibah->pd)->owner, PIB_OBJ_AH);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Injections. The HCA stays registered meanwhile. The configuration mutex is not held, except for
 * ports, which belong to the fabric: consumers that are told of an event may take their time.
 */
#include <linux/netlink.h>
#include <rdma/restrack.h>
#include "compat/compat.h"
#include "control/inject.h"
#include "control/registry.h"
#include "fabric/cable.h"
#include "fabric/impair.h"
#include "fabric/switch_inject.h"
#include "hca/cq.h"
#include "hca/hca.h"
#include "hca/port_event.h"
#include "hca/srq.h"
#include "transport/inject.h"

/*
 * Find an HCA and take a reference, for ib_device_put(). Return: NULL: there is none, or it is
 * being removed; the reason is in @extack.
 */
static struct pib_hca *get_hca(struct pib_net *pn, const char *name,
			       struct netlink_ext_ack *extack)
{
	struct pib_hca_ctl *ctl;
	struct pib_hca *hca;

	pib_net_lock(pn);
	ctl = pib_registry_require_hca(pn, name, extack);
	hca = ctl ? ctl->hca : NULL;
	if (hca && !ib_device_try_get(&hca->ib)) {
		NL_SET_ERR_MSG(extack, "the HCA is being removed");
		hca = NULL;
	}
	pib_net_unlock(pn);
	return hca;
}

/*
 * Find an object and take a reference, for rdma_restrack_put(). Return: NULL: there is none of that
 * number; the reason is in @extack.
 */
static struct rdma_restrack_entry *get_object(struct pib_hca *hca, enum rdma_restrack_type type,
					      u32 number, struct netlink_ext_ack *extack)
{
	struct rdma_restrack_entry *res = rdma_restrack_get_byid(&hca->ib, type, number);

	if (!IS_ERR(res))
		return res;
	if (type == RDMA_RESTRACK_CQ)
		NL_SET_ERR_MSG(extack, "the HCA has no completion queue of that number");
	else
		NL_SET_ERR_MSG(extack, "the HCA has no shared receive queue of that number");
	return NULL;
}

static int overrun_cq(struct pib_hca *hca, u32 number, struct netlink_ext_ack *extack)
{
	struct rdma_restrack_entry *res = get_object(hca, RDMA_RESTRACK_CQ, number, extack);
	struct pib_cq *cq;
	int err;

	if (!res)
		return -ENOENT;
	cq = to_cq(container_of(res, struct ib_cq, res));
	if (pib_inject_is_managements(hca, cq)) {
		err = -EOPNOTSUPP;
		NL_SET_ERR_MSG(extack, "the completion queue belongs to queue pairs 0 and 1");
	} else {
		err = pib_cq_overrun(cq);
		if (err)
			NL_SET_ERR_MSG(extack, "the completion queue has overflowed already");
	}
	rdma_restrack_put(res);
	return err;
}

static int fail_srq(struct pib_hca *hca, u32 number, enum ib_event_type event,
		    struct netlink_ext_ack *extack)
{
	struct rdma_restrack_entry *res = get_object(hca, RDMA_RESTRACK_SRQ, number, extack);
	struct pib_srq *srq;

	if (!res)
		return -ENOENT;
	srq = to_srq(container_of(res, struct ib_srq, res));
	pib_srq_raise(srq, event);
	if (event == IB_EVENT_SRQ_ERR)
		pib_inject_srq_qps(srq);
	rdma_restrack_put(res);
	return 0;
}

/*
 * Report that the HCA has failed, and let its queue pairs fail. The HCA continues as if its driver
 * had reset it at once: ports keep their state, and new queue pairs work.
 */
static int fail_hca(struct pib_hca *hca)
{
	pib_hca_event_dispatch(hca, 0, IB_EVENT_DEVICE_FATAL);
	pib_inject_all_qps(hca);
	return 0;
}

static int inject_hca(struct pib_hca *hca, const struct pib_inject_cfg *cfg,
		      struct netlink_ext_ack *extack)
{
	switch (cfg->kind) {
	case PIB_INJECT_KIND_CQ_OVERRUN:
		return overrun_cq(hca, cfg->object, extack);
	case PIB_INJECT_KIND_SRQ_ERROR:
		return fail_srq(hca, cfg->object, IB_EVENT_SRQ_ERR, extack);
	case PIB_INJECT_KIND_SRQ_LIMIT:
		return fail_srq(hca, cfg->object, IB_EVENT_SRQ_LIMIT_REACHED, extack);
	case PIB_INJECT_KIND_DEVICE_FATAL:
		return fail_hca(hca);
	case PIB_INJECT_KIND_VERB_ERROR:
		return pib_injects_add(&hca->injects, cfg, extack);
	default:
		return pib_inject_qp(hca, cfg, extack);
	}
}

/* Unplug the cable in a port and plug it in again. Context: pn->lock held. */
static int bounce_port(struct pib_net *pn, const struct pib_hca_ctl *ctl, u32 num,
		       struct netlink_ext_ack *extack)
{
	struct pib_kport *port;

	lockdep_assert_held(&pn->lock);
	if (!num || num > ctl->hca->nd.node.num_ports) {
		NL_SET_ERR_MSG(extack, "the HCA has no port of that number");
		return -ENOENT;
	}
	port = ctl->hca->nd.ports[num];
	if (!pib_kport_has_cable(port)) {
		NL_SET_ERR_MSG(extack, "the port has no cable");
		return -ENOTCONN;
	}
	if (READ_ONCE(port->p.phys) != PIB_PHYS_LINKUP) {
		NL_SET_ERR_MSG(extack, "the port is down already");
		return -EALREADY;
	}
	mutex_lock(&pn->link_lock);
	pib_cable_set_plugged(pn, port, false);
	pib_cable_set_plugged(pn, port, true);
	mutex_unlock(&pn->link_lock);
	return 0;
}

static int inject_port(struct pib_net *pn, const char *name, u32 num,
		       struct netlink_ext_ack *extack)
{
	struct pib_hca_ctl *ctl;
	int err = -ENODEV;

	pib_net_lock(pn);
	ctl = pib_registry_require_hca(pn, name, extack);
	if (ctl)
		err = bounce_port(pn, ctl, num, extack);
	pib_net_unlock(pn);
	return err;
}

static int inject_named(struct pib_net *pn, const char *name, const struct pib_inject_cfg *cfg,
			struct netlink_ext_ack *extack)
{
	struct pib_hca *hca;
	int err;

	if (cfg->kind == PIB_INJECT_KIND_PORT_ERROR)
		return inject_port(pn, name, cfg->object, extack);
	hca = get_hca(pn, name, extack);
	if (!hca)
		return -ENODEV;
	err = inject_hca(hca, cfg, extack);
	ib_device_put(&hca->ib);
	return err;
}

int pib_inject(struct pib_net *pn, const char *name, const struct pib_inject_cfg *cfg,
	       struct netlink_ext_ack *extack)
{
	int err;

	if (!pib_inject_is_rule(cfg->kind))
		return inject_named(pn, name, cfg, extack);
	pib_injects_prepare();
	err = inject_named(pn, name, cfg, extack);
	if (err <= 0)
		pib_injects_unprepare();
	return err;
}

int pib_inject_del(struct pib_net *pn, const char *name, u32 id, struct netlink_ext_ack *extack)
{
	struct pib_hca *hca = get_hca(pn, name, extack);
	int err;

	if (!hca)
		return -ENODEV;
	err = pib_injects_del(&hca->injects, id);
	if (err)
		NL_SET_ERR_MSG(extack, "the HCA has no injection of that number");
	ib_device_put(&hca->ib);
	return err;
}

int pib_inject_switch(struct pib_net *pn, const char *name, const struct pib_inject_cfg *cfg,
		      struct netlink_ext_ack *extack)
{
	struct pib_switch *sw;
	int err = -ENODEV;

	pib_injects_prepare();
	pib_net_lock(pn);
	sw = pib_registry_require_switch(pn, name, extack);
	if (sw)
		err = pib_switch_inject(sw, cfg, extack);
	pib_net_unlock(pn);
	if (err <= 0)
		pib_injects_unprepare();
	return err;
}

int pib_inject_switch_del(struct pib_net *pn, const char *name, u32 id,
			  struct netlink_ext_ack *extack)
{
	struct pib_switch *sw;
	int err = -ENODEV;

	pib_net_lock(pn);
	sw = pib_registry_require_switch(pn, name, extack);
	if (sw) {
		err = pib_injects_del(&sw->injects, id);
		if (err)
			NL_SET_ERR_MSG(extack, "the switch has no injection of that number");
	}
	pib_net_unlock(pn);
	return err;
}

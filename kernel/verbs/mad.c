// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ib_mad's view of the agents. ib_mad has dealt with the directed route's hop
 * fields. wc and grh are NULL when the kernel itself asks (counters in sysfs).
 */
#include <linux/ktime.h>
#include "proto/mad.h"
#include "proto/sma.h"
#include "hca/hca.h"
#include "hca/port_event.h"
#include "verbs/mad.h"

static bool mad_is_smp(const struct ib_mad *mad)
{
	return mad->mad_hdr.mgmt_class == IB_MGMT_CLASS_SUBN_LID_ROUTED ||
	       mad->mad_hdr.mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
}

/*
 * Tell ib_mad what to do next. SUCCESS alone passes the MAD up to agents and user space, with REPLY
 * @out is sent, with CONSUMED that was all.
 */
static int mad_result(enum pib_mad_result result)
{
	switch (result) {
	case PIB_MAD_REPLY:
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	case PIB_MAD_NONE:
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	default:
		return IB_MAD_RESULT_SUCCESS;
	}
}

int pib_process_mad(struct ib_device *ibdev, int mad_flags, u32 port_num, const struct ib_wc *wc,
		    const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		    size_t *out_size, u16 *out_pkey_index)
{
	struct pib_hca *hca = to_hca(ibdev);
	enum pib_mad_result result;
	unsigned long flags;
	struct pib_port *p;

	if (!port_num || port_num > hca->nd.node.num_ports)
		return IB_MAD_RESULT_FAILURE;
	p = &hca->nd.ports[port_num]->p;

	if (mad_is_smp(in)) {
		spin_lock_irqsave(&hca->nd.lock, flags);
		result = pib_sma_process(p, (const u8 *)in, (u8 *)out, ktime_get_ns(),
					 mad_flags & IB_MAD_IGNORE_MKEY);
		pib_node_dev_changed(&hca->nd, (const u8 *)in);
		spin_unlock_irqrestore(&hca->nd.lock, flags);
	} else {
		result = pib_node_dev_gsa(p, (const u8 *)in, (u8 *)out);
	}

	*out_size = sizeof(*out);
	pib_hca_events(hca);
	return mad_result(result);
}

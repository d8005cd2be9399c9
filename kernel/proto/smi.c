// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The subnet management interface of a switch (IBA 14.2.2): directed-route SMPs,
 * purely directed or with a LID-routed part before or after (then DrSLID or DrDLID
 * is not permissive).
 *
 *	requester --LIDs--> switch --directed path--> switch --LIDs--> responder
 *	          (DrSLID)         (Initial/ReturnPath)      (DrDLID)
 *
 * HopPointer counts along the path on the way out and back on the way home. The
 * node that receives notes its in port in ReturnPath. The node that sends moves
 * HopPointer.
 */
#include "mad.h"
#include "node.h"
#include "sma.h"
#include "smi.h"

/**
 * struct smi_step - one SMP in the switch
 * @sw: the switch
 * @in_port: port by which it came
 * @smp: the MAD to be sent on, changed in place
 * @by_lid: the SMP came by LID, not along the path
 * @out_port: result
 * @now: ns
 */
struct smi_step {
	struct pib_node *sw;
	u8 in_port;
	bool by_lid;
	u8 *smp;
	u8 *out_port;
	u64 now;
};

static bool is_up(const struct pib_node *sw, u8 port)
{
	return port <= sw->num_ports && pib_port_admits(sw->ports[port], 0);
}

/* Send @s->smp on along its path, by a port of this switch. */
static enum pib_mad_result smi_forward(struct smi_step *s, u8 port)
{
	if (port == 0 || !is_up(s->sw, port))
		return PIB_MAD_NONE;
	*s->out_port = port;
	return PIB_MAD_FORWARD;
}

/* The directed part ends here: send @s->smp on by LID. */
static enum pib_mad_result forward_lid(struct smi_step *s, u16 lid)
{
	u8 port;

	if (lid == 0 || lid >= PIB_LID_MCAST_FIRST || lid > s->sw->lft_top ||
	    pib_port_owns_lid(s->sw->ports[0], lid))
		return PIB_MAD_NONE;
	port = s->sw->lft[lid];
	return smi_forward(s, port);
}

/* C14-13, the way home. */
static enum pib_mad_result smi_homeward(struct smi_step *s)
{
	u8 *smp = s->smp;
	u8 ptr = smp[PIB_MAD_HOP_PTR], cnt = smp[PIB_MAD_HOP_CNT];

	if (ptr >= 2 && ptr <= cnt + 1) {
		smp[PIB_MAD_HOP_PTR] = --ptr;
		return smi_forward(s, smp[PIB_MAD_RETURN_PATH + ptr]);
	}
	if (ptr != 1)
		return PIB_MAD_NONE;
	/* The path ends here; no SM runs on a switch, so there is only the LID-routed part. */
	smp[PIB_MAD_HOP_PTR] = 0;
	if (pib_get16(smp + PIB_MAD_DR_SLID) == PIB_LID_PERMISSIVE)
		return PIB_MAD_NONE;
	return forward_lid(s, pib_get16(smp + PIB_MAD_DR_SLID));
}

/* The agent's own answer goes the way the request came: HopPointer is HopCount + 1 here. */
static enum pib_mad_result answer_home(struct smi_step *s)
{
	u8 *smp = s->smp;
	u8 cnt = smp[PIB_MAD_HOP_CNT];

	if (s->by_lid || cnt == 0) {
		if (!s->by_lid)
			smp[PIB_MAD_HOP_PTR] = 0;
		*s->out_port = PIB_PORT_BY_LID;
		return PIB_MAD_REPLY;
	}
	smp[PIB_MAD_HOP_PTR] = cnt;
	if (smi_forward(s, smp[PIB_MAD_RETURN_PATH + cnt]) == PIB_MAD_NONE)
		return PIB_MAD_NONE;
	return PIB_MAD_REPLY;
}

/* @s->smp has reached its node: ask the agent. */
static enum pib_mad_result smi_deliver(struct smi_step *s)
{
	u8 request[PIB_MAD_SIZE];
	enum pib_mad_result res;

	memcpy(request, s->smp, sizeof(request));
	res = pib_sma_process(s->sw->ports[s->in_port], request, s->smp, s->now, false);
	if (res != PIB_MAD_REPLY)
		return res;
	if (request[PIB_MAD_CLASS] == PIB_CLASS_SM_DR)
		return answer_home(s);
	*s->out_port = PIB_PORT_BY_LID;
	return PIB_MAD_REPLY;
}

/* The end of the directed part: the node is here, or at DrDLID. */
static enum pib_mad_result path_end(struct smi_step *s)
{
	u16 dlid = pib_get16(s->smp + PIB_MAD_DR_DLID);

	if (dlid == PIB_LID_PERMISSIVE || pib_port_owns_lid(s->sw->ports[0], dlid))
		return smi_deliver(s);
	return forward_lid(s, dlid);
}

/* C14-9, the way out. */
static enum pib_mad_result smi_outward(struct smi_step *s)
{
	u8 *smp = s->smp;
	u8 ptr = smp[PIB_MAD_HOP_PTR], cnt = smp[PIB_MAD_HOP_CNT];

	if (ptr == cnt + 1) {	/* 9:4 */
		s->by_lid = true;
		return smi_deliver(s);
	}
	if (ptr > cnt)
		return PIB_MAD_NONE;
	/* 9:1: the path starts here; from a neighbour it would have been moved on already. */
	if (ptr == 0 && cnt && s->in_port &&
	    pib_get16(smp + PIB_MAD_DR_SLID) == PIB_LID_PERMISSIVE)
		return PIB_MAD_NONE;
	if (ptr)
		smp[PIB_MAD_RETURN_PATH + ptr] = s->in_port;
	smp[PIB_MAD_HOP_PTR] = ptr + 1;
	if (ptr == cnt)		/* 9:3 */
		return path_end(s);
	return smi_forward(s, smp[PIB_MAD_INITIAL_PATH + ptr + 1]);	/* 9:1, 9:2 */
}

enum pib_mad_result pib_smi_rx(struct pib_node *sw, u8 in_port, const u8 *in, u8 *out,
			       u8 *out_port, u64 now)
{
	struct smi_step s = {
		.sw = sw, .in_port = in_port, .smp = out, .out_port = out_port, .now = now,
	};

	*out_port = PIB_PORT_BY_LID;
	if (!is_up(sw, in_port))
		return PIB_MAD_NONE;
	memcpy(out, in, PIB_MAD_SIZE);
	switch (in[PIB_MAD_CLASS]) {
	case PIB_CLASS_SM_LID:
		return smi_deliver(&s);
	case PIB_CLASS_SM_DR:
		if (in[PIB_MAD_HOP_CNT] > PIB_SMP_MAX_HOPS)
			return PIB_MAD_NONE;
		if (pib_get16(in + PIB_MAD_STATUS) & PIB_SMP_DIRECTION)
			return smi_homeward(&s);
		return smi_outward(&s);
	}
	return PIB_MAD_NONE;
}

/* LIDs of a forwarded SMP: permissive until the directed part is over. */
static void forward_lids(const struct pib_node *sw, const u8 *smp, u16 *slid, u16 *dlid)
{
	bool home = pib_get16(smp + PIB_MAD_STATUS) & PIB_SMP_DIRECTION;
	bool over = smp[PIB_MAD_HOP_PTR] == (home ? 0 : smp[PIB_MAD_HOP_CNT] + 1);

	*slid = PIB_LID_PERMISSIVE;
	*dlid = PIB_LID_PERMISSIVE;
	if (!over)
		return;
	*dlid = pib_get16(smp + (home ? PIB_MAD_DR_SLID : PIB_MAD_DR_DLID));
	*slid = sw->ports[0]->lid;
}

u16 pib_node_slid(const struct pib_node *sw, const struct pib_hdrs *req)
{
	return pib_port_owns_lid(sw->ports[0], req->dlid) ? req->dlid : sw->ports[0]->lid;
}

void pib_smi_lids(const struct pib_node *sw, const u8 *out, enum pib_mad_result result,
		  const struct pib_hdrs *req, u16 *slid, u16 *dlid)
{
	u8 cnt = out[PIB_MAD_HOP_CNT];

	if (result == PIB_MAD_FORWARD) {
		forward_lids(sw, out, slid, dlid);
		return;
	}
	*slid = PIB_LID_PERMISSIVE;
	*dlid = PIB_LID_PERMISSIVE;
	if (out[PIB_MAD_CLASS] == PIB_CLASS_SM_DR && cnt && out[PIB_MAD_HOP_PTR] == cnt)
		return;
	*slid = pib_node_slid(sw, req);
	*dlid = req->slid;
}

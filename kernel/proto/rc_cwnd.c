// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The window: the number of packets that a QP may have in flight. InfiniBand links
 * do not lose packets and need no window. The network below our links may drop some,
 * so the window opens with the acknowledgements that the path lets through, and
 * closes when the path loses something. RNR is no loss.
 *
 * Others share the network. So the window begins there, and grows behind a loss, by as many bytes
 * as that of a TCP flow whose segments fit an Ethernet (RFC 6928, RFC 5681), however large
 * packets are.
 */
#include "rc_int.h"

#define CWND_START		64
#define CWND_START_BYTES	16384
#define CWND_STEP_BYTES		1460	/* in a round trip */
#define CWND_MIN		2
#define CWND_MAX		(1U << 22)	/* packets: far from half of the PSNs */
#define CWND_MAX_BYTES		(4U << 20)
/* Unless a burst is half of that, since each packet may take a place of its own. */
#define CWND_MAX_PKTS		4096

static u32 cwnd_max(const struct pib_req *r)
{
	u32 max = r->cfg.max_window;

	if (!max)
		max = pib_max(pib_min(CWND_MAX_BYTES >> r->mtu_shift, CWND_MAX_PKTS), 2 * r->burst);
	return pib_min(pib_max(max, CWND_MIN), CWND_MAX);
}

void pib_cwnd_init(struct pib_req *r)
{
	u32 start = r->late_min ? pib_max(CWND_START_BYTES >> r->mtu_shift, CWND_MIN) :
			       pib_max(CWND_START, r->burst);

	r->cwnd = pib_min(start, cwnd_max(r));
	r->ssthresh = cwnd_max(r);
	r->acked_in_round = 0;
	r->recovering = false;
}

bool pib_req_is_narrow(const struct pib_req *r)
{
	return pib_req_burst_now(r) < r->burst;
}

/* Return: the round trips after which the window grows by cwnd_step(). */
static u32 cwnd_rounds(const struct pib_req *r)
{
	u32 steps = ((1U << r->mtu_shift) + CWND_STEP_BYTES / 2) / CWND_STEP_BYTES;

	return r->late_min ? pib_max(steps, 1) : 1;
}

static u32 cwnd_step(const struct pib_req *r)
{
	return pib_max(r->late_min ? CWND_STEP_BYTES >> r->mtu_shift : r->burst / 4, 1);
}

void pib_cwnd_acked(struct pib_req *r, u32 n, u32 inflight)
{
	if (r->recovering && pib_psn_diff(r->una_psn, r->recover_psn) >= 0)
		r->recovering = false;
	if (inflight + pib_req_burst_now(r) < r->cwnd / 2)
		return;		/* the window did not hold the sender back */
	if (r->cwnd < r->ssthresh) {
		r->cwnd += n;
	} else {
		r->acked_in_round += n;
		if (r->acked_in_round < cwnd_rounds(r) * r->cwnd)
			return;
		r->acked_in_round = 0;
		r->cwnd += cwnd_step(r);
	}
	r->cwnd = pib_min(r->cwnd, cwnd_max(r));
}

void pib_cwnd_lost(struct pib_req *r, bool timeout)
{
	if (r->recovering && !timeout)
		return;
	/* RFC 5681, 3.1: not cut again for what is lost again. */
	if (!r->recovering)
		r->ssthresh = pib_max(r->cwnd / 2, CWND_MIN);
	r->recovering = true;
	r->recover_psn = r->next_psn;
	r->cwnd = timeout ? CWND_MIN : r->ssthresh;
	r->acked_in_round = 0;
}

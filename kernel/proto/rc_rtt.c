// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The round trip of a path, and what it says is lost.
 *
 * An InfiniBand link loses next to nothing, and the Local ACK Timeout, of milliseconds to
 * seconds, is for what it does lose (9.7.6.1.3). A network below may lose the last packets of a
 * message, or what is sent again, and nothing that follows has the peer say so. So a QP whose
 * packets go over UDP measures how long answers take (RFC 6298), and asks when one is late: by
 * the last packet once more, which a responder acknowledges or answers with a NAK, whichever it
 * lacks (RFC 8985, 7); then by going back. That is no retry in the sense of 9.7.6.1.3 and spends
 * none. The timeout decides as ever.
 */
#include "rc_int.h"

#define PROBES_MAX	6	/* since the last progress */
#define ASKS		2	/* of them, before going back: the answer may just be late */
#define BACKOFF_MAX	6

void pib_rtt_init(struct pib_req *r)
{
	r->srtt = 0;
	r->rttvar = 0;
	r->probes = 0;
	r->backoff = 0;
	pib_rtt_stop(r);
}

void pib_rtt_stop(struct pib_req *r)
{
	r->timed_at = 0;
	r->probe_deadline = 0;
}

/*
 * Return: ns after which an answer is late, each time twice as long. That ends with an answer
 * whose question is known, not with any: else a round trip that has grown would never be measured
 * (RFC 6298, 5.7).
 */
static u64 rtt_late_ns(const struct pib_req *r)
{
	u64 late = r->srtt + (4 * r->rttvar > r->srtt ? 4 * r->rttvar : r->srtt);

	return (late > r->late_min ? late : r->late_min) << r->backoff;
}

static void rtt_arm(struct pib_req *r, u64 now)
{
	r->probe_deadline = r->late_min && r->cfg.timeout && r->srtt && r->probes < PROBES_MAX ?
				    now + rtt_late_ns(r) : 0;
}

void pib_rtt_asked(struct pib_req *r, bool again, u64 now)
{
	/* Nobody knows which of two alike packets is answered (Karn). */
	if (!r->timed_at && !again) {
		r->timed_at = now;
		r->timed_psn = r->asked_psn;
	}
	if (!r->probe_deadline)
		rtt_arm(r, now);
}

static void rtt_sample(struct pib_req *r, u64 ns)
{
	u64 off = ns > r->srtt ? ns - r->srtt : r->srtt - ns;

	r->backoff = 0;
	if (!r->srtt) {
		r->srtt = ns;
		r->rttvar = ns / 2;
		return;
	}
	r->rttvar = (3 * r->rttvar + off) / 4;
	r->srtt = (7 * r->srtt + ns) / 8;
}

void pib_rtt_progress(struct pib_req *r, u64 now)
{
	if (r->timed_at && pib_psn_diff(r->una_psn, r->timed_psn) >= 0) {
		rtt_sample(r, now > r->timed_at ? now - r->timed_at : 1);
		r->timed_at = 0;
	}
	r->probes = 0;
	r->probe_deadline = 0;
	if (pib_req_inflight(r) && pib_req_asked(r))
		rtt_arm(r, now);
}

void pib_rtt_excuse(struct pib_req *r, u64 now)
{
	r->timed_at = 0;
	if (r->probe_deadline)
		rtt_arm(r, now);
}

/*
 * Where a NAK has the QP gone back before, what was sent again is lost, and the peer does not
 * repeat the NAK (9.7.5.2.2).
 */
bool pib_rtt_late(struct pib_req *r)
{
	bool again = r->probes >= ASKS || r->nak_seen || r->gap_seen;

	pib_rtt_stop(r);
	r->probes++;
	if (r->backoff < BACKOFF_MAX)
		r->backoff++;
	return again;
}

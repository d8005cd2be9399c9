/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Declarations that the parts of the transport share among themselves. Functions that take a
 * requester or a responder run under the queue pair's lock.
 */
#ifndef PIB_PROTO_RC_INT_H
#define PIB_PROTO_RC_INT_H

#include "rc.h"
#include "rc_ring.h"
#include "wr.h"

#define PIB_MSG_MAX		0x80000000U	/* bytes of a message at most */

/* Count something out of the ordinary, and have env look at the counters. */
#define pib_rc_count(r, what) ((r)->stats.what++, (r)->news = true)

/* Return: @credits as the AETH encodes them, rounded down (9.7.7.2). Context: any. */
u8 pib_aeth_encode_credits(u32 credits);
/* Return: the credits that @code stands for; 0: 0 or PIB_AETH_NO_CREDITS. Context: any. */
u32 pib_aeth_decode_credits(u8 code);
/* Return: nanoseconds of the code of an RNR NAK timer (9.7.5.2.8). Context: any. */
u64 pib_aeth_rnr_ns(u8 code);

/* Return: circular distance that cannot be negative: up to 2^23 and beyond. Context: any. */
static inline u32 pib_psn_off(u32 psn, u32 base)
{
	return (psn - base) & PIB_PSN_MASK;
}

/* Return: the packets that were sent, since the last going back, and not acknowledged. */
static inline u32 pib_req_inflight(const struct pib_req *r)
{
	return pib_psn_off(r->snd_psn, r->una_psn);
}

/* Return: the packets that were ever sent and not acknowledged. */
static inline u32 pib_req_outstanding(const struct pib_req *r)
{
	return pib_psn_off(r->next_psn, r->una_psn);
}

/* Return: true if the peer owes an answer to a packet that asked for one. */
static inline bool pib_req_asked(const struct pib_req *r)
{
	return pib_psn_diff(r->asked_psn, r->una_psn) > 0;
}

/* Return: log2 of a path MTU in bytes, 8 to 12. Context: any. */
static inline u32 pib_mtu_shift(u32 pmtu)
{
	u32 shift = 8;

	while (shift < 12 && (1U << shift) < pmtu)
		shift++;
	return shift;
}

static inline u32 pib_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

static inline u32 pib_max(u32 a, u32 b)
{
	return a > b ? a : b;
}

/* Return: the bytes that the response to (a part of) @w carries in all. Context: any. */
static inline u32 pib_wqe_resp_len(const struct pib_swqe *w, const struct pib_wr_info *wi)
{
	return wi->kind & PIB_WRK_READ ? w->len : 0;
}

/*
 * Return: the most packets of a burst as the window is now. Where packets may be lost, four bursts
 * fit it: what is behind one that is lost tells.
 */
static inline u32 pib_req_burst_now(const struct pib_req *r)
{
	return r->late_min ? pib_min(r->burst, pib_max(1, r->cwnd / 4)) : r->burst;
}

/* Return: the packets of @w up to the end of the request of its packet @pos (see max_burst). */
static inline u32 pib_req_chunk_end(const struct pib_req *r, const struct pib_swqe *w, u32 pos)
{
	return pib_min(w->npkts, (pos / r->burst + 1) * r->burst);
}

/* rc_req.c, for rc_comp.c */

/* Skip finished work requests; report the failure that has become the oldest. */
void pib_req_settle(struct pib_req *r);
/* Send again from @una_psn on. */
void pib_req_rewind(struct pib_req *r);
/* Return: the time to wait for an answer now, ns (9.7.6.1.3); 0: without end. */
u64 pib_req_timeout_ns(const struct pib_req *r);
/* Ask for the acknowledgement of what was sent. Return: false: the last packet cannot ask. */
bool pib_req_ask(struct pib_req *r);

/* rc_cwnd.c: the window in packets, per QP */

/* Set the window as it is in the beginning, by the configuration. */
void pib_cwnd_init(struct pib_req *r);
/* Note that @n packets are acknowledged, of @inflight that were under way. */
void pib_cwnd_acked(struct pib_req *r, u32 n, u32 inflight);
/* Note that packets were lost; @timeout: that is concluded from the lack of any answer. */
void pib_cwnd_lost(struct pib_req *r, bool timeout);

/* rc_rtt.c: the round trip, where packets go over UDP */

/* Forget the round trip: the path is new. */
void pib_rtt_init(struct pib_req *r);
/* Nothing is on its way that can be waited for: time it no more. */
void pib_rtt_stop(struct pib_req *r);
/* Note that a packet has asked at @now, ns; @again: it was sent before. */
void pib_rtt_asked(struct pib_req *r, bool again, u64 now);
/* Note that una_psn has moved at @now, ns. */
void pib_rtt_progress(struct pib_req *r, u64 now);
/* Excuse the peer's silence up to @now, ns. */
void pib_rtt_excuse(struct pib_req *r, u64 now);
/* Note that an answer is late. Return: true if asking once more would not help. */
bool pib_rtt_late(struct pib_req *r);

/* rc_answer.c, for rc_resp.c */

/* Owe an ACK up to @psn. */
void pib_resp_ack(struct pib_resp *r, u32 psn);
/* Owe a NAK for a sequence error, unless one was sent for the expected packet (9.7.5.2.2). */
void pib_resp_nak_seq(struct pib_resp *r);
/* Owe an RNR NAK for want of a receive work request, or for PIB_RES_LATER (9.7.5.2.8). */
void pib_resp_nak_rnr(struct pib_resp *r);
void pib_resp_nak_later(struct pib_resp *r);
/* Owe the NAK at @psn that @res stands for (9.7.5.2); nothing more is taken in. */
void pib_resp_nak_fatal(struct pib_resp *r, u32 psn, enum pib_res res);
/* Drop an RNR or sequence error NAK that is not sent yet: the expected packet came. */
static inline void pib_resp_nak_clear(struct pib_resp *r)
{
	r->nak_due = false;
	r->nak_sent = false;
}

/* Return: true if there is room for a request that needs a resource. */
bool pib_resp_res_room(const struct pib_resp *r);
/* Take a resource for the answer of @npkts PSNs to the request r->h. Return: it, never NULL. */
struct pib_rd_res *pib_resp_res_add(struct pib_resp *r, u32 npkts);
/* Answer the request r->h, which came before, again (9.7.5.1). */
void pib_resp_duplicate(struct pib_resp *r);

#endif

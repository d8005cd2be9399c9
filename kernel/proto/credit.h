/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Windows of the data VLs of a link over UDP: how many bytes of each may be on their way to the
 * other end. proto/credit.c says how they are found, docs/wire-format.md has the datagram.
 */
#ifndef PIB_PROTO_CREDIT_H
#define PIB_PROTO_CREDIT_H

#include "dg.h"
#include "env.h"

#define PIB_CREDIT_VLS		15	/* VL15 has no window */
#define PIB_CREDIT_PACKET	256	/* bytes that a packet counts for beside its own */

#define PIB_CREDIT_ALONE	(4U << 20)	/* window of a VL that nothing else stands beside */
#define PIB_CREDIT_MOST		(2 * PIB_CREDIT_ALONE)	/* see pib_credits_overdrawn() */
#define PIB_CREDIT_BOUND	(2 * PIB_CREDIT_MOST)	/* of all: more counts as lost */
#define PIB_CREDIT_SHARE	(256U << 10)	/* of each of several VLs in use */
#define PIB_CREDIT_SPARE	(128U << 10)	/* see pib_credits_spare() */
#define PIB_CREDIT_USE_MS	100	/* in use for so long after it has sent or waited */
#define PIB_CREDIT_ASK_MS	1	/* to the first question, doubled for each repetition */
#define PIB_CREDIT_ASK_MAX_MS	64
#define PIB_CREDIT_PATIENCE_MS	1000	/* without an answer; then another window is sent */
#define PIB_CREDIT_PATIENCE_DOUBLES	2	/* that time grows to four times as much */
#define PIB_CREDIT_OLD_MS	8000	/* nobody waits for an answer any longer */
#define PIB_CREDIT_STUCK_MS	250	/* see pib_credits_stuck() */
#define PIB_CREDIT_ANSWER_US	50	/* from answer to answer, on an average */
#define PIB_CREDIT_ANSWERS_MOST	64	/* at once */
/* Limits for questions that are newer neither than the last datagram nor than the VL's last one. */
#define PIB_CREDIT_OLD_ANSWER_US	1000
#define PIB_CREDIT_OLD_ANSWERS_MOST	8

#define PIB_CREDIT_LAG	1024	/* one that is further behind the last one is counted as bad */

#define PIB_CREDIT_WIRE_LEN	176	/* as a hello, whose authentication it has */

/**
 * struct pib_credit_msg - a datagram CREDIT: what its sender has taken in
 * @nonce: sender's session
 * @peer_nonce: receiver's session
 * @seq: number of this datagram among the sender's of the session; rises by 1
 * @answers: number of the last question of the receiver that has come, 0: none
 * @vl: of a question: the VL that waits; of an answer: that of the question
 * @asks: it is a question: an answer is wanted
 * @is_answer: it is the answer, made when the question came
 * @is_shared: of a question: several VLs of its sender are in use, so each has a narrow window
 * @taken: by VL: bytes taken in since the session began, modulo 2^32
 */
struct pib_credit_msg {
	u64 nonce;
	u64 peer_nonce;
	u32 seq;
	u32 answers;
	u8 vl;
	bool asks;
	bool is_answer;
	bool is_shared;
	u32 taken[PIB_CREDIT_VLS];
};

/**
 * pib_credit_parse() - read a datagram CREDIT
 * @m: result
 * @to_link_id: result: link id of the receiver
 * @buf: the datagram
 * @len: bytes of the datagram
 *
 * Authentication is not checked.
 *
 * Context: any.
 * Return: false: length, version or type.
 */
bool pib_credit_parse(struct pib_credit_msg *m, u32 *to_link_id, const u8 *buf, size_t len);

/**
 * struct pib_credit_use - which VLs of one direction are in use
 * @last: number of the last one and 1; 0: there was none
 * @last_until: ns: for so long it is in use
 * @several_until: ns: for so long there are others beside it
 */
struct pib_credit_use {
	u8 last;
	u64 last_until;
	u64 several_until;
};

/**
 * struct pib_credit_vl - a VL at both ends of the link; bytes since the session began, modulo 2^32
 * @sent: sent by this end
 * @taken: of these, the peer has said that it has taken them in
 * @lost: sent, and neither taken in nor on the way any more. Below zero: the peer has taken in more
 *	than was sent, for the network has doubled it, or it came though it was believed lost
 * @beside: what of those on the way was sent by pib_credits_sent_beside(): in each part of the way
 *	there is as large a share of it
 * @asked: @sent when the present question was first made
 * @in: taken in by this end
 * @told: of these, the peer was told
 * @guessed: @lost is a guess: the peer has not answered for long, or too much was sent
 * @question: number of the first datagram that asks for the VL and has no answer yet, 0: there is
 *	none
 * @heard_then: number of the last datagram that had come when @question was asked
 * @heard: number of the peer's newest question for the VL
 * @ask_ms: time to the next question
 * @patience: times that the time to wait for an answer has been doubled
 * @closed_at: ns: while the VL waits: since when
 * @since: ns: time of @question
 * @moved_at: ns: when the present wait has begun, or the peer has last taken in more
 * @ask_at: ns: while the VL waits: time of the next question
 */
struct pib_credit_vl {
	u32 sent;
	u32 taken;
	u32 lost;
	u32 beside;
	u32 asked;
	u32 in;
	u32 told;
	bool guessed;
	u32 question;
	u32 heard_then;
	u32 heard;
	u32 ask_ms;
	u32 patience;
	u64 closed_at;
	u64 since;
	u64 moved_at;
	u64 ask_at;
};

/**
 * struct pib_credit_budget - answers that may be given
 * @until: ns: so far the time goes that answers have used up
 */
struct pib_credit_budget {
	u64 until;
};

/**
 * struct pib_credits - windows of one end of a link, in one session
 * @nonce: own session
 * @peer_nonce: the peer's session
 * @vl: by VL
 * @tx: use of the VLs by which this end sends
 * @rx: use of the VLs by which the peer sends
 * @waits: bit per VL whose window was closed when something was to be sent
 * @opened: bit per VL for which something waited, and that was opened by a datagram at last
 * @off: the peer does not answer, and has never been heard: it has no windows
 * @answers_vl: VL of the question @answers
 * @seq: number of the last datagram sent
 * @heard: number of the last one heard
 * @answers: number of the peer's last question
 * @fresh: for questions that are newer than all that was heard, or than their VL's others
 * @stale: for the others: who repeats what he has seen on the way does not use up @fresh
 */
struct pib_credits {
	u64 nonce;
	u64 peer_nonce;
	struct pib_credit_vl vl[PIB_CREDIT_VLS];
	struct pib_credit_use tx;
	struct pib_credit_use rx;
	u16 waits;
	u16 opened;
	bool off;
	u8 answers_vl;
	u32 seq;
	u32 heard;
	u32 answers;
	struct pib_credit_budget fresh;
	struct pib_credit_budget stale;
};

/* Set up @c for a pair of sessions. Context: under the lock of what holds @c; so all below. */
void pib_credits_init(struct pib_credits *c, u64 nonce, u64 peer_nonce);

/* Return: the bytes for which @packets of @bytes on the wire (LRH to ICRC) count. Context: any. */
static inline u32 pib_credit_bytes(u32 bytes, u32 packets)
{
	return bytes + packets * PIB_CREDIT_PACKET;
}

/* ---- the sender ---- */

/*
 * Return: true if something may be sent on @vl; VL15 has no window. @now: ns, may be some
 * milliseconds late.
 */
bool pib_credits_open(struct pib_credits *c, u8 vl, u64 now);
/*
 * Note that something waits for @vl, which is closed. Until it is open the caller looks again and
 * again, and sends the questions that pib_credits_due() wants. Return: true if nothing waited for
 * @vl before.
 */
bool pib_credits_wait(struct pib_credits *c, u8 vl, u64 now);
/*
 * Return: true if @vl has little on its way while others are in use. Queues that they have filled
 * must not hold it back.
 */
bool pib_credits_spare(const struct pib_credits *c, u8 vl, u64 now);
/*
 * Return: true if so much is on its way that what cannot wait here is dropped: far more than the
 * widest window, for what could wait may have been let out by several CPUs at once.
 */
bool pib_credits_overdrawn(const struct pib_credits *c, u8 vl);
/* As pib_credits_overdrawn(), for pib_credits_sent_beside(): only what was sent by that counts. */
bool pib_credits_overdrawn_beside(const struct pib_credits *c, u8 vl);
/*
 * Return: true if something waits for @vl, and the VL has been closed for so long that datagrams do
 * not wait for it: their senders have others to send to, to whom the way may be free.
 */
bool pib_credits_stuck(const struct pib_credits *c, u8 vl, u64 now);

/**
 * struct pib_credit_view - how a VL stands, for people to see
 * @window: bytes that may be on their way to the peer
 * @on_way: bytes that are, as far as this end knows
 * @waits: something waits for the window to open
 * @unbounded: the peer does not answer, and has never been heard: the window holds nothing back
 */
struct pib_credit_view {
	u32 window;
	u32 on_way;
	bool waits;
	bool unbounded;
};

/*
 * Get how @vl stands. Context: under the lock of what holds @c.
 *
 * Return: false: nothing was sent on it in this session, nor does anything wait.
 */
bool pib_credits_view(const struct pib_credits *c, u8 vl, u64 now, struct pib_credit_view *v);
/* Note that @bytes, see pib_credit_bytes(), are sent on @vl. */
void pib_credits_sent(struct pib_credits *c, u8 vl, u32 bytes, u64 now);
/*
 * Note that @bytes are sent on @vl that wait for no window: what passes through, and management.
 * They take away half of the window at most, so that what does wait gets its turn, however many
 * there are.
 */
void pib_credits_sent_beside(struct pib_credits *c, u8 vl, u32 bytes, u64 now);
/*
 * Return: a VL for which a question is due: pib_credits_build(), PIB_CREDIT_ASKS; -1: none is.
 * The question must not overtake data of that VL that was sent before.
 */
int pib_credits_due(struct pib_credits *c, u64 now);
#define PIB_CREDIT_NEVER	(~0ULL)
/* Return: the time at which a VL that waits has its next question, ns; PIB_CREDIT_NEVER. */
u64 pib_credits_deadline(const struct pib_credits *c);

/* ---- the receiver ---- */

/*
 * Note that @bytes, see pib_credit_bytes(), of @vl are taken in. Return: true if the peer is to be
 * told now.
 */
bool pib_credits_take(struct pib_credits *c, u8 vl, u32 bytes, u64 now);
/* Return: true if the peer was not told of all that was taken in. */
bool pib_credits_owes(const struct pib_credits *c);

/* ---- both ---- */

enum pib_credit_kind {
	PIB_CREDIT_TELLS,
	PIB_CREDIT_ASKS,
	PIB_CREDIT_ANSWERS,
};

/**
 * pib_credits_build() - write a datagram CREDIT, which is to be sent
 * @c: this end
 * @to_link_id: the peer's link id
 * @kind: why
 * @vl: PIB_CREDIT_ASKS: the VL that waits
 * @now: ns
 * @out: result, not authenticated yet
 */
void pib_credits_build(struct pib_credits *c, u32 to_link_id, enum pib_credit_kind kind, u8 vl,
		       u64 now, u8 out[PIB_CREDIT_WIRE_LEN]);

enum pib_credit_do {
	PIB_CREDIT_DO_ANSWER = 1 << 0,	/* pib_credits_build(), PIB_CREDIT_ANSWERS */
	PIB_CREDIT_DO_OPEN = 1 << 1,	/* VLs that waited may send: @opened */
	PIB_CREDIT_DO_REJECT = 1 << 2,	/* it does not fit, or not all of it: count it */
};

/* Take in @m, which is authentic. Return: enum pib_credit_do. */
u32 pib_credits_rx(struct pib_credits *c, const struct pib_credit_msg *m, u64 now);

#endif

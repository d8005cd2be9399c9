// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Windows of VLs, after the credits of the IBA (7.9). As there both ends count from the beginning
 * of the session, so a datagram that gets lost is made up for by the next one, and what a peer says
 * is a sum, not a permission to be used up.
 *
 * Bytes that were sent, and were neither taken in nor lost, are on their way. They are bounded not
 * by the room of a buffer, but because others want to get by: the queues between the two ends (a
 * qdisc, routers, the peer's socket) have no lanes. So the window of a VL that is alone is wide,
 * and those of several are narrow, which share what is between the ends evenly. It is narrow for
 * a while after another VL has sent, so nobody has to say when one ends.
 *
 * Some of what leaves waits for no window. It is counted, for the receiver counts it, but apart. Of
 * what has come nobody says of which kind it was, so each kind has as large a part in it as in all
 * that was on the way.
 *
 * Bytes that got lost would close the window for good. In the IBA the receiver takes over
 * the sender's count (7.9.4.2): what has not come before that was sent is lost. So the sender asks,
 * for each VL by a datagram that goes the way of its data, which is one flow, and the answer says
 * what had come of it until then. VLs may go different ways, so it says nothing of the others.
 * Where a question overtakes data, that is taken for lost until it comes, and windows are wider.
 * A repetition may come behind data that was sent after the question.
 * A peer that does not answer at all gets no windows, as before there were any.
 *
 * A lie that says that more was taken in than was sent, or than was said before, opens a window at
 * most. One whose number is ahead of the honest ones has these ignored. Both end with the answer to
 * the next question, whose number nobody can have forged before it was asked: what it says is the
 * sum, whatever was said before. The answers can be forged by those who see the questions: then a
 * VL is open that ought to be closed, or asks again.
 */
#include "credit.h"

enum credit_off {
	OFF_SEQ = PIB_DG_HDR_LEN,
	OFF_ANSWERS = 12,
	OFF_NONCE = 16,
	OFF_PEER_NONCE = 24,
	OFF_FLAGS = 32,
	OFF_VL = 33,
	OFF_TAKEN = 36,
};

#define FLAG_ASKS	1
#define FLAG_ANSWERS	2
#define FLAG_SHARED	4

static u64 to_ns(u32 ms)
{
	return ms * PIB_NSEC_PER_MSEC;
}

/* ---- the datagram ---- */

static void credit_build(const struct pib_credit_msg *m, u32 to_link_id,
			 u8 out[PIB_CREDIT_WIRE_LEN])
{
	const struct pib_dg dg = {
		.version = PIB_DG_VERSION,
		.type = PIB_DG_CREDIT,
		.link_id = to_link_id,
	};
	u32 vl;

	memset(out, 0, PIB_CREDIT_WIRE_LEN);
	pib_dg_build(&dg, out);
	pib_put32(out + OFF_SEQ, m->seq);
	pib_put32(out + OFF_ANSWERS, m->answers);
	pib_put64(out + OFF_NONCE, m->nonce);
	pib_put64(out + OFF_PEER_NONCE, m->peer_nonce);
	out[OFF_FLAGS] = (m->asks ? FLAG_ASKS : 0) | (m->is_answer ? FLAG_ANSWERS : 0) |
			 (m->is_shared ? FLAG_SHARED : 0);
	out[OFF_VL] = m->vl;
	for (vl = 0; vl < PIB_CREDIT_VLS; vl++)
		pib_put32(out + OFF_TAKEN + 4 * vl, m->taken[vl]);
}

bool pib_credit_parse(struct pib_credit_msg *m, u32 *to_link_id, const u8 *buf, size_t len)
{
	struct pib_dg dg;
	u32 vl;

	if (len != PIB_CREDIT_WIRE_LEN)
		return false;
	pib_dg_parse(&dg, buf);
	if (dg.version != PIB_DG_VERSION || dg.type != PIB_DG_CREDIT)
		return false;
	*to_link_id = dg.link_id;
	m->seq = pib_get32(buf + OFF_SEQ);
	m->answers = pib_get32(buf + OFF_ANSWERS);
	m->nonce = pib_get64(buf + OFF_NONCE);
	m->peer_nonce = pib_get64(buf + OFF_PEER_NONCE);
	m->asks = buf[OFF_FLAGS] & FLAG_ASKS;
	m->is_answer = buf[OFF_FLAGS] & FLAG_ANSWERS;
	m->is_shared = buf[OFF_FLAGS] & FLAG_SHARED;
	m->vl = buf[OFF_VL];
	for (vl = 0; vl < PIB_CREDIT_VLS; vl++)
		m->taken[vl] = pib_get32(buf + OFF_TAKEN + 4 * vl);
	return true;
}

void pib_credits_init(struct pib_credits *c, u64 nonce, u64 peer_nonce)
{
	memset(c, 0, sizeof(*c));
	c->nonce = nonce;
	c->peer_nonce = peer_nonce;
}

/* ---- use ---- */

static bool is_several(const struct pib_credit_use *u, u64 now)
{
	return now < u->several_until;
}

/* Return: true if it was another VL that was used last. */
static bool is_other(const struct pib_credit_use *u, u8 vl)
{
	return u->last && u->last != vl + 1;
}

static void note_use(struct pib_credit_use *u, u8 vl, u32 ms, u64 now)
{
	u64 until = now + to_ns(ms);

	if (is_other(u, vl))
		u->several_until = until;
	u->last = vl + 1;
	u->last_until = until;
}

/* Return: true if VLs other than @vl are in use. */
static bool is_beside(const struct pib_credit_use *u, u8 vl, u64 now)
{
	return is_several(u, now) || (is_other(u, vl) && now < u->last_until);
}

/* ---- the sender ---- */

static u32 on_the_way(const struct pib_credit_vl *v)
{
	return v->sent - v->taken - v->lost;
}

/* A VL that waits is in use, though it has not sent for long. */
static bool is_shared(const struct pib_credits *c, u8 vl, u64 now)
{
	return is_beside(&c->tx, vl, now) || c->waits & ~(1U << vl);
}

static u32 credit_window(const struct pib_credits *c, u8 vl, u64 now)
{
	return is_shared(c, vl, now) ? PIB_CREDIT_SHARE : PIB_CREDIT_ALONE;
}

/* Return: what is on the way of those that wait for the window. */
static u32 bytes_waited(const struct pib_credit_vl *v)
{
	return on_the_way(v) - v->beside;
}

static u32 lesser_of(u32 a, u32 b)
{
	return a < b ? a : b;
}

/*
 * Others, that do not wait, take half of the window at most. If all that they have on the way
 * counted, they could keep it closed for ever.
 */
static bool window_is_open(const struct pib_credits *c, u8 vl, u64 now)
{
	u32 window = credit_window(c, vl, now);
	const struct pib_credit_vl *v = &c->vl[vl];

	return c->off || bytes_waited(v) + lesser_of(v->beside, window / 2) < window;
}

/* Have as large a part of @beside on the way still as of all that was on the way, @was. */
static void share_out_beside(struct pib_credit_vl *v, u32 was)
{
	u32 is = on_the_way(v);

	if (is < was)
		v->beside = div64_u64((u64)v->beside * is, was);
}

/*
 * @vl is in use: what waited for it is about to be sent, if not at once. Otherwise another VL,
 * whose sender comes first, would find itself alone after each wait that is longer than
 * PIB_CREDIT_USE_MS, as those on slow paths are.
 */
static void resume_vl(struct pib_credits *c, u8 vl, u64 now)
{
	c->waits &= ~(1U << vl);
	note_use(&c->tx, vl, PIB_CREDIT_USE_MS, now);
}

bool pib_credits_open(struct pib_credits *c, u8 vl, u64 now)
{
	if (vl >= PIB_CREDIT_VLS)
		return true;
	if (!window_is_open(c, vl, now))
		return false;
	if (c->waits >> vl & 1)
		resume_vl(c, vl, now);
	return true;
}

/* Before the peer is asked it may speak by itself. */
bool pib_credits_wait(struct pib_credits *c, u8 vl, u64 now)
{
	struct pib_credit_vl *v = &c->vl[vl];

	if (c->waits >> vl & 1)
		return false;
	/* The wait in which that was asked has ended without an answer. */
	if (now >= v->since + to_ns(PIB_CREDIT_OLD_MS))
		v->question = 0;
	v->closed_at = now;
	v->moved_at = now;
	v->ask_at = now + to_ns(PIB_CREDIT_ASK_MS);
	c->waits |= 1U << vl;
	return true;
}

bool pib_credits_stuck(const struct pib_credits *c, u8 vl, u64 now)
{
	return vl < PIB_CREDIT_VLS && c->waits >> vl & 1 && !window_is_open(c, vl, now) &&
	       now >= c->vl[vl].closed_at + to_ns(PIB_CREDIT_STUCK_MS);
}

bool pib_credits_spare(const struct pib_credits *c, u8 vl, u64 now)
{
	return vl < PIB_CREDIT_VLS && (is_shared(c, vl, now) || is_other(&c->tx, vl)) &&
	       on_the_way(&c->vl[vl]) < PIB_CREDIT_SPARE;
}

bool pib_credits_overdrawn(const struct pib_credits *c, u8 vl)
{
	return vl < PIB_CREDIT_VLS && !c->off && bytes_waited(&c->vl[vl]) >= PIB_CREDIT_MOST;
}

bool pib_credits_overdrawn_beside(const struct pib_credits *c, u8 vl)
{
	return vl < PIB_CREDIT_VLS && !c->off && c->vl[vl].beside >= PIB_CREDIT_MOST;
}

bool pib_credits_view(const struct pib_credits *c, u8 vl, u64 now, struct pib_credit_view *v)
{
	v->window = credit_window(c, vl, now);
	v->on_way = on_the_way(&c->vl[vl]);
	v->waits = c->waits >> vl & 1;
	v->unbounded = c->off;
	return c->vl[vl].sent || v->waits;
}

static void count_sent(struct pib_credits *c, u8 vl, u32 bytes, bool beside, u64 now)
{
	struct pib_credit_vl *v;

	if (vl >= PIB_CREDIT_VLS)
		return;
	v = &c->vl[vl];
	note_use(&c->tx, vl, PIB_CREDIT_USE_MS, now);
	/* Bytes that nobody takes in must not come round to where they seem to be none. */
	if (on_the_way(v) >= PIB_CREDIT_BOUND) {
		v->lost += bytes;
		v->guessed = true;
	} else if (beside) {
		v->beside += bytes;
	}
	v->sent += bytes;
}

void pib_credits_sent(struct pib_credits *c, u8 vl, u32 bytes, u64 now)
{
	count_sent(c, vl, bytes, false, now);
}

void pib_credits_sent_beside(struct pib_credits *c, u8 vl, u32 bytes, u64 now)
{
	count_sent(c, vl, bytes, true, now);
}

/*
 * Return: true if the answer comes too late. Where a VL that waits goes on, the question may still
 * stand behind data, but not for ever: a peer could say so byte by byte.
 */
static bool is_overdue(const struct pib_credit_vl *v, u64 now)
{
	return v->question && v->ask_ms == PIB_CREDIT_ASK_MAX_MS &&
	       (now >= v->moved_at + (to_ns(PIB_CREDIT_PATIENCE_MS) << v->patience) ||
		now >= v->since + to_ns(PIB_CREDIT_OLD_MS));
}

/*
 * The peer has not answered for long. Its answers may be slow: a window more is sent, and the next
 * time it is waited for longer. One that has never been heard has no answers to give.
 */
static void give_up(struct pib_credits *c, u32 vl, u64 now)
{
	struct pib_credit_vl *v = &c->vl[vl];

	c->off = !c->heard;
	resume_vl(c, vl, now);
	v->lost = v->sent - v->taken;
	v->beside = 0;
	v->guessed = true;
	v->question = 0;
	if (v->patience < PIB_CREDIT_PATIENCE_DOUBLES)
		v->patience++;
}

/* Return: the VL that waits whose next question comes first; -1: nothing waits. */
static int next_asker(const struct pib_credits *c)
{
	int next = -1;
	u32 vl;

	for (vl = 0; vl < PIB_CREDIT_VLS; vl++)
		if (c->waits >> vl & 1 && (next < 0 || c->vl[vl].ask_at < c->vl[next].ask_at))
			next = vl;
	return next;
}

int pib_credits_due(struct pib_credits *c, u64 now)
{
	int next;
	u32 vl;

	for (vl = 0; vl < PIB_CREDIT_VLS; vl++)
		if (c->waits >> vl & 1 && is_overdue(&c->vl[vl], now))
			give_up(c, vl, now);
	if (c->off)
		c->waits = 0;
	next = next_asker(c);
	return next >= 0 && now >= c->vl[next].ask_at ? next : -1;
}

u64 pib_credits_deadline(const struct pib_credits *c)
{
	int next = next_asker(c);

	return next >= 0 ? c->vl[next].ask_at : PIB_CREDIT_NEVER;
}

/* ---- the receiver ---- */

/* The peer is told four times in a window. It is told at once that its windows are narrow now. */
bool pib_credits_take(struct pib_credits *c, u8 vl, u32 bytes, u64 now)
{
	bool was_several = is_several(&c->rx, now), several;
	struct pib_credit_vl *v;

	if (vl >= PIB_CREDIT_VLS)
		return false;
	v = &c->vl[vl];
	v->in += bytes;
	/* Longer than the sender does, for it must not be told too seldom. */
	note_use(&c->rx, vl, 2 * PIB_CREDIT_USE_MS, now);
	several = is_several(&c->rx, now);
	if (several && !was_several)
		return true;
	return v->in - v->told >= (several ? PIB_CREDIT_SHARE : PIB_CREDIT_ALONE) / 4;
}

bool pib_credits_owes(const struct pib_credits *c)
{
	u32 vl;

	for (vl = 0; vl < PIB_CREDIT_VLS; vl++)
		if (c->vl[vl].in != c->vl[vl].told)
			return true;
	return false;
}

/* ---- questions and answers ---- */

/* A question is repeated, with another number, until it is answered. */
static void credit_ask(struct pib_credits *c, struct pib_credit_vl *v, u64 now)
{
	if (v->question) {
		v->ask_ms = 2 * v->ask_ms < PIB_CREDIT_ASK_MAX_MS ? 2 * v->ask_ms :
								   PIB_CREDIT_ASK_MAX_MS;
	} else {
		v->question = c->seq;
		v->heard_then = c->heard;
		v->since = now;
		v->moved_at = now;
		v->ask_ms = PIB_CREDIT_ASK_MS;
		v->asked = v->sent;
	}
	v->ask_at = now + to_ns(v->ask_ms);
}

/* The number of a datagram is never 0. */
static u32 next_seq(u32 seq)
{
	return seq + 1 ? seq + 1 : 1;
}

void pib_credits_build(struct pib_credits *c, u32 to_link_id, enum pib_credit_kind kind, u8 vl,
		       u64 now, u8 out[PIB_CREDIT_WIRE_LEN])
{
	struct pib_credit_msg m = { .nonce = c->nonce, .peer_nonce = c->peer_nonce };
	u32 i;

	c->seq = next_seq(c->seq);
	m.seq = c->seq;
	m.answers = c->answers;
	m.asks = kind == PIB_CREDIT_ASKS;
	m.is_answer = kind == PIB_CREDIT_ANSWERS;
	if (m.asks) {
		m.vl = vl;
		m.is_shared = is_shared(c, vl, now);
		credit_ask(c, &c->vl[vl], now);
	} else if (m.is_answer) {
		m.vl = c->answers_vl;
	}
	for (i = 0; i < PIB_CREDIT_VLS; i++) {
		m.taken[i] = c->vl[i].in;
		c->vl[i].told = c->vl[i].in;
	}
	credit_build(&m, to_link_id, out);
}

/* No less than nothing is on the way. */
static void bound_losses(struct pib_credit_vl *v)
{
	if ((s32)on_the_way(v) < 0)
		v->lost = v->sent - v->taken;
}

/* Learn how much of a VL the peer has taken in. Return: false: that cannot be. */
static bool learn_taken(struct pib_credit_vl *v, u32 taken)
{
	/* A loss below 0 was seen before: more comes in than is sent, or than is counted there. */
	bool fits = (s32)(v->sent - taken) >= ((s32)v->lost < 0 ? (s32)v->lost : 0);
	u32 was = on_the_way(v);

	if ((s32)(taken - v->taken) < 0)
		return false;
	v->taken = taken;
	bound_losses(v);
	share_out_beside(v, was);
	return fits;
}

/*
 * Learn what all VLs say. The question of one that waits is put off if it goes on, and @lost
 * is no guess.
 *
 * Return: false: some of it cannot be.
 */
static bool learn_all(struct pib_credits *c, const struct pib_credit_msg *m, u64 now)
{
	bool all_fit = true;
	u32 vl;

	for (vl = 0; vl < PIB_CREDIT_VLS; vl++) {
		struct pib_credit_vl *v = &c->vl[vl];
		u32 before = v->taken;
		bool fits = learn_taken(v, m->taken[vl]);

		all_fit &= fits;
		if (v->taken == before)
			continue;
		v->moved_at = now;
		if (fits && !v->question && !v->guessed)
			v->ask_at = now + to_ns(PIB_CREDIT_ASK_MS);
	}
	return all_fit;
}

/* Return: true if @m answers a question of this end that has no answer yet, or its repetition. */
static bool answers_question(const struct pib_credits *c, const struct pib_credit_msg *m)
{
	u32 question = m->vl < PIB_CREDIT_VLS ? c->vl[m->vl].question : 0;

	return question && m->is_answer && m->answers - question <= c->seq - question;
}

/*
 * @m answers a question. Return: true if a number that had come before that was forged. The peer
 * answers when the question has come: its number is higher than those of all that it sent before.
 */
static bool shows_forgery(const struct pib_credits *c, const struct pib_credit_msg *m)
{
	return (s32)(m->seq - c->vl[m->vl].heard_then) <= 0;
}

/*
 * A question is answered. Bytes that were sent before it, and were not among the @taken ones when
 * it came, are lost. If more was taken in, the network has doubled something. But what came before
 * a repetition may have been sent after the question: then the answer says nothing.
 */
static void judge_losses(struct pib_credit_vl *v, u32 answers, u32 taken)
{
	if (answers == v->question || v->sent == v->asked || (s32)(v->asked - taken) >= 0)
		v->lost = v->asked - taken;
	bound_losses(v);
}

/*
 * An answer says the sum. Of what was said before it nothing holds that goes beyond what was sent,
 * for then all honest sums would be lower than that. As much is on the way as before, until losses
 * are judged. An answer that others have overtaken may say less than is known: that is kept.
 */
static void correct_taken(struct pib_credit_vl *v, u32 taken)
{
	if ((s32)(v->taken - v->sent) > 0)
		v->lost += v->taken - taken;
	else if ((s32)(taken - v->taken) < 0)
		return;
	v->taken = taken;
}

static void take_answer(struct pib_credits *c, const struct pib_credit_msg *m, u64 now)
{
	struct pib_credit_vl *v = &c->vl[m->vl];
	u32 was = on_the_way(v);

	correct_taken(v, m->taken[m->vl]);
	judge_losses(v, m->answers, m->taken[m->vl]);
	share_out_beside(v, was);
	v->guessed = false;
	v->question = 0;
	v->patience = 0;
	v->ask_at = now + to_ns(PIB_CREDIT_ASK_MS);
}

/* Return: bit per VL that waited and may send. None is alone since another one may, too. */
static u16 end_waits(struct pib_credits *c, u64 now)
{
	u16 opens = 0;
	u32 vl;

	for (vl = 0; vl < PIB_CREDIT_VLS; vl++)
		if (c->waits >> vl & 1 && window_is_open(c, vl, now))
			opens |= 1U << vl;
	for (vl = 0; vl < PIB_CREDIT_VLS; vl++)
		if (opens >> vl & 1)
			resume_vl(c, vl, now);
	return opens;
}

/* Return: true if @m, which is old, is taken for late: nobody need have sent it again. */
static bool was_overtaken(const struct pib_credits *c, const struct pib_credit_msg *m)
{
	return m->seq != c->heard && c->heard - m->seq <= PIB_CREDIT_LAG;
}

/* Learn what @m says, which is the last one now. Return: enum pib_credit_do. */
static u32 learn_credit(struct pib_credits *c, const struct pib_credit_msg *m, u64 now)
{
	u32 vl;

	c->heard = m->seq;
	/* Forged ones are not kept. */
	for (vl = 0; vl < PIB_CREDIT_VLS; vl++)
		if ((s32)(c->vl[vl].heard - c->heard) > 0)
			c->vl[vl].heard = c->heard;
	c->off = false;
	return learn_all(c, m, now) ? 0 : PIB_CREDIT_DO_REJECT;
}

/* Return: false: a peer that asks so often gets no answer now. Honest ones ask again. */
static bool may_answer(struct pib_credits *c, bool is_fresh, u64 now)
{
	const u64 each = PIB_NSEC_PER_USEC *
			 (is_fresh ? PIB_CREDIT_ANSWER_US : PIB_CREDIT_OLD_ANSWER_US);
	const u32 most = is_fresh ? PIB_CREDIT_ANSWERS_MOST : PIB_CREDIT_OLD_ANSWERS_MOST;
	struct pib_credit_budget *b = is_fresh ? &c->fresh : &c->stale;

	if (b->until < now)
		b->until = now;
	if (b->until - now >= most * each)
		return false;
	b->until += each;
	return true;
}

/*
 * Return: true if @m is a question, and newer than those of its VL that were heard. A closed VL has
 * nothing but its questions to send, which come one behind the other when a way that stood still
 * goes on. By then what goes the ways of others may have overtaken all of them.
 */
static bool is_next_question(const struct pib_credits *c, const struct pib_credit_msg *m)
{
	return m->asks && m->vl < PIB_CREDIT_VLS && (s32)(m->seq - c->vl[m->vl].heard) > 0;
}

/*
 * Take in a question. If the peer has narrow windows it is told as often as those want, though all
 * that comes in may be of one VL.
 *
 * Return: enum pib_credit_do, but no PIB_CREDIT_DO_ANSWER if the peer asks too often.
 */
static u32 take_question(struct pib_credits *c, const struct pib_credit_msg *m, bool is_fresh,
			 u64 now)
{
	if (m->vl >= PIB_CREDIT_VLS)
		return PIB_CREDIT_DO_REJECT;
	if (is_fresh)
		c->vl[m->vl].heard = m->seq;
	/* Of an honest one that was overtaken the sender asks again, or has an answer. */
	if (!may_answer(c, is_fresh, now))
		return was_overtaken(c, m) ? 0 : PIB_CREDIT_DO_REJECT;
	c->answers = m->seq;
	c->answers_vl = m->vl;
	if (m->is_shared)
		c->rx.several_until = now + to_ns(2 * PIB_CREDIT_USE_MS);
	return PIB_CREDIT_DO_ANSWER;
}

/*
 * One forged number ahead would shut out all that are honest. So a question is answered whatever
 * its number is, though old ones only now and then, and where an answer shows that the last number
 * was forged, the next ones go on from the answer's.
 */
u32 pib_credits_rx(struct pib_credits *c, const struct pib_credit_msg *m, u64 now)
{
	bool answers = answers_question(c, m);
	bool is_fresh = (s32)(m->seq - c->heard) > 0, is_next = is_next_question(c, m);
	u32 todo = 0;
	u16 opens;

	if (m->nonce != c->peer_nonce || m->peer_nonce != c->nonce)
		return PIB_CREDIT_DO_REJECT;
	if (is_fresh || (answers && shows_forgery(c, m)))
		todo = learn_credit(c, m, now);
	else if (!answers && !is_next && !was_overtaken(c, m))
		todo = PIB_CREDIT_DO_REJECT;
	/* No other datagram: it may tell of bytes that came after the question. */
	if (answers)
		take_answer(c, m, now);
	if (m->asks)
		todo |= take_question(c, m, is_fresh || is_next, now);
	opens = end_waits(c, now);
	if (!opens)
		return todo;
	c->opened = opens;
	return todo | PIB_CREDIT_DO_OPEN;
}

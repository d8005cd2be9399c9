// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Cables with faults.
 *
 * What goes into a lane is cut into packets, since a bad cable harms single
 * ones; proto/fault.c says what happens to each. What survives waits in the lane
 * until it is due and is then taken out by a timer, in order, on whatever CPU: so
 * one lane feeds another without recursion. A receiver that is full blocks the
 * lane, a lane that is full blocks the sender: nothing is lost but by choice.
 *
 * A packet that the cable has lost or damaged is noticed by the port that it
 * leads to, as in hardware (16.1.3.5): the damaged bits are symbol errors, the
 * packet is a receive error. One whose bits nobody can tell from a good one's
 * goes on as it is.
 */
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/slab.h>
#include "burst.h"
#include "cable.h"
#include "compat/compat.h"
#include "engine.h"
#include "fabric.h"
#include "fault.h"
#include "port.h"
#include "proto/icrc.h"
#include "qp.h"

#define PIB_LANE_MAX		4096
#define PIB_LANE_BUDGET		256
#define PIB_LANE_BUFFER		(1 << 20)	/* bytes that wait for a slow cable */
#define PIB_LANE_RETRY_NS	(20 * PIB_NSEC_PER_USEC)
#define PIB_LANE_HELD_NS	(2 * PIB_NSEC_PER_MSEC)

static enum pib_fault_lot burst_lot(const struct pib_burst *b)
{
	return b->h.dqpn <= 1 ? PIB_FAULT_MGMT : PIB_FAULT_DATA;
}

/* ---- what happens to a packet ---- */

/* The bytes of a burst of one packet, LRH to ICRC; kfree(). NULL: no memory or no payload. */
static u8 *packet_bytes(struct pib_burst *b, u32 len)
{
	u32 pad = pib_hdrs_pad(b->len), crc;
	u8 *p = kmalloc(len, GFP_ATOMIC | __GFP_NOWARN);
	size_t n;

	if (!p)
		return NULL;
	n = pib_hdrs_build(&b->h, b->len, p);
	if (!n || n + b->len + pad + PIB_ICRC_LEN != len || pib_burst_read(b, 0, p + n, b->len)) {
		kfree(p);
		return NULL;
	}
	memset(p + n + b->len, 0, pad);
	crc = pib_icrc_update(pib_icrc_headers(p, n), p + n, b->len + pad);
	pib_icrc_store(crc, p + len - PIB_ICRC_LEN);
	return p;
}

/* Is it a packet with the right ICRC? If so it is taken apart into @b, which has no payload. */
static bool packet_parse(struct pib_burst *b, const u8 *p, u32 len)
{
	size_t hdr_len, payload_len;
	u32 crc, body;

	if (pib_hdrs_parse(&b->h, p, len, len, &hdr_len, &payload_len))
		return false;
	body = payload_len + pib_hdrs_pad(payload_len);
	crc = pib_icrc_update(pib_icrc_headers(p, hdr_len), p + hdr_len, body);
	if (!pib_icrc_match(crc, p + hdr_len + body))
		return false;
	b->len = payload_len;
	b->pmtu = max_t(u32, payload_len, 1);
	if (!payload_len)
		return true;
	b->linear = kmemdup(p + hdr_len, payload_len, GFP_ATOMIC | __GFP_NOWARN);
	b->payload = b->linear ? PIB_PAYLOAD_LINEAR : PIB_PAYLOAD_NONE;
	return b->linear;
}

/*
 * Damage @bits bits of @b, as the receiver reads them. Returns a packet in which no
 * CRC shows it; NULL: it was found out, or there was no memory to do it.
 */
static struct pib_burst *damage(struct pib_lane *lane, struct pib_burst *b, u32 bits)
{
	u32 len = pib_hdrs_wire_len(&b->h, b->len);
	u8 *p = packet_bytes(b, len);
	struct pib_burst *d = NULL;
	u16 vcrc;

	if (!p)
		return NULL;
	vcrc = pib_vcrc(p, len);
	pib_fault_damage(&lane->fault, burst_lot(b), bits, p, len);
	if (pib_vcrc(p, len) == vcrc)
		d = pib_burst_alloc();
	if (d && !packet_parse(d, p, len)) {
		pib_burst_free(d);
		d = NULL;
	}
	kfree(p);
	return d;
}

static void count_error(struct pib_lane *lane, u32 symbols)
{
	pib_kport_count(lane->port, symbol_err, symbols);
	pib_kport_count(lane->port, rcv_err, 1);
}

static void lane_add(struct pib_lane *lane, struct pib_burst *b, u64 due)
{
	b->due = due;
	list_add_tail(&b->entry, &lane->queue);
	lane->queued++;
}

static void release_held(struct pib_lane *lane, u64 due)
{
	if (lane->held)
		lane_add(lane, lane->held, due);
	lane->held = NULL;
}

/* @b has survived; it leaves in its turn, behind those that it lets pass. */
static void lane_put(struct pib_lane *lane, struct pib_burst *b, u8 behind, u64 due)
{
	if (behind) {
		release_held(lane, due);
		lane->held = b;
		lane->overtakers = behind;
		lane->held_until = due + PIB_LANE_HELD_NS;
		return;
	}
	lane_add(lane, b, due);
	if (lane->held && !--lane->overtakers)
		release_held(lane, due);
}

/* One packet. Those that are done with are put on @gone. */
static void lane_packet(struct pib_lane *lane, struct pib_burst *b, u64 now,
			struct list_head *gone)
{
	u32 bytes = pib_hdrs_wire_len(&b->h, b->len);
	u64 due = pib_fault_arrival(&lane->fault, bytes, now);
	struct pib_burst *more;
	struct pib_fate fate;

	lockdep_assert_held(&lane->lock);
	pib_fault_packet(&lane->fault, burst_lot(b), bytes, &fate);
	if (fate.lost || fate.bits) {
		count_error(lane, fate.lost ? 1 : fate.bits);
		more = fate.lost ? NULL : damage(lane, b, fate.bits);
		if (more)
			lane_put(lane, more, 0, due);
		list_add_tail(&b->entry, gone);
		return;
	}
	more = fate.twice ? pib_burst_clone(b) : NULL;
	lane_put(lane, b, fate.behind, due);
	if (more)
		lane_put(lane, more, 0, due);
}

/* Cut @b into packets and deal with each. */
static void lane_packets(struct pib_lane *lane, struct pib_burst *b, u64 now,
			 struct list_head *gone)
{
	struct pib_burst *p;
	u32 i;

	if (b->npkts == 1) {
		lane_packet(lane, b, now, gone);
		return;
	}
	for (i = 0; i < b->npkts; i++) {
		p = pib_burst_slice(b, i, 1);
		if (p)
			lane_packet(lane, p, now, gone);
		else
			pib_kport_count(lane->port, buffer_overrun, 1);
	}
	list_add_tail(&b->entry, gone);
}

/* ---- the lane ---- */

static void free_all(struct list_head *gone)
{
	struct pib_burst *b, *tmp;

	list_for_each_entry_safe(b, tmp, gone, entry)
		pib_burst_free(b);
}

/* Have the timer fire when the next burst is due, but not before @not_before. */
static void lane_arm(struct pib_lane *lane, u64 not_before)
{
	struct pib_burst *b = list_first_entry_or_null(&lane->queue, struct pib_burst, entry);
	u64 at;

	lockdep_assert_held(&lane->lock);
	if (lane->busy || (!b && !lane->held))
		return;
	at = b ? b->due : lane->held_until;
	hrtimer_start(&lane->timer, ns_to_ktime(max(at, not_before)), HRTIMER_MODE_ABS_SOFT);
}

static bool lane_full(const struct pib_lane *lane, u64 now)
{
	return lane->queued >= PIB_LANE_MAX ||
	       pib_fault_backlog(&lane->fault, now) >= PIB_LANE_BUFFER;
}

u32 pib_lane_fill(struct pib_lane *lane)
{
	u64 backlog;

	spin_lock(&lane->lock);
	backlog = pib_fault_backlog(&lane->fault, ktime_get_ns());
	spin_unlock(&lane->lock);
	return min_t(u64, backlog / (PIB_LANE_BUFFER / 256), 256);
}

int pib_lane_enter(struct pib_lane *lane, struct pib_burst *b)
{
	u64 now = ktime_get_ns();
	LIST_HEAD(gone);

	spin_lock(&lane->lock);
	/* Management has a buffer of its own (VL15), which is never full here. */
	if (burst_lot(b) == PIB_FAULT_DATA && lane_full(lane, now)) {
		spin_unlock(&lane->lock);
		return -EBUSY;
	}
	if (pib_fault_picks(&lane->fault.cfg)) {
		lane_packets(lane, b, now, &gone);
	} else {
		lane->fault.counts.packets += b->npkts;
		lane_add(lane, b, pib_fault_arrival(&lane->fault, pib_burst_wire_bytes(b), now));
	}
	lane_arm(lane, 0);
	spin_unlock(&lane->lock);
	free_all(&gone);
	return 0;
}

static struct pib_burst *lane_take(struct pib_lane *lane, u64 now)
{
	struct pib_burst *b;

	lockdep_assert_held(&lane->lock);
	if (lane->held && lane->held_until <= now)
		release_held(lane, now);
	b = list_first_entry_or_null(&lane->queue, struct pib_burst, entry);
	if (!b || b->due > now)
		return NULL;
	list_del(&b->entry);
	lane->queued--;
	return b;
}

/* Let go of the lock while @b goes on. Returns false if it was refused: it is the next one still. */
static bool lane_deliver(struct pib_lane *lane, struct pib_burst *b)
{
	int err;

	spin_unlock(&lane->lock);
	err = pib_port_arrive(lane->port, b);
	spin_lock(&lane->lock);
	if (!err)
		return true;
	list_add(&b->entry, &lane->queue);
	lane->queued++;
	return false;
}

/* Softirqs off. */
static void lane_run(struct pib_lane *lane, u64 now)
{
	unsigned int budget = PIB_LANE_BUDGET;
	struct pib_burst *b;
	u64 retry = 0;

	rcu_read_lock();
	spin_lock(&lane->lock);
	if (!lane->busy) {
		lane->busy = true;
		while (budget-- && (b = lane_take(lane, now))) {
			if (lane_deliver(lane, b))
				continue;
			retry = now + PIB_LANE_RETRY_NS;
			break;
		}
		lane->busy = false;
		lane_arm(lane, retry);
	}
	spin_unlock(&lane->lock);
	rcu_read_unlock();
	pib_engine_run();
}

static enum hrtimer_restart lane_timer(struct hrtimer *t)
{
	lane_run(container_of(t, struct pib_lane, timer), ktime_get_ns());
	return HRTIMER_NORESTART;
}

static void lane_init(struct pib_lane *lane, struct pib_kport *port,
		      const struct pib_fault_cfg *cfg, unsigned int direction)
{
	lane->port = port;
	spin_lock_init(&lane->lock);
	INIT_LIST_HEAD(&lane->queue);
	pib_fault_init(&lane->fault, cfg, direction);
	hrtimer_setup(&lane->timer, lane_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
}

/* Nobody enters it any more. What is on its way arrives now, if the port takes it. */
static void lane_stop(struct pib_lane *lane)
{
	struct pib_burst *b;

	hrtimer_cancel(&lane->timer);
	local_bh_disable();
	rcu_read_lock();
	spin_lock(&lane->lock);
	release_held(lane, 0);
	while ((b = lane_take(lane, U64_MAX))) {
		if (lane_deliver(lane, b))
			continue;
		list_del(&b->entry);
		lane->queued--;
		pib_kport_count(lane->port, buffer_overrun, b->npkts);
		pib_burst_free(b);
	}
	spin_unlock(&lane->lock);
	rcu_read_unlock();
	pib_engine_run();
	local_bh_enable();
}

void pib_lane_counts(struct pib_lane *lane, struct pib_fault_counts *counts)
{
	spin_lock_bh(&lane->lock);
	*counts = lane->fault.counts;
	spin_unlock_bh(&lane->lock);
}

/* ---- flapping ---- */

static void flap_work(struct work_struct *work)
{
	struct pib_faults *fs = container_of(work, struct pib_faults, work.work);
	u32 ms;

	mutex_lock(&fs->pn->link_lock);
	fs->out = !fs->out;
	pib_cable_set_plugged(fs->pn, fs->end[0], !fs->out);
	ms = fs->out ? fs->flap.down_ms : fs->flap.up_ms;
	mutex_unlock(&fs->pn->link_lock);
	queue_delayed_work(pib_fabric_wq, &fs->work, msecs_to_jiffies(ms));
}

/* The cable stays as it is just now. */
static void flap_stop(struct pib_faults *fs)
{
	cancel_delayed_work_sync(&fs->work);
	fs->flap.up_ms = 0;
	fs->flap.down_ms = 0;
}

/* ---- the faults of a link ---- */

static bool faults_any(const struct pib_fault_cfg *cfg, const struct pib_flap *flap)
{
	return pib_fault_picks(cfg) || cfg->latency || cfg->rate || flap->up_ms;
}

static void faults_merge(const struct pib_fault_req *req, struct pib_fault_cfg *cfg,
			 struct pib_flap *flap)
{
#define TAKE(bit, field) do { if (req->given & (bit)) cfg->field = req->cfg.field; } while (0)
	TAKE(PIB_FAULT_SEED, seed);
	TAKE(PIB_FAULT_LOSS, loss);
	TAKE(PIB_FAULT_DUPLICATE, duplicate);
	TAKE(PIB_FAULT_REORDER, reorder);
	TAKE(PIB_FAULT_BIT_ERRORS, bit_errors);
	TAKE(PIB_FAULT_LATENCY, latency);
	TAKE(PIB_FAULT_RATE, rate);
#undef TAKE
	if (req->given & PIB_FAULT_FLAP)
		*flap = req->flap;
}

static struct pib_faults *faults_alloc(struct pib_net *pn, struct pib_kport *port,
				       const struct pib_fault_cfg *cfg,
				       const struct pib_flap *flap)
{
	struct pib_faults *fs = kzalloc(sizeof(*fs), GFP_KERNEL);
	unsigned int i;

	if (!fs)
		return NULL;
	fs->cfg = *cfg;
	fs->flap = *flap;
	fs->pn = pn;
	pib_cable_ends(port, fs->end);
	for (i = 0; i < ARRAY_SIZE(fs->end) && fs->end[i]; i++)
		lane_init(&fs->lane[i], fs->end[i], cfg, i);
	INIT_DELAYED_WORK(&fs->work, flap_work);
	return fs;
}

static void faults_publish(struct pib_faults *fs)
{
	bool lanes = pib_fault_picks(&fs->cfg) || fs->cfg.latency || fs->cfg.rate;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fs->end) && fs->end[i]; i++) {
		fs->end[i]->faults = fs;
		rcu_assign_pointer(fs->end[i]->lane, lanes ? &fs->lane[i] : NULL);
	}
	if (fs->flap.up_ms)
		queue_delayed_work(pib_fabric_wq, &fs->work, msecs_to_jiffies(fs->flap.up_ms));
}

/* Nobody sees @fs any more. */
static void faults_free(struct pib_faults *fs)
{
	unsigned int i;

	flap_stop(fs);
	synchronize_rcu();
	for (i = 0; i < ARRAY_SIZE(fs->end) && fs->end[i]; i++)
		lane_stop(&fs->lane[i]);
	kfree(fs);
}

static void faults_unpublish(struct pib_faults *fs)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fs->end) && fs->end[i]; i++) {
		fs->end[i]->faults = NULL;
		RCU_INIT_POINTER(fs->end[i]->lane, NULL);
	}
}

void pib_faults_drop(struct pib_kport *port)
{
	struct pib_faults *fs = port->faults;

	if (!fs)
		return;
	lockdep_assert_held(&fs->pn->lock);
	faults_unpublish(fs);
	faults_free(fs);
}

/* A cable that flapping has left out is plugged in again. */
static void faults_plug(struct pib_faults *fs)
{
	struct pib_net *pn = fs->pn;

	mutex_lock(&pn->link_lock);
	if (fs->out)
		pib_cable_set_plugged(pn, fs->end[0], true);
	fs->out = false;
	mutex_unlock(&pn->link_lock);
}

void pib_faults_stop_flap(struct pib_kport *port)
{
	if (!port->faults)
		return;
	lockdep_assert_held(&port->faults->pn->lock);
	flap_stop(port->faults);
	port->faults->out = false;
}

int pib_faults_set(struct pib_net *pn, struct pib_kport *port, const struct pib_fault_req *req)
{
	struct pib_faults *old = port->faults, *fs = NULL;
	struct pib_fault_cfg cfg = { .seed = get_random_u32() };
	struct pib_flap flap = {};

	lockdep_assert_held(&pn->lock);
	if (old) {
		cfg.seed = old->cfg.seed;
		if (!req->anew) {
			cfg = old->cfg;
			flap = old->flap;
		}
	}
	faults_merge(req, &cfg, &flap);
	if (faults_any(&cfg, &flap)) {
		fs = faults_alloc(pn, port, &cfg, &flap);
		if (!fs)
			return -ENOMEM;
	}
	if (old) {
		flap_stop(old);
		faults_plug(old);
		faults_unpublish(old);
	}
	if (fs)
		faults_publish(fs);
	if (old)
		faults_free(old);
	return 0;
}

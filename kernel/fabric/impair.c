// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The faults of a link: their configuration, the pipes that apply them to packets (fabric/pipe.c),
 * and cables that come loose again and again.
 */
#include <linux/random.h>
#include <linux/slab.h>
#include "fabric/cable.h"
#include "core/net.h"
#include "fabric/impair.h"
#include "fabric/port.h"

/* ---- flapping ---- */

static void flap_work(struct work_struct *work)
{
	struct pib_impair *fs = container_of(work, struct pib_impair, work.work);
	u32 ms;

	mutex_lock(&fs->pn->link_lock);
	fs->out = !fs->out;
	pib_cable_set_plugged(fs->pn, fs->end[0], !fs->out);
	ms = fs->out ? fs->flap.down_ms : fs->flap.up_ms;
	mutex_unlock(&fs->pn->link_lock);
	queue_delayed_work(pib_wq, &fs->work, msecs_to_jiffies(ms));
}

/* Stop flapping and leave the cable as it is now, in or out. */
static void flap_stop(struct pib_impair *fs)
{
	cancel_delayed_work_sync(&fs->work);
	fs->flap.up_ms = 0;
	fs->flap.down_ms = 0;
}

/* ---- the faults of a link ---- */

static bool needs_pipes(const struct pib_fault_cfg *cfg)
{
	return pib_fault_picks(cfg) || cfg->latency || cfg->rate || cfg->buffer;
}

static bool impair_any(const struct pib_fault_cfg *cfg, const struct pib_flap *flap)
{
	return needs_pipes(cfg) || flap->up_ms;
}

static void impair_merge(const struct pib_fault_req *req, struct pib_fault_cfg *cfg,
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
	TAKE(PIB_FAULT_BUFFER, buffer);
#undef TAKE
	if (req->given & PIB_FAULT_FLAP)
		*flap = req->flap;
}

static struct pib_impair *impair_alloc(struct pib_net *pn, struct pib_kport *port,
				       const struct pib_fault_cfg *cfg,
				       const struct pib_flap *flap)
{
	struct pib_impair *fs = kzalloc(sizeof(*fs), GFP_KERNEL);
	unsigned int i;

	if (!fs)
		return NULL;
	fs->cfg = *cfg;
	fs->flap = *flap;
	fs->pn = pn;
	pib_cable_ends(port, fs->end);
	for (i = 0; i < ARRAY_SIZE(fs->end) && fs->end[i]; i++)
		pib_pipe_init(&fs->pipe[i], fs->end[!i], fs->end[i], cfg, i);
	INIT_DELAYED_WORK(&fs->work, flap_work);
	return fs;
}

static void impair_publish(struct pib_impair *fs)
{
	bool pipes = needs_pipes(&fs->cfg);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fs->end) && fs->end[i]; i++) {
		fs->end[i]->faults = fs;
		rcu_assign_pointer(fs->end[i]->pipe, pipes ? &fs->pipe[i] : NULL);
	}
	if (fs->flap.up_ms)
		queue_delayed_work(pib_wq, &fs->work, msecs_to_jiffies(fs->flap.up_ms));
}

/* Free @fs, which is unpublished. Sleeps for a grace period. */
static void impair_free(struct pib_impair *fs)
{
	unsigned int i;

	flap_stop(fs);
	synchronize_rcu();
	for (i = 0; i < ARRAY_SIZE(fs->end) && fs->end[i]; i++)
		pib_pipe_stop(&fs->pipe[i]);
	kfree(fs);
}

static void impair_unpublish(struct pib_impair *fs)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fs->end) && fs->end[i]; i++) {
		fs->end[i]->faults = NULL;
		RCU_INIT_POINTER(fs->end[i]->pipe, NULL);
	}
}

void pib_impair_drop(struct pib_kport *port)
{
	struct pib_impair *fs = port->faults;

	if (!fs)
		return;
	lockdep_assert_held(&fs->pn->lock);
	impair_unpublish(fs);
	impair_free(fs);
}

/* Plug the cable in again if flapping has left it out. */
static void impair_plug(struct pib_impair *fs)
{
	struct pib_net *pn = fs->pn;

	mutex_lock(&pn->link_lock);
	if (fs->out)
		pib_cable_set_plugged(pn, fs->end[0], true);
	fs->out = false;
	mutex_unlock(&pn->link_lock);
}

void pib_impair_stop_flap(struct pib_kport *port)
{
	if (!port->faults)
		return;
	lockdep_assert_held(&port->faults->pn->lock);
	flap_stop(port->faults);
	port->faults->out = false;
}

int pib_impair_set(struct pib_net *pn, struct pib_kport *port, const struct pib_fault_req *req)
{
	struct pib_impair *old = port->faults, *fs = NULL;
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
	impair_merge(req, &cfg, &flap);
	if (impair_any(&cfg, &flap)) {
		fs = impair_alloc(pn, port, &cfg, &flap);
		if (!fs)
			return -ENOMEM;
	}
	if (old) {
		flap_stop(old);
		impair_plug(old);
		impair_unpublish(old);
	}
	if (fs)
		impair_publish(fs);
	if (old)
		impair_free(old);
	return 0;
}

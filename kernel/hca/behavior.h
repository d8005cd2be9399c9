/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Behaviors: choices of an HCA, other than its default ones, where the IBA leaves the choice to it
 * (docs/behaviors.md). Each behavior is a bit of enum pib_behavior, and is tested for where it
 * makes a difference.
 */
#ifndef PIB_HCA_BEHAVIOR_H
#define PIB_HCA_BEHAVIOR_H

#include <linux/compiler.h>
#include <linux/types.h>
#include "uapi/linux/pib.h"

struct pib_cqe;
struct pib_sge;

/**
 * struct pib_behaviors_cfg - behaviors that are asked for
 * @set: bits of enum pib_behavior
 * @seed: seed of their random choices
 */
struct pib_behaviors_cfg {
	u32 set;
	u64 seed;
};

/**
 * struct pib_behaviors - the behaviors of an HCA
 * @set: bits of enum pib_behavior; read without a lock
 * @seed: seed of their random choices
 * @drawn: state of the sequence that begins with @seed
 */
struct pib_behaviors {
	u32 set;
	u64 seed;
	atomic64_t drawn;
};

/**
 * pib_behaves() - tell whether an HCA has a behavior
 * @b: the HCA's behaviors
 * @which: enum pib_behavior
 *
 * Context: any.
 * Return: true: it has.
 */
static inline bool pib_behaves(const struct pib_behaviors *b, u32 which)
{
	return unlikely(READ_ONCE(b->set) & which);
}

/**
 * pib_behaviors_set() - set the behaviors of an HCA
 * @b: the HCA's behaviors
 * @cfg: the new behaviors
 *
 * Operations that have begun end by the behaviors that were set before.
 *
 * Context: any; the caller serialises.
 */
void pib_behaviors_set(struct pib_behaviors *b, const struct pib_behaviors_cfg *cfg);

/**
 * pib_behavior_draw() - draw the next random choice
 * @b: the HCA's behaviors
 * @n: number of choices
 *
 * The same seed gives the same choices in their order.
 *
 * Context: any.
 * Return: the choice, 0 .. @n - 1.
 */
u32 pib_behavior_draw(struct pib_behaviors *b, u32 n);
/**
 * pib_behavior_scramble() - fill at random the fields that a completion with an error does not
 * define (11.4.2.1), if the HCA does so: PIB_BEHAVIOR_ERROR_WC_NOISE
 * @b: the HCA's behaviors
 * @cqe: the completion
 *
 * Context: any.
 */
void pib_behavior_scramble(struct pib_behaviors *b, struct pib_cqe *cqe);
/**
 * pib_behavior_stretch() - have elements of 0 bytes stand for 2^31
 * @sge: private copy of a scatter or gather list
 * @num: number of elements
 *
 * Context: any.
 */
void pib_behavior_stretch(struct pib_sge *sge, u32 num);

#endif

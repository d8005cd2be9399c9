// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/kernel.h>
#include <rdma/ib_verbs.h>
#include "hca/behavior.h"
#include "proto/splitmix.h"
#include "uapi/rdma/pib-abi.h"

#define SGE_ZERO_MEANS	0x80000000U

void pib_behaviors_set(struct pib_behaviors *b, const struct pib_behaviors_cfg *cfg)
{
	WRITE_ONCE(b->seed, cfg->seed);
	atomic64_set(&b->drawn, cfg->seed);
	WRITE_ONCE(b->set, cfg->set);
}

/* Choices of several CPUs are one sequence. */
static u64 draw_bits(struct pib_behaviors *b)
{
	return pib_splitmix(atomic64_add_return(PIB_SPLITMIX_STEP, &b->drawn));
}

u32 pib_behavior_draw(struct pib_behaviors *b, u32 n)
{
	return pib_splitmix_below(draw_bits(b), n);
}

/* Opcodes that programs look for: one of another kind misleads a program that relies on it. */
static const u8 opcodes[] = {
	IB_WC_SEND, IB_WC_RDMA_WRITE, IB_WC_RDMA_READ, IB_WC_COMP_SWAP, IB_WC_FETCH_ADD,
	IB_WC_RECV, IB_WC_RECV_RDMA_WITH_IMM,
};

void pib_behavior_scramble(struct pib_behaviors *b, struct pib_cqe *cqe)
{
	u64 bits, more;

	if (!pib_behaves(b, PIB_BEHAVIOR_ERROR_WC_NOISE))
		return;
	bits = draw_bits(b);
	more = draw_bits(b);
	cqe->opcode = opcodes[pib_behavior_draw(b, ARRAY_SIZE(opcodes))];
	cqe->byte_len = bits;
	cqe->ex = bits >> 32;
	cqe->src_qp = more & 0xFFFFFF;
	cqe->slid = more >> 24;
	cqe->pkey_index = more >> 40;
	cqe->sl = more >> 56 & 0xF;
	cqe->dlid_path_bits = more >> 60;
	cqe->flags ^= bits & (PIB_CQE_GRH | PIB_CQE_WITH_IMM | PIB_CQE_WITH_INV);
}

void pib_behavior_stretch(struct pib_sge *sge, u32 num)
{
	u32 i;

	for (i = 0; i < num; i++)
		if (!sge[i].length)
			sge[i].length = SGE_ZERO_MEANS;
}

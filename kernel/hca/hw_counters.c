// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "hca/hw_counters.h"
#include "core/refuse.h"

static const struct rdma_stat_desc descs[PIB_STATS] = {
#define X(id, text) [PIB_STAT_##id].name = text,
	PIB_STAT_LIST(X)
#undef X
};

struct rdma_hw_stats *pib_stats_alloc(void)
{
	return rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

void pib_stats_sum(const struct pib_stats __percpu *stats, struct rdma_hw_stats *sum)
{
	int cpu, i;
	u64 n;

	/* ib_core reads values while they are brought up to date: they never go back */
	for (i = 0; i < PIB_STATS; i++) {
		n = 0;
		for_each_possible_cpu(cpu)
			n += READ_ONCE(per_cpu_ptr(stats, cpu)->v[i]);
		sum->value[i] = n;
	}
}

struct rdma_hw_stats *pib_alloc_hw_port_stats(struct ib_device *ibdev, u32 port_num)
{
	return pib_stats_alloc();
}

/*
 * Read the counters of a port. They are the HCA's, so each port shows the same. ib_core adds those
 * of QPs that are bound to counters of their own.
 */
int pib_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port_num,
		     int index)
{
	if (!port_num)
		return pib_refuse(ibdev, -EINVAL, "get_hw_stats: no port 0");
	pib_stats_sum(to_hca(ibdev)->stats, stats);
	return PIB_STATS;
}

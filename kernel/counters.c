// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "counters.h"

static const struct rdma_stat_desc descs[PIB_STATS] = {
#define X(id, text) [PIB_STAT_##id].name = text,
	PIB_STAT_LIST(X)
#undef X
};

struct rdma_hw_stats *pib_alloc_hw_port_stats(struct ib_device *ibdev, u32 port_num)
{
	return rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static u64 stat_sum(const struct pib_hca *hca, int i)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(hca->stats, cpu)->v[i]);
	return sum;
}

/* The counters are the HCA's: each port shows the same. */
int pib_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port_num,
		     int index)
{
	int i;

	if (!port_num)
		return -EINVAL;
	for (i = 0; i < PIB_STATS; i++)
		stats->value[i] = stat_sum(to_hca(ibdev), i);
	return PIB_STATS;
}

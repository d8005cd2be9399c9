// SPDX-License-Identifier: GPL-2.0
/*
 * A consumer in the kernel that makes the calls of verbs which no process can make, each once, on
 * the device "dev". Loading the module fails if one of them does, or if what is to be refused is
 * not.
 */
#include <linux/module.h>
#include <rdma/ib_verbs.h>

#define MAX_SGE	8
#define NEW_SL	3

static char *dev = "pib0";
module_param(dev, charp, 0444);

/* The address is changed, and is then the changed one. */
static int asks_change(struct ib_ah *ah, struct rdma_ah_attr *attr)
{
	struct rdma_ah_attr now = { .type = RDMA_AH_ATTR_TYPE_IB };
	int err;

	rdma_ah_set_sl(attr, NEW_SL);
	err = rdma_modify_ah(ah, attr) ?: rdma_query_ah(ah, &now);
	if (err)
		return err;
	return rdma_ah_get_sl(&now) == NEW_SL &&
	       rdma_ah_get_dlid(&now) == rdma_ah_get_dlid(attr) ? 0 : -EPROTO;
}

static int asks_address(struct ib_device *ib, struct ib_pd *pd)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_IB };
	struct ib_port_attr port;
	struct ib_ah *ah;
	int err;

	err = ib_query_port(ib, 1, &port);
	if (err)
		return err;
	rdma_ah_set_port_num(&attr, 1);
	rdma_ah_set_dlid(&attr, port.lid);
	ah = rdma_create_ah(pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	err = asks_change(ah, &attr);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	return err;
}

/* Links go down by their cables, or by the subnet manager. */
static int asks_shutdown(struct ib_device *ib)
{
	struct ib_port_modify attr = {};
	int err = ib_modify_port(ib, 1, IB_PORT_SHUTDOWN, &attr);

	return err == -EOPNOTSUPP ? 0 : -EPROTO;
}

static int asks_memory(struct ib_pd *pd)
{
	struct ib_mr *mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, MAX_SGE);

	return IS_ERR(mr) ? PTR_ERR(mr) : ib_dereg_mr(mr);
}

static int asks_all(struct ib_device *ib)
{
	/* All of the memory by one key: the PD has a region for that. */
	struct ib_pd *pd = ib_alloc_pd(ib, IB_PD_UNSAFE_GLOBAL_RKEY);
	int err;

	if (IS_ERR(pd))
		return PTR_ERR(pd);
	err = asks_memory(pd) ?: asks_address(ib, pd) ?: asks_shutdown(ib);
	ib_dealloc_pd(pd);
	return err;
}

static int __init asks_init(void)
{
	struct ib_device *ib = ib_device_get_by_name(dev, RDMA_DRIVER_UNKNOWN);
	int err = -ENODEV;

	if (ib) {
		err = asks_all(ib);
		ib_device_put(ib);
	}
	pr_info("asks: %d\n", err);
	return err;
}

static void __exit asks_exit(void)
{
}

module_init(asks_init);
module_exit(asks_exit);
MODULE_DESCRIPTION("The calls of verbs that no process makes");
MODULE_LICENSE("GPL");

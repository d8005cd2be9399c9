/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Address handles and the address vectors of connected QPs. */
#ifndef PIB_HCA_AH_H
#define PIB_HCA_AH_H

#include <rdma/ib_verbs.h>
#include "core/objects.h"
#include "proto/hdrs.h"

struct pib_hca;

/**
 * struct pib_av_data - an address vector, checked
 * @dlid: destination LID
 * @sl: service level
 * @path_bits: low bits of the source LID
 * @port: local port
 * @rate: enum ib_rate, kept for queries
 * @mbps: that in Mbit/s; 0: as fast as the port sends
 * @grh: the fields below are valid
 * @hop: hop limit
 * @tclass: traffic class
 * @flow: flow label
 * @sgid_index: index in the port's GID table
 * @dgid: destination GID
 */
struct pib_av_data {
	u16 dlid;
	u8 sl;
	u8 path_bits;
	u8 port;
	u8 rate;
	u32 mbps;
	bool grh;
	u8 hop;
	u8 tclass;
	u32 flow;
	u8 sgid_index;
	u8 dgid[16];
};

/**
 * struct pib_av - the address vector of an AH number; freed after a grace period
 * @d: the vector; never changes: modify_ah puts another struct in its place
 * @pd: owner's protection domain, for the check only
 * @rcu: see above
 */
struct pib_av {
	struct pib_av_data d;
	struct ib_pd *pd;
	struct rcu_head rcu;
};

/**
 * struct pib_ah - an address handle
 * @ib: ib_core's
 * @avn: number by which work requests name it
 * @av: the address vector of @avn; written under the lock of pib_hca.avs, read under RCU
 * @obj: in pib_hca.objects
 */
struct pib_ah {
	struct ib_ah ib;
	u32 avn;
	struct pib_av *av;
	struct pib_object obj;
};

static inline struct pib_ah *to_ah(struct ib_ah *ib)
{
	return container_of(ib, struct pib_ah, ib);
}

/**
 * pib_av_from_attr() - check the attributes of an address, and take them over
 * @hca: HCA
 * @attr: attributes
 * @out: address vector; untouched on failure
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int pib_av_from_attr(struct pib_hca *hca, const struct rdma_ah_attr *attr, struct pib_av_data *out);
/**
 * pib_av_to_attr() - give the attributes back that pib_av_from_attr() has taken over
 * @hca: HCA
 * @av: address vector
 * @attr: result
 *
 * Context: any.
 */
void pib_av_to_attr(struct pib_hca *hca, const struct pib_av_data *av, struct rdma_ah_attr *attr);
/**
 * pib_av_find() - find an address vector by its AH number
 * @hca: HCA
 * @avn: AH number
 *
 * Context: under rcu_read_lock(), which keeps the vector.
 * Return: the vector; NULL: there is none.
 */
struct pib_av *pib_av_find(struct pib_hca *hca, u32 avn);

/*
 * ib_device_ops.
 *
 * Context: any: ib_core makes address handles under ib_mad's and IPoIB's locks.
 * Return: 0 or -errno.
 */
int pib_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata);
int pib_modify_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int pib_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int pib_destroy_ah(struct ib_ah *ibah, u32 flags);

#endif

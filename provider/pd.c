// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Protection domains, thread domains, parent domains.
 */
#include <errno.h>
#include <stdlib.h>

#include "pd.h"

struct ibv_pd *pib_alloc_pd(struct ibv_context *context)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct ibv_alloc_pd cmd;
	struct pib_pd *pd;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	if (ibv_cmd_alloc_pd(context, &pd->ibv_pd, &cmd, sizeof(cmd), &resp,
			     sizeof(resp))) {
		free(pd);
		return NULL;
	}
	return &pd->ibv_pd;
}

static int free_parent_domain(struct pib_pd *pd)
{
	atomic_fetch_sub(&pd->base->users, 1);
	if (pd->td)
		atomic_fetch_sub(&pd->td->users, 1);
	free(pd);
	return 0;
}

int pib_dealloc_pd(struct ibv_pd *ibpd)
{
	struct pib_pd *pd = to_ppd(ibpd);
	int err;

	if (atomic_load(&pd->users))
		return EBUSY;
	if (pd->base)
		return free_parent_domain(pd);

	err = ibv_cmd_dealloc_pd(ibpd);
	if (!err)
		free(pd);
	return err;
}

/*
 * Import a PD. The kernel's object is the exporter's, so there is only a
 * handle.
 */
struct ibv_pd *pib_import_pd(struct ibv_context *context, uint32_t handle)
{
	struct pib_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return NULL;
	pd->ibv_pd.context = context;
	pd->ibv_pd.handle = handle;
	return &pd->ibv_pd;
}

void pib_unimport_pd(struct ibv_pd *ibpd)
{
	free(to_ppd(ibpd));
}

struct ibv_td *pib_alloc_td(struct ibv_context *context,
			    struct ibv_td_init_attr *attr)
{
	struct pib_td *td;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->ibv_td.context = context;
	return &td->ibv_td;
}

int pib_dealloc_td(struct ibv_td *ibtd)
{
	struct pib_td *td = to_ptd(ibtd);

	if (atomic_load(&td->users))
		return EBUSY;
	free(td);
	return 0;
}

static void set_allocators(struct pib_pd *pd,
			   const struct ibv_parent_domain_init_attr *attr)
{
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) {
		pd->alloc = attr->alloc;
		pd->free = attr->free;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		pd->pd_context = attr->pd_context;
}

struct ibv_pd *pib_alloc_parent_domain(struct ibv_context *context,
				       struct ibv_parent_domain_init_attr *attr)
{
	struct pib_pd *pd, *base;

	if (ibv_check_alloc_parent_domain(attr))
		return NULL;
	if (!check_comp_mask(attr->comp_mask,
			     IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	base = to_ppd(attr->pd);
	if (base->base) {	/* they do not nest */
		errno = EINVAL;
		return NULL;
	}

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	pd->base = base;
	atomic_fetch_add(&base->users, 1);
	if (attr->td) {
		pd->td = to_ptd(attr->td);
		atomic_fetch_add(&pd->td->users, 1);
	}
	set_allocators(pd, attr);
	ibv_initialize_parent_domain(&pd->ibv_pd, &base->ibv_pd);
	return &pd->ibv_pd;
}

/**
 * pib_domain_get() - get the parent domain that a queue is made with
 * @ibpd: PD given at creation, or NULL
 *
 * The caller owns a use of the domain until pib_domain_put().
 *
 * Return: the domain; NULL: @ibpd is NULL or a mere protection domain.
 */
struct pib_pd *pib_domain_get(struct ibv_pd *ibpd)
{
	struct pib_pd *pd = ibpd ? to_ppd(ibpd) : NULL;

	if (!pd || !pd->base)
		return NULL;
	atomic_fetch_add(&pd->users, 1);
	return pd;
}

/**
 * pib_domain_put() - end a use of a parent domain
 * @domain: from pib_domain_get(); may be NULL
 */
void pib_domain_put(struct pib_pd *domain)
{
	if (domain)
		atomic_fetch_sub(&domain->users, 1);
}

/**
 * pib_domain_threaded() - tell whether several threads may use a domain's
 * queues at once
 * @domain: parent domain, or NULL
 *
 * Return: true: they may; false: the application has promised that they do not.
 */
bool pib_domain_threaded(const struct pib_pd *domain)
{
	return !domain || !domain->td;
}

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* User contexts, as ib_core makes and queries them. */
#ifndef PIB_VERBS_UCONTEXT_H
#define PIB_VERBS_UCONTEXT_H

#include "core/mmap.h"

extern const struct uapi_definition pib_ucontext_defs[];

/* ib_device_ops. Context: process. Return, where it is an int: 0 or -errno. */
int pib_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata);
void pib_dealloc_ucontext(struct ib_ucontext *ibctx);
void pib_disassociate_ucontext(struct ib_ucontext *ctx);
int pib_query_ucontext(struct ib_ucontext *ctx, struct uverbs_attr_bundle *attrs);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PIB_CQ_EX_H
#define PIB_CQ_EX_H

#include "pib.h"

/* enum ibv_create_cq_wc_flags that can be read from an entry */
#define PIB_CQ_WC_FLAGS (IBV_WC_STANDARD_FLAGS | \
			 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | \
			 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)

void pib_cq_ex_setup(struct pib_cq *cq, uint64_t wc_flags);

uint64_t pib_raw_clock_ns(void);

#endif

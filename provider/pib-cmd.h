/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * pib-abi.h in the shape that libibverbs' command calls expect.
 */
#ifndef PIB_CMD_H
#define PIB_CMD_H

#include <infiniband/driver.h>
#include <infiniband/kern-abi.h>

#include "pib-abi.h"

/*
 * DECLARE_DRV_CMD wants a tagless copy of each struct beside the named one.
 * rdma-core generates those for its own headers only; the named one
 * (drv_payload) is all that is used here.
 */
#define _STRUCT_pib_uctx_req		struct {}
#define _STRUCT_pib_uctx_resp		struct {}
#define _STRUCT_pib_create_cq_resp	struct {}
#define _STRUCT_pib_resize_cq_resp	struct {}
#define _STRUCT_pib_create_qp_resp	struct {}
#define _STRUCT_pib_create_srq_resp	struct {}
#define _STRUCT_pib_modify_srq_cmd	struct {}
#define _STRUCT_pib_create_ah_resp	struct {}

DECLARE_DRV_CMD(upib_get_context, IB_USER_VERBS_CMD_GET_CONTEXT,
		pib_uctx_req, pib_uctx_resp);
DECLARE_DRV_CMD(upib_create_cq, IB_USER_VERBS_EX_CMD_CREATE_CQ,
		empty, pib_create_cq_resp);
DECLARE_DRV_CMD(upib_resize_cq, IB_USER_VERBS_CMD_RESIZE_CQ,
		empty, pib_resize_cq_resp);
DECLARE_DRV_CMD(upib_create_qp, IB_USER_VERBS_EX_CMD_CREATE_QP,
		empty, pib_create_qp_resp);
DECLARE_DRV_CMD(upib_create_srq, IB_USER_VERBS_CMD_CREATE_XSRQ,
		empty, pib_create_srq_resp);
DECLARE_DRV_CMD(upib_modify_srq, IB_USER_VERBS_CMD_MODIFY_SRQ,
		pib_modify_srq_cmd, empty);
DECLARE_DRV_CMD(upib_create_ah, IB_USER_VERBS_CMD_CREATE_AH,
		empty, pib_create_ah_resp);

#endif

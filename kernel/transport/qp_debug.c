// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "transport/qp_debug.h"

const char *pib_qp_state_name(enum ib_qp_state state)
{
	static const char *const names[] = {
		[IB_QPS_RESET] = "RESET",
		[IB_QPS_INIT] = "INIT",
		[IB_QPS_RTR] = "RTR",
		[IB_QPS_RTS] = "RTS",
		[IB_QPS_SQD] = "SQD",
		[IB_QPS_SQE] = "SQE",
		[IB_QPS_ERR] = "ERR",
	};

	return state < ARRAY_SIZE(names) ? names[state] : "no state";
}

const char *pib_res_name(enum pib_res res)
{
	switch (res) {
	case PIB_RES_LEN:
		return "longer than the receive";
	case PIB_RES_INV_REQ:
		return "invalid request";
	case PIB_RES_ACCESS:
		return "R_Key, range or access rights";
	case PIB_RES_INVALIDATE:
		return "R_Key to be invalidated";
	case PIB_RES_OP:
		return "memory of the receive";
	default:
		return "no room";
	}
}

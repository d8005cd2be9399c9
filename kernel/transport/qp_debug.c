// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "tracing/names.h"
#include "transport/qp_debug.h"

const char *pib_qp_state_name(enum ib_qp_state state)
{
	static const char *const names[] = PIB_NAMES_BY_VALUE(PIB_QP_STATES);

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

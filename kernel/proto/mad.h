/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The bytes of management datagrams (IBA 13.4.2, 14.2.1): offsets, numbers, and
 * accessors for big-endian fields at any alignment.
 */
#ifndef PIB_PROTO_MAD_H
#define PIB_PROTO_MAD_H

#include "env.h"

/* Offsets in a MAD. */
#define PIB_MAD_BASE_VERSION	0
#define PIB_MAD_CLASS		1
#define PIB_MAD_CLASS_VERSION	2
#define PIB_MAD_METHOD		3
#define PIB_MAD_STATUS		4
#define PIB_MAD_HOP_PTR		6
#define PIB_MAD_HOP_CNT		7
#define PIB_MAD_TID		8
#define PIB_MAD_ATTR		16
#define PIB_MAD_ATTR_MOD	20
#define PIB_MAD_M_KEY		24
#define PIB_MAD_DR_SLID		32
#define PIB_MAD_DR_DLID		34
#define PIB_MAD_DATA		64	/* of SMPs and performance MADs */
#define PIB_MAD_INITIAL_PATH	128
#define PIB_MAD_RETURN_PATH	192

#define PIB_SMP_DATA_LEN	64
#define PIB_SMP_MAX_HOPS	63
#define PIB_SMP_DIRECTION	0x8000	/* in the status word of directed-route SMPs */

enum pib_mad_class {
	PIB_CLASS_SM_LID = 0x01,
	PIB_CLASS_SM_DR = 0x81,
	PIB_CLASS_PERF = 0x04,
	PIB_CLASS_CC = 0x21,
};

enum pib_mad_method {
	PIB_METHOD_GET = 0x01,
	PIB_METHOD_SET = 0x02,
	PIB_METHOD_SEND = 0x03,
	PIB_METHOD_TRAP = 0x05,
	PIB_METHOD_REPORT = 0x06,
	PIB_METHOD_TRAP_REPRESS = 0x07,
	PIB_METHOD_RESPONSE = 0x80,
	PIB_METHOD_GET_RESP = 0x81,
};

/* Results of giving a MAD to an agent. */
enum pib_mad_result {
	PIB_MAD_NONE,		/* nothing to send */
	PIB_MAD_REPLY,		/* env sends @out back to the sender */
	PIB_MAD_FORWARD,	/* directed route: @out goes out of @out_port (switches) */
	PIB_MAD_BUSY,		/* the agent has no time for it, and drops it (switches) */
	PIB_MAD_LOCAL,		/* not for this agent: pass it up (HCA: to user space or ib_core) */
};

/* MAD status, bits 2-4 (13.4.7). */
enum pib_mad_status {
	PIB_STATUS_OK = 0x00,
	PIB_STATUS_BAD_VERSION = 0x04,
	PIB_STATUS_BAD_METHOD = 0x08,
	PIB_STATUS_BAD_ATTR = 0x0C,	/* method and attribute do not go together */
	PIB_STATUS_INVALID = 0x1C,	/* a field or the modifier is out of range */
};

enum pib_sm_attr {
	PIB_SM_NOTICE = 0x0002,
	PIB_SM_NODE_DESC = 0x0010,
	PIB_SM_NODE_INFO = 0x0011,
	PIB_SM_SWITCH_INFO = 0x0012,
	PIB_SM_GUID_INFO = 0x0014,
	PIB_SM_PORT_INFO = 0x0015,
	PIB_SM_PKEY_TABLE = 0x0016,
	PIB_SM_SL2VL = 0x0017,
	PIB_SM_VLARB = 0x0018,
	PIB_SM_LFT = 0x0019,
	PIB_SM_MFT = 0x001B,
	PIB_SM_SM_INFO = 0x0020,
	PIB_SM_LED_INFO = 0x0031,
	PIB_SM_PORT_INFO_EXT = 0x0033,
	PIB_SM_MLNX_EXT_PORT_INFO = 0xFF90,	/* a vendor's */
};

enum pib_perf_attr {
	PIB_PERF_CLASS_PORT_INFO = 0x0001,
	PIB_PERF_SAMPLES_CONTROL = 0x0010,
	PIB_PERF_SAMPLES_RESULT = 0x0011,
	PIB_PERF_COUNTERS = 0x0012,
	PIB_PERF_RCV_ERR_DETAILS = 0x0015,
	PIB_PERF_XMIT_DISCARD_DETAILS = 0x0016,
	PIB_PERF_OP_RCV = 0x0017,
	PIB_PERF_FLOW_CTL = 0x0018,
	PIB_PERF_VL_OP_PACKETS = 0x0019,
	PIB_PERF_VL_OP_DATA = 0x001A,
	PIB_PERF_VL_FLOW_CTL_ERRORS = 0x001B,
	PIB_PERF_VL_XMIT_WAIT = 0x001C,
	PIB_PERF_COUNTERS_EXT = 0x001D,
	PIB_PERF_SAMPLES_RESULT_EXT = 0x001E,
	PIB_PERF_EXT_SPEEDS = 0x001F,
	PIB_PERF_SW_VL_CONGESTION = 0x0030,
	PIB_PERF_RCV_CON_CTRL = 0x0031,
	PIB_PERF_SL_RCV_FECN = 0x0032,
	PIB_PERF_SL_RCV_BECN = 0x0033,
	PIB_PERF_XMIT_CON_CTRL = 0x0034,
	PIB_PERF_VL_XMIT_TIME_CONG = 0x0035,
	PIB_PERF_XMIT_DATA_SL = 0x0036,
	PIB_PERF_RCV_DATA_SL = 0x0037,
};

/* PortInfo.CapabilityMask (14.2.5.6). */
enum pib_port_cap {
	PIB_CAPM_SM = 1u << 1,
	PIB_CAPM_NOTICE = 1u << 2,
	PIB_CAPM_TRAP = 1u << 3,
	PIB_CAPM_AUTO_MIGRATION = 1u << 5,
	PIB_CAPM_SL_MAP = 1u << 6,
	PIB_CAPM_LED_INFO = 1u << 9,
	PIB_CAPM_SYS_GUID = 1u << 11,
	PIB_CAPM_PKEY_SW_TRAP = 1u << 12,
	PIB_CAPM_EXT_SPEEDS = 1u << 14,
	PIB_CAPM_CAP_MASK2 = 1u << 15,
	PIB_CAPM_CAP_NOTICE = 1u << 22,
	PIB_CAPM_CLIENT_REREG = 1u << 25,
	PIB_CAPM_LOCAL_CHANGES = 1u << 26,
	PIB_CAPM_MFT_TOP = 1u << 30,
};

enum pib_port_cap2 {
	PIB_CAPM2_PORT_INFO_EXT = 1 << 1,
	PIB_CAPM2_WIDTH_2X = 1 << 4,
	PIB_CAPM2_HDR = 1 << 5,
	PIB_CAPM2_NDR = 1 << 10,
	PIB_CAPM2_XDR = 1 << 12,
};

/* Return: the big-endian field at @p, at any alignment. Context: any. */
static inline u16 pib_get16(const u8 *p)
{
	return (u16)(p[0] << 8 | p[1]);
}

/* As pib_get16(). Context: any. Return: likewise. */
static inline u32 pib_get32(const u8 *p)
{
	return (u32)p[0] << 24 | (u32)p[1] << 16 | (u32)p[2] << 8 | p[3];
}

/* As pib_get16(). Context: any. Return: likewise. */
static inline u64 pib_get64(const u8 *p)
{
	return (u64)pib_get32(p) << 32 | pib_get32(p + 4);
}

/* Write @v to the big-endian field at @p, at any alignment. Context: any. */
static inline void pib_put16(u8 *p, u16 v)
{
	p[0] = v >> 8;
	p[1] = v & 0xFF;
}

/* As pib_put16(). Context: any. */
static inline void pib_put32(u8 *p, u32 v)
{
	pib_put16(p, v >> 16);
	pib_put16(p + 2, v & 0xFFFF);
}

/* As pib_put16(). Context: any. */
static inline void pib_put64(u8 *p, u64 v)
{
	pib_put32(p, v >> 32);
	pib_put32(p + 4, v & 0xFFFFFFFF);
}

#endif

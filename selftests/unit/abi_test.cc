// SPDX-License-Identifier: GPL-2.0
// The structs that kernel and provider share: their members lie where they always did. Providers
// that were built long ago write and read rings, and ask for no feature. Structs grow at their ends.
#include <cstddef>
#include <gtest/gtest.h>
#include <linux/stddef.h>
#include <linux/types.h>

// That of Linux before 6.6 has a byte in it where C++ reads it. The provider is C.
#undef __DECLARE_FLEX_ARRAY
#define __DECLARE_FLEX_ARRAY(type, name) type name[0]

#include "../../kernel/uapi/rdma/pib-abi.h"

namespace {

#define AT(type, member, offset) static_assert(offsetof(type, member) == (offset))

// These are slots, or parts of them, or others follow them: they have their size for good.
static_assert(sizeof(pib_ring_hdr) == 128);
AT(pib_ring_hdr, producer, 0);
AT(pib_ring_hdr, arm, 4);
AT(pib_ring_hdr, consumer, 64);
AT(pib_ring_hdr, busy, 68);

static_assert(sizeof(pib_sge) == 16);
AT(pib_sge, addr, 0);
AT(pib_sge, length, 8);
AT(pib_sge, lkey, 12);

static_assert(sizeof(pib_send_wqe) == 64);
AT(pib_send_wqe, wr_id, 0);
AT(pib_send_wqe, opcode, 8);
AT(pib_send_wqe, send_flags, 12);
AT(pib_send_wqe, num_sge, 16);
AT(pib_send_wqe, length, 20);
AT(pib_send_wqe, ex, 24);
AT(pib_send_wqe, srqn, 28);
AT(pib_send_wqe, rdma.remote_addr, 32);
AT(pib_send_wqe, rdma.rkey, 40);
AT(pib_send_wqe, atomic.remote_addr, 32);
AT(pib_send_wqe, atomic.compare_add, 40);
AT(pib_send_wqe, atomic.swap, 48);
AT(pib_send_wqe, atomic.rkey, 56);
AT(pib_send_wqe, ud.ahn, 32);
AT(pib_send_wqe, ud.remote_qpn, 36);
AT(pib_send_wqe, ud.remote_qkey, 40);
AT(pib_send_wqe, bind.addr, 32);
AT(pib_send_wqe, bind.length, 40);
AT(pib_send_wqe, bind.mr_lkey, 48);
AT(pib_send_wqe, bind.mw_rkey, 52);
AT(pib_send_wqe, bind.new_rkey, 56);
AT(pib_send_wqe, bind.access, 60);
AT(pib_send_wqe, flush.remote_addr, 32);
AT(pib_send_wqe, flush.length, 40);
AT(pib_send_wqe, flush.rkey, 48);
AT(pib_send_wqe, flush.type, 52);
AT(pib_send_wqe, flush.level, 56);
AT(pib_send_wqe, sge, 64);
AT(pib_send_wqe, data, 64);

static_assert(sizeof(pib_recv_wqe) == 16);
AT(pib_recv_wqe, wr_id, 0);
AT(pib_recv_wqe, num_sge, 8);
AT(pib_recv_wqe, sge, 16);

static_assert(sizeof(pib_cqe) == 64);
AT(pib_cqe, wr_id, 0);
AT(pib_cqe, status, 8);
AT(pib_cqe, opcode, 12);
AT(pib_cqe, vendor_err, 16);
AT(pib_cqe, byte_len, 20);
AT(pib_cqe, ex, 24);
AT(pib_cqe, qp_num, 28);
AT(pib_cqe, src_qp, 32);
AT(pib_cqe, flags, 36);
AT(pib_cqe, slid, 40);
AT(pib_cqe, pkey_index, 42);
AT(pib_cqe, sl, 44);
AT(pib_cqe, dlid_path_bits, 45);
AT(pib_cqe, port_num, 46);
AT(pib_cqe, timestamp, 48);
AT(pib_cqe, user_qp, 56);

static_assert(sizeof(pib_ring_info) == 24);
AT(pib_ring_info, offset, 0);
AT(pib_ring_info, size, 8);
AT(pib_ring_info, entries, 12);
AT(pib_ring_info, stride, 16);

// Requests and answers may become longer; what is in them stays.
static_assert(sizeof(pib_uctx_req) >= 8);
AT(pib_uctx_req, features, 0);
static_assert(sizeof(pib_uctx_resp) >= 16);
AT(pib_uctx_resp, abi_version, 0);
AT(pib_uctx_resp, max_inline, 4);
AT(pib_uctx_resp, features, 8);
static_assert(sizeof(pib_create_cq_resp) >= 24);
AT(pib_create_cq_resp, ring, 0);
static_assert(sizeof(pib_resize_cq_resp) >= 24);
AT(pib_resize_cq_resp, ring, 0);
static_assert(sizeof(pib_create_qp_resp) >= 56);
AT(pib_create_qp_resp, sq, 0);
AT(pib_create_qp_resp, rq, 24);
AT(pib_create_qp_resp, flags, 48);
static_assert(sizeof(pib_create_srq_resp) >= 32);
AT(pib_create_srq_resp, ring, 0);
AT(pib_create_srq_resp, srqn, 24);
static_assert(sizeof(pib_modify_srq_cmd) >= 16);
AT(pib_modify_srq_cmd, ring_addr, 0);
AT(pib_modify_srq_cmd, ring_size, 8);
static_assert(sizeof(pib_dm_resp) >= 24);
AT(pib_dm_resp, offset, 0);
AT(pib_dm_resp, size, 8);
AT(pib_dm_resp, length, 16);
static_assert(sizeof(pib_create_ah_resp) >= 8);
AT(pib_create_ah_resp, ahn, 0);

TEST(Abi, NumbersStay)
{
	EXPECT_EQ(PIB_UVERBS_ABI_VERSION, 1);
	EXPECT_EQ(PIB_UCTX_DOORBELL, 1);
	EXPECT_EQ(PIB_CQ_ARM_SOLICITED, 1);
	EXPECT_EQ(PIB_CQ_ARM_ANY, 2);
	EXPECT_EQ(PIB_CQE_GRH, 1);
	EXPECT_EQ(PIB_CQE_WITH_IMM, 2);
	EXPECT_EQ(PIB_CQE_WITH_INV, 4);
	EXPECT_EQ(PIB_CQE_SOLICITED, 8);
	EXPECT_EQ(PIB_METHOD_TRACE_MARK, 0x1000);
	EXPECT_EQ(PIB_METHOD_QP_RING_SEND, 0x1000);
	EXPECT_EQ(PIB_METHOD_QP_RING_RECV, 0x1001);
	EXPECT_EQ(PIB_METHOD_DM_QUERY, 0x1000);
	EXPECT_EQ(PIB_ATTR_QUERY_CONTEXT_RESP, 0x1000);
	EXPECT_EQ(PIB_ATTR_QP_RING_HANDLE, 0x1000);
	EXPECT_EQ(PIB_ATTR_ALLOC_DM_RESP, 0x1000);
	EXPECT_EQ(PIB_ATTR_QUERY_DM_HANDLE, 0x1000);
	EXPECT_EQ(PIB_ATTR_QUERY_DM_RESP, 0x1001);
}

} // namespace

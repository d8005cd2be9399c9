/* SPDX-License-Identifier: GPL-2.0 */
/* libpibmanners.so takes libibverbs' and librdmacm's structs to be laid out like this. */
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stddef.h>

#define AT(type, field, offset) _Static_assert(offsetof(struct type, field) == (offset), #type)
AT(ibv_context, ops.bind_mw, 9 * sizeof(void *));
AT(ibv_context, ops.poll_cq, 12 * sizeof(void *));
AT(ibv_context, ops.req_notify_cq, 13 * sizeof(void *));
AT(ibv_context, ops.post_srq_recv, 21 * sizeof(void *));
AT(ibv_context, ops.post_send, 26 * sizeof(void *));
AT(ibv_context, ops.post_recv, 27 * sizeof(void *));
AT(ibv_context, cmd_fd, 33 * sizeof(void *));
AT(ibv_comp_channel, fd, sizeof(void *));
AT(ibv_cq, channel, sizeof(void *));
AT(ibv_context, abi_compat, 33 * sizeof(void *) + 16 + sizeof(pthread_mutex_t));
AT(ibv_qp_attr, qp_access_flags, 8 * 4);
AT(ibv_qp_attr, ah_attr, 14 * 4);
AT(ibv_ah_attr, dlid, 24);
AT(ibv_ah_attr, static_rate, 28);
AT(ibv_ah_attr, port_num, 30);
AT(ibv_port_attr, active_mtu, 8);
AT(ibv_port_attr, active_width, 43);
AT(ibv_port_attr, link_layer, 46);
AT(ibv_sa_path_rec, dlid, 32);
AT(ibv_sa_path_rec, sl, 56);
AT(ibv_sa_path_rec, rate, 60);
AT(rdma_cm_id, qp, 3 * sizeof(void *));
AT(rdma_cm_id, route.path_rec, 4 * sizeof(void *) + 296);
AT(rdma_conn_param, qp_num, sizeof(void *) + 8);
AT(ibv_qp_ex, wr_atomic_cmp_swp, sizeof(struct ibv_qp) + 24);
AT(ibv_qp_ex, wr_set_sge_list, sizeof(struct ibv_qp) + 24 + 16 * sizeof(void *));
AT(ibv_qp_ex, wr_abort, sizeof(struct ibv_qp) + 24 + 19 * sizeof(void *));
AT(ibv_cq_ex, status, offsetof(struct ibv_cq, async_events_completed) + 8);
AT(ibv_cq_ex, start_poll, offsetof(struct ibv_cq, async_events_completed) + 20);
AT(ibv_cq_ex, read_qp_num, offsetof(struct ibv_cq_ex, start_poll) + 7 * sizeof(void *));
AT(ibv_qp_init_attr_ex, comp_mask, 60);
AT(ibv_qp_init_attr_ex, create_flags, 80);
AT(ibv_qp_init_attr_ex, rwq_ind_tbl, 88);
AT(ibv_srq_init_attr_ex, comp_mask, 20);
AT(ibv_srq_init_attr_ex, cq, 48);
AT(ibv_cq_init_attr_ex, wc_flags, 32);
AT(ibv_cq_init_attr_ex, parent_domain, 48);
AT(ibv_qp_open_attr, xrcd, 8);
AT(verbs_context, create_cq_ex, offsetof(struct verbs_context, context) - 15 * 8);
AT(verbs_context, open_qp, offsetof(struct verbs_context, context) - 8 * 8);
AT(verbs_context, open_xrcd, offsetof(struct verbs_context, context) - 4 * 8);
AT(ibv_qp, send_cq, 3 * sizeof(void *));
AT(ibv_qp, recv_cq, 4 * sizeof(void *));
AT(ibv_qp, qp_num, 6 * sizeof(void *) + 4);
AT(ibv_mr, lkey, 4 * sizeof(void *) + 4);
AT(ibv_send_wr, send_flags, 3 * 8 + 8);
AT(ibv_wc, qp_num, 28);
_Static_assert(sizeof(struct ibv_wc) == 48, "ibv_wc");

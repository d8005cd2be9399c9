/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * pib: interface between the kernel driver and the libibverbs provider.
 *
 * Every queue is a ring in memory that the kernel allocates and the process
 * maps: one struct pib_ring_hdr, then `entries` slots of `stride` bytes, both
 * powers of two. Indices run freely and are reduced modulo `entries` when a
 * slot is addressed, so producer - consumer is the fill level.
 *
 * The kernel trusts nothing in a ring: it copies an entry once and validates
 * the copy, and keeps the index that it owns in private memory as well.
 *
 * Structs grow at their ends only. Of an answer the process gets what it has
 * room for, the rest being 0. Bytes of a request that the kernel does not know must
 * be 0, or the request is refused (EOPNOTSUPP). All else, the rings above all,
 * changes only for processes that ask for it in @features of struct pib_uctx_req.
 */
#ifndef PIB_ABI_H
#define PIB_ABI_H

#include <linux/types.h>
#include <rdma/ib_user_ioctl_cmds.h>

#define PIB_UVERBS_ABI_VERSION	1

/**
 * struct pib_ring_hdr - head of a mapped ring
 * @producer: index of the next slot to fill. Written by the process for work
 *	queues, by the kernel for completion queues.
 * @arm: completion queues: enum pib_cq_arm. The process sets it with an
 *	atomic exchange, a full barrier, then polls once more; the kernel
 *	fetches and clears it after it has published an entry.
 *	Receive queues of QPs: non-zero while the kernel must see what is
 *	posted, but would not look at @producer by itself (in the error state,
 *	to flush). The kernel sets it, executes a full barrier, then takes what
 *	is there; the process advances @producer, executes a full barrier, and
 *	rings if it finds @arm set.
 *	All: set when the queue has gone with its device, so that posting
 *	leads to an error. There is no bell for shared receive queues: nothing
 *	can be posted to one that has @arm set.
 * @pad0: keeps the two sides on cache lines of their own
 * @consumer: index of the next slot to take. Written by the kernel for work
 *	queues, by the process for completion queues. A slot is given back
 *	before the completion that tells of it is published; a QP that is
 *	moved to RESET has all of them back (@consumer equals @producer).
 * @busy: send queues only: non-zero while the kernel is sure to look at
 *	@producer again by itself. After it has advanced @producer and executed
 *	a full barrier, the process needs to ring the doorbell only if @busy is
 *	zero. Zero when the queue is gone.
 * @pad1: padding
 */
struct pib_ring_hdr {
	__u32 producer;
	__u32 arm;
	__u32 pad0[14];
	__u32 consumer;
	__u32 busy;
	__u32 pad1[14];
};

enum pib_cq_arm {
	PIB_CQ_ARM_NONE = 0,
	PIB_CQ_ARM_SOLICITED = 1,
	PIB_CQ_ARM_ANY = 2,
};

/**
 * struct pib_ring_info - where to map a ring
 * @offset: for mmap() on the device's command descriptor
 * @size: bytes to map; 0: there is no such ring
 * @entries: slots, a power of two
 * @stride: bytes to a slot, a power of two
 * @reserved: 0
 */
struct pib_ring_info {
	__aligned_u64 offset;
	__u32 size;
	__u32 entries;
	__u32 stride;
	__u32 reserved;
};

struct pib_sge {
	__aligned_u64 addr;
	__u32 length;
	__u32 lkey;
};

/**
 * struct pib_send_wqe - a slot of a send queue
 * @wr_id: returned in the completion
 * @opcode: enum ib_uverbs_wr_opcode
 * @send_flags: enum ib_uverbs_send_flags
 * @num_sge: entries in @sge; with IB_UVERBS_SEND_INLINE it must be 0 and
 *	@length bytes of data stand in @data instead
 * @length: bytes of inline data
 * @ex: immediate data (big endian) or the R_Key to invalidate
 * @srqn: XRC: the remote shared receive queue
 * @rdma: RDMA and ATOMIC_WRITE
 * @atomic: CAS and FETCH_ADD
 * @ud: datagrams; @ud.ahn is the handle that create_ah returned
 * @bind: BIND_MW
 * @flush: FLUSH; @flush.type and @flush.level as the IBA encodes them
 * @raw: all of these
 * @sge: local buffers
 * @data: inline data. A slot has room for the granted numbers of scatter
 *	elements and of inline bytes, and for the 8 bytes of ATOMIC_WRITE,
 *	which may be inline whatever was granted.
 */
struct pib_send_wqe {
	__aligned_u64 wr_id;
	__u32 opcode;
	__u32 send_flags;
	__u32 num_sge;
	__u32 length;
	__u32 ex;
	__u32 srqn;
	union {
		struct {
			__aligned_u64 remote_addr;
			__u32 rkey;
			__u32 reserved;
		} rdma;
		struct {
			__aligned_u64 remote_addr;
			__aligned_u64 compare_add;
			__aligned_u64 swap;
			__u32 rkey;
			__u32 reserved;
		} atomic;
		struct {
			__u32 ahn;
			__u32 remote_qpn;
			__u32 remote_qkey;
			__u32 reserved;
		} ud;
		struct {
			__aligned_u64 addr;
			__aligned_u64 length;
			__u32 mr_lkey;
			__u32 mw_rkey;
			__u32 new_rkey;
			__u32 access;
		} bind;
		struct {
			__aligned_u64 remote_addr;
			__aligned_u64 length;
			__u32 rkey;
			__u32 type;
			__u32 level;
			__u32 reserved;
		} flush;
		__aligned_u64 raw[4];
	};
	union {
		__DECLARE_FLEX_ARRAY(struct pib_sge, sge);
		__DECLARE_FLEX_ARRAY(__u8, data);
	};
};

/**
 * struct pib_recv_wqe - a slot of a receive queue or shared receive queue
 * @wr_id: returned in the completion
 * @num_sge: entries in @sge
 * @reserved: 0
 * @sge: local buffers
 */
struct pib_recv_wqe {
	__aligned_u64 wr_id;
	__u32 num_sge;
	__u32 reserved;
	struct pib_sge sge[];
};

enum pib_cqe_flags {
	PIB_CQE_GRH = 1 << 0,
	PIB_CQE_WITH_IMM = 1 << 1,
	PIB_CQE_WITH_INV = 1 << 2,
	PIB_CQE_SOLICITED = 1 << 3,
	PIB_CQE_IP_CSUM_OK = 1 << 4,	/* for consumers in the kernel only */
};

/**
 * struct pib_cqe - a slot of a completion queue
 * @wr_id: of the work request
 * @status: numbers of enum ibv_wc_status
 * @opcode: enum ib_uverbs_wc_opcode
 * @vendor_err: reserved, 0
 * @byte_len: bytes received or read
 * @ex: immediate data (big endian) or the invalidated R_Key
 * @qp_num: local QP
 * @src_qp: datagrams: the sender
 * @flags: enum pib_cqe_flags
 * @slid: source LID
 * @pkey_index: GSI only
 * @sl: service level
 * @dlid_path_bits: low bits of the destination LID
 * @port_num: arrival port (SMI of a multi-port device)
 * @reserved: 0
 * @timestamp: CLOCK_MONOTONIC_RAW in ns at which the entry was made; 0: not asked for
 * @user_qp: reserved, 0
 */
struct pib_cqe {
	__aligned_u64 wr_id;
	__u32 status;
	__u32 opcode;
	__u32 vendor_err;
	__u32 byte_len;
	__u32 ex;
	__u32 qp_num;
	__u32 src_qp;
	__u32 flags;
	__u16 slid;
	__u16 pkey_index;
	__u8 sl;
	__u8 dlid_path_bits;
	__u8 port_num;
	__u8 reserved;
	__aligned_u64 timestamp;
	__aligned_u64 user_qp;
};

/**
 * enum pib_uctx_features - features that kernel and process may have
 * @PIB_UCTX_DOORBELL: the methods of enum pib_qp_methods ring. Without it a post
 *	command without work requests does, which ib_core refuses to a process with
 *	other credentials than those with which the device was opened.
 */
enum pib_uctx_features {
	PIB_UCTX_DOORBELL = 1 << 0,
};

/**
 * struct pib_uctx_req - alloc_ucontext; may be left out
 * @features: enum pib_uctx_features that the process knows
 */
struct pib_uctx_req {
	__aligned_u64 features;
};

/**
 * struct pib_uctx_resp - alloc_ucontext, and PIB_ATTR_QUERY_CONTEXT_RESP of an imported context
 * @abi_version: PIB_UVERBS_ABI_VERSION
 * @max_inline: most bytes of inline data a send queue can offer
 * @features: enum pib_uctx_features of the request that the kernel has, too; of an imported
 *	context all that it has
 */
struct pib_uctx_resp {
	__u32 abi_version;
	__u32 max_inline;
	__aligned_u64 features;
};

struct pib_create_cq_resp {
	struct pib_ring_info ring;
};

/**
 * struct pib_resize_cq_resp - resize_cq
 * @ring: the new ring. It takes over the indices, the entries that were not
 *	consumed yet and what was armed. The process must take nothing from
 *	the old ring while the call runs, and unmaps it afterwards. The same
 *	applies to work requests when an SRQ is resized.
 */
struct pib_resize_cq_resp {
	struct pib_ring_info ring;
};

/**
 * enum pib_qp_flags - what a process is to do by itself for a queue pair
 * @PIB_QP_AH_PD_AT_POST: refuse a datagram by an address handle of another PD when it is posted.
 *	Without it, or by a process that does not know it, the kernel completes it in error.
 */
enum pib_qp_flags {
	PIB_QP_AH_PD_AT_POST = 1 << 0,
};

/**
 * struct pib_create_qp_resp - create_qp
 * @sq: the send queue
 * @rq: the receive queue
 * @flags: enum pib_qp_flags
 * @reserved: 0
 */
struct pib_create_qp_resp {
	struct pib_ring_info sq;
	struct pib_ring_info rq;
	__u32 flags;
	__u32 reserved;
};

struct pib_create_srq_resp {
	struct pib_ring_info ring;
	__u32 srqn;
	__u32 reserved;
};

/**
 * struct pib_modify_srq_cmd - modify_srq, whose command has no room for an answer
 * @ring_addr: address of a struct pib_ring_info to fill when the SRQ is resized, or 0
 * @ring_size: bytes of room there; 0, or left out: 24, the first size of the struct
 * @reserved: 0
 */
struct pib_modify_srq_cmd {
	__aligned_u64 ring_addr;
	__u32 ring_size;
	__u32 reserved;
};

/* Additions to ib_core's methods for contexts, see ib_user_ioctl_cmds.h. */
enum pib_query_context_attrs {
	/* struct pib_uctx_resp */
	PIB_ATTR_QUERY_CONTEXT_RESP = (1U << UVERBS_ID_NS_SHIFT),
};

/* Additions to ib_core's methods for the device. */
enum pib_device_methods {
	/* write a mark to the trace (pib:pib_mark), if anybody traces */
	PIB_METHOD_TRACE_MARK = (1U << UVERBS_ID_NS_SHIFT),
};

#define PIB_TRACE_MARK_MAX	64

enum pib_trace_mark_attrs {
	/* 1 to PIB_TRACE_MARK_MAX bytes of ASCII; question marks stand for those not printable */
	PIB_ATTR_TRACE_MARK_TEXT = (1U << UVERBS_ID_NS_SHIFT),
};

/* Additions to ib_core's methods for queue pairs: doorbells. */
enum pib_qp_methods {
	/* make the kernel look at the send queue */
	PIB_METHOD_QP_RING_SEND = (1U << UVERBS_ID_NS_SHIFT),
	/* make the kernel look at the receive queue */
	PIB_METHOD_QP_RING_RECV,
};

/* of either method */
enum pib_qp_ring_attrs {
	PIB_ATTR_QP_RING_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
};

/* Additions to ib_core's methods for device memory, see ib_user_ioctl_cmds.h. */
enum pib_dm_methods {
	PIB_METHOD_DM_QUERY = (1U << UVERBS_ID_NS_SHIFT),
};

enum pib_dm_alloc_attrs {
	PIB_ATTR_ALLOC_DM_RESP = (1U << UVERBS_ID_NS_SHIFT),
};

enum pib_dm_query_attrs {
	PIB_ATTR_QUERY_DM_HANDLE = (1U << UVERBS_ID_NS_SHIFT),
	PIB_ATTR_QUERY_DM_RESP,
};

/**
 * struct pib_dm_resp - alloc_dm, and DM_QUERY of imported device memory
 * @offset: for mmap() on the device's command descriptor
 * @size: bytes to map
 * @length: bytes of device memory, from the start of the mapping on
 */
struct pib_dm_resp {
	__aligned_u64 offset;
	__aligned_u64 size;
	__aligned_u64 length;
};

struct pib_create_ah_resp {
	__u32 ahn;
	__u32 reserved;
};

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* A queue pair with all it needs, and two of them connected. */
#pragma once

#include <functional>
#include <optional>

#include "env.h"

namespace ops {

/** A send work request in words. */
struct Wr {
	ibv_wr_opcode op = IBV_WR_SEND;
	std::vector<ibv_sge> sg;
	unsigned flags = IBV_SEND_SIGNALED;
	uint64_t id = 1;
	uint32_t imm = 0; /* in host order; SEND_WITH_INV, LOCAL_INV: the key */
	uint64_t addr = 0;
	uint32_t rkey = 0;
	uint64_t compare_add = 0, swap = 0;
	ibv_ah *ah = nullptr;
	uint32_t qpn = 0, qkey = 0;
	uint32_t srqn = 0;
	ibv_mw *mw = nullptr;
	ibv_mw_bind_info bind{};
};

struct EndOptions {
	ibv_qp_type type = IBV_QPT_RC;
	ibv_qp_cap cap = {64, 64, 4, 4, 0};
	int cqe = 256;
	int recv_cqe = 0; /* > 0: a CQ of its own for receives */
	int vector = 0;	  /* of the CQs */
	int srq_wr = 0;	  /* > 0: receives from an SRQ of that size */
	bool sig_all = false;
	bool ext_ops = false; /* ibv_wr_*() */
	uint32_t create_flags = 0;
	size_t memory = 1 << 16;
	unsigned mr_access = all_access | IBV_ACCESS_MW_BIND;
	unsigned qp_access = all_access;
	ibv_mtu mtu = ibv_mtu(0); /* 0: the port's */
	uint32_t psn = 0x123456;
	uint32_t qkey = 0x11111111;
	uint16_t pkey_index = 0;
	uint8_t timeout = 14, retry = 7, rnr_retry = 7, min_rnr_timer = 1;
	uint8_t rd_atomic = 4;
	uint8_t sl = 0;
	ibv_rate static_rate = IBV_RATE_MAX;
	bool grh = false;
	uint32_t dest_qpn = 0; /* 0: the peer's */
};

/** The completion that has to come; fields left out are not looked at. */
struct Expect {
	ibv_wc_status status = IBV_WC_SUCCESS;
	std::optional<ibv_wc_opcode> opcode{};
	std::optional<uint64_t> id{};
	std::optional<uint32_t> byte_len{};
	std::optional<uint32_t> imm{};
	std::optional<unsigned> flags{};
	std::optional<uint32_t> src_qp{};
};

class End {
public:
	End(Device device, const EndOptions &options);

	/* ---- states */
	void to_init();
	void to_rtr(const End &peer);
	void to_rts();
	void modify(ibv_qp_attr attr, int mask);
	int try_modify(ibv_qp_attr attr, int mask);
	void to(ibv_qp_state state);
	ibv_qp_state state();
	ibv_qp_attr query();
	ibv_ah_attr address_of(const End &peer) const;
	Ah ah_to(const End &peer) const;

	/* ---- posting */
	int try_send(const Wr &wr);
	void send(const Wr &wr);
	int try_recv(std::vector<ibv_sge> sg, uint64_t id = 1);
	void recv(std::vector<ibv_sge> sg, uint64_t id = 1);

	/* ---- what comes back; all wait, but not for ever */
	ibv_wc completion(ibv_cq *cq);
	ibv_wc completion() { return completion(cq.get()); }
	void expect(const Expect &what) { expect(cq.get(), what); }
	void expect(ibv_cq *cq, const Expect &what);
	/** A receive completion: from the CQ that receives have. */
	void expect_recv(const Expect &what) { expect(rcq ? rcq.get() : cq.get(), what); }
	/** Nothing is in the CQ now. */
	void expect_none();
	void expect_event(ibv_event_type type);
	bool event_pending();
	/** Waits for an event of the completion channel, and acknowledges it. */
	void expect_cq_event();
	bool cq_event_pending();

	ibv_sge sge(size_t offset, size_t length) const { return mem.sge(offset, length); }
	bool datagram() const { return opt.type == IBV_QPT_UD; }
	uint32_t qpn() const { return qp->qp_num; }

	EndOptions opt;
	Device dev;
	Pd pd;
	Channel channel;
	Cq cq, rcq;
	Srq srq;
	Memory mem;
	Qp qp;

private:
	void make_qp();
};

/** Two connected ends: work goes from a to b. */
struct Pair {
	explicit Pair(const Env &env, const EndOptions &options = {});
	Pair(const Env &env, const EndOptions &options_a, const EndOptions &options_b,
	     bool connected = true);
	/**
	 * Once more after RESET, too. Packets that the ends have sent to each other before may
	 * still be on a wire between them. So the ends begin with other PSNs each time: to the new
	 * connection those packets are old.
	 */
	void connect();

	End a, b;
	/** Datagrams: the way from a to b. */
	Ah ah;

	/** A send request from a's memory to b, addressed as the type needs. */
	Wr send_wr(size_t offset, size_t length, ibv_wr_opcode op = IBV_WR_SEND);
	/** An RDMA request from a's memory (offset) to b's (same offset). */
	Wr rdma_wr(ibv_wr_opcode op, size_t offset, size_t length);
	/** A round trip of one small message: everything before it has been dealt with. */
	void ping();

private:
	bool was_connected_ = false;
};

const char *type_name(ibv_qp_type type);
inline unsigned grh_len(const End &end)
{
	return end.datagram() ? 40 : 0;
}

} // namespace ops

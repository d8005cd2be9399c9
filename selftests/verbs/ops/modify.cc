// SPDX-License-Identifier: GPL-2.0
/*
 * ibv_modify_qp() with whatever there is: random transitions, masks and values, most of them nearly right. Each ends in
 * an errno that the manual knows and nothing changed, or in success and a query that agrees. PIB_SEED repeats a run,
 * PIB_STEPS makes it longer.
 */
#include <cstdlib>
#include <iostream>
#include <random>

#include "end.h"
#include "suites.h"

namespace ops {

namespace {

constexpr ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};

uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	return text ? strtoull(text, nullptr, 0) : otherwise;
}

class Generator {
public:
	Generator(Pair &pair, uint64_t seed) : p(pair), e(pair.a), rng(seed) {}
	void step();
	/** The QP can be used again from RESET on, whatever was made of it. */
	void reset();

	unsigned succeeded = 0, refused = 0;

private:
	unsigned below(unsigned n) { return rng() % n; }
	bool chance(unsigned percent) { return below(100) < percent; }
	/** Right, more often than not. */
	unsigned one(unsigned right, unsigned limit) { return chance(85) ? right : below(limit); }
	ibv_ah_attr address();
	ibv_qp_attr values();
	int required(ibv_qp_state from, ibv_qp_state to) const;
	ibv_qp_state successor(ibv_qp_state from);
	void unchanged(const ibv_qp_attr &before, const ibv_qp_attr &after);
	void agrees(const ibv_qp_attr &asked, int mask, const ibv_qp_attr &after);

	Pair &p;
	End &e;
	std::mt19937_64 rng;
};

ibv_ah_attr Generator::address()
{
	ibv_ah_attr ah = e.address_of(p.b);
	ah.dlid = one(ah.dlid, 1 << 16);
	ah.sl = one(0, 20);
	ah.src_path_bits = one(0, 256);
	ah.static_rate = one(0, 32);
	ah.port_num = one(e.dev.port, 4);
	if (chance(20)) {
		ah.is_global = 1;
		ah.grh.dgid = p.b.dev.gid;
		ah.grh.sgid_index = one(0, 256);
	}
	return ah;
}

ibv_qp_attr Generator::values()
{
	ibv_qp_attr a{};
	a.cur_qp_state = ibv_qp_state(one(e.state(), 8));
	a.path_mtu = ibv_mtu(one(IBV_MTU_1024, 8));
	a.path_mig_state = ibv_mig_state(below(4));
	a.qkey = rng();
	a.rq_psn = rng() & 0xffffff;
	a.sq_psn = rng() & 0xffffff;
	a.dest_qp_num = one(p.b.qpn(), 1 << 25);
	a.qp_access_flags = one(all_access, 256);
	a.ah_attr = address();
	a.alt_ah_attr = address();
	a.pkey_index = one(0, 256);
	a.alt_pkey_index = one(0, 256);
	a.en_sqd_async_notify = below(2);
	a.max_rd_atomic = one(4, 256);
	a.max_dest_rd_atomic = one(4, 256);
	a.min_rnr_timer = one(12, 256);
	a.port_num = one(e.dev.port, 4);
	a.timeout = one(8, 256);
	a.retry_cnt = one(1, 16);
	a.rnr_retry = one(1, 16);
	a.alt_port_num = one(e.dev.port, 4);
	a.alt_timeout = one(8, 256);
	return a;
}

int Generator::required(ibv_qp_state from, ibv_qp_state to) const
{
	bool ud = e.datagram(), rc = e.opt.type == IBV_QPT_RC;

	if (from == IBV_QPS_RESET && to == IBV_QPS_INIT)
		return IBV_QP_PKEY_INDEX | IBV_QP_PORT | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
	if (from == IBV_QPS_INIT && to == IBV_QPS_RTR && !ud)
		return IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
	if (from == IBV_QPS_RTR && to == IBV_QPS_RTS)
		return IBV_QP_SQ_PSN | (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
							IBV_QP_MAX_QP_RD_ATOMIC
					   : 0);
	return 0;
}

ibv_qp_state Generator::successor(ibv_qp_state from)
{
	if (from < IBV_QPS_RTS && chance(70))
		return ibv_qp_state(from + 1);
	if (from < IBV_QPS_SQE && chance(70))
		return chance(60) ? IBV_QPS_RTS : IBV_QPS_SQD;
	return ibv_qp_state(below(8));
}

#define SAME(field) CHECK_EQ(after.field, before.field)

void Generator::unchanged(const ibv_qp_attr &before, const ibv_qp_attr &after)
{
	SAME(qp_state);
	SAME(path_mtu);
	SAME(path_mig_state);
	SAME(qkey);
	SAME(rq_psn);
	SAME(sq_psn);
	SAME(dest_qp_num);
	SAME(qp_access_flags);
	SAME(ah_attr.dlid);
	SAME(ah_attr.port_num);
	SAME(alt_ah_attr.dlid);
	SAME(alt_ah_attr.port_num);
	SAME(pkey_index);
	SAME(alt_pkey_index);
	SAME(max_rd_atomic);
	SAME(max_dest_rd_atomic);
	SAME(min_rnr_timer);
	SAME(port_num);
	SAME(timeout);
	SAME(retry_cnt);
	SAME(rnr_retry);
	SAME(alt_port_num);
	SAME(alt_timeout);
}

#define TOLD(bit, field)                                    \
	do {                                                \
		if (mask & (bit))                           \
			CHECK_EQ(after.field, asked.field); \
	} while (0)

void Generator::agrees(const ibv_qp_attr &asked, int mask, const ibv_qp_attr &after)
{
	TOLD(IBV_QP_STATE, qp_state);
	if (mask & IBV_QP_STATE &&
	    (asked.qp_state == IBV_QPS_RESET || asked.qp_state == IBV_QPS_ERR))
		return;
	TOLD(IBV_QP_PATH_MTU, path_mtu);
	TOLD(IBV_QP_QKEY, qkey);
	TOLD(IBV_QP_RQ_PSN, rq_psn);
	TOLD(IBV_QP_SQ_PSN, sq_psn);
	TOLD(IBV_QP_DEST_QPN, dest_qp_num);
	TOLD(IBV_QP_ACCESS_FLAGS, qp_access_flags);
	TOLD(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	TOLD(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	TOLD(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
	TOLD(IBV_QP_RETRY_CNT, retry_cnt);
	TOLD(IBV_QP_RNR_RETRY, rnr_retry);
	TOLD(IBV_QP_PATH_MIG_STATE, path_mig_state);
	TOLD(IBV_QP_PKEY_INDEX, pkey_index);
	TOLD(IBV_QP_TIMEOUT, timeout);
	TOLD(IBV_QP_PORT, port_num);
	TOLD(IBV_QP_AV, ah_attr.dlid);
	TOLD(IBV_QP_AV, ah_attr.sl);
	TOLD(IBV_QP_AV, ah_attr.is_global);
	TOLD(IBV_QP_ALT_PATH, alt_ah_attr.dlid);
	TOLD(IBV_QP_ALT_PATH, alt_port_num);
	TOLD(IBV_QP_ALT_PATH, alt_pkey_index);
	TOLD(IBV_QP_ALT_PATH, alt_timeout);
	/* A vector leads by the QP's port. */
	if (!e.datagram() && after.qp_state >= IBV_QPS_RTR)
		CHECK_EQ(after.ah_attr.port_num, after.port_num);
	if (after.path_mig_state != IBV_MIG_MIGRATED)
		CHECK(after.alt_port_num != 0);
}

void Generator::step()
{
	ibv_qp_attr before = e.query(), asked = values();
	asked.qp_state = successor(before.qp_state);
	int mask = chance(95) ? IBV_QP_STATE : 0;
	if (chance(90))
		mask |= required(before.qp_state, asked.qp_state);
	for (unsigned n = below(4); n; n--)
		mask ^= 1 << below(chance(95) ? 21 : 31);

	int err = e.try_modify(asked, mask);
	ibv_qp_attr after = e.query();
	if (!err) {
		succeeded++;
		agrees(asked, mask, after);
		return;
	}
	refused++;
	/* ENODATA: an index of a GID that there is not. */
	CHECK(err == EINVAL || err == EOPNOTSUPP || err == ENODATA);
	unchanged(before, after);
}

/* With something on its way, which goes to anybody, and a last change. */
void Generator::reset()
{
	if (e.state() == IBV_QPS_RTS && chance(50)) {
		Wr wr = p.send_wr(0, 8);
		ibv_qp_attr attr{};
		attr.qp_state = IBV_QPS_RTS;
		for (unsigned n = below(4); n; n--) {
			e.try_send(wr);
			attr.path_mig_state = ibv_mig_state(below(2));
			e.try_modify(attr, IBV_QP_STATE | IBV_QP_PATH_MIG_STATE);
		}
	}
	e.to(IBV_QPS_RESET);
	CHECK_EQ(e.query().path_mig_state, IBV_MIG_MIGRATED);
	CHECK_EQ(e.query().alt_port_num, 0);
}

void random_changes(const Env &env, ibv_qp_type type)
{
	uint64_t seed = number("PIB_SEED", std::random_device{}()),
		 steps = number("PIB_STEPS", 1500);
	EndOptions o;
	o.type = type;
	Pair p(env, o, o, false);
	if (type == IBV_QPT_UD)
		p.ah = p.a.ah_to(p.b);
	Generator g(p, seed);

	std::cout << "# PIB_SEED=" << seed << std::endl;
	for (uint64_t i = 0; i < steps; i++) {
		g.step();
		if (i % 25 == 24)
			g.reset();
	}
	/* It was neither all right nor all wrong. */
	CHECK(g.succeeded > steps / 10);
	CHECK(g.refused > steps / 10);
	g.reset();
	Pair sane(env, o);
	sane.ping();
}

} // namespace

void add_modify(Suite &suite)
{
	for (auto type : types)
		suite.add(std::string("modify.random.") + type_name(type),
			  [=](Env &env) { random_changes(env, type); });
}

} // namespace ops

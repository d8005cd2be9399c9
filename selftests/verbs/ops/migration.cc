// SPDX-License-Identifier: GPL-2.0
/* Alternate paths and migration (17.2.8). The other path is the same way once more: nothing else is needed. */
#include "end.h"
#include "forger.h"
#include "suites.h"

namespace ops {

namespace {

constexpr int arm_mask = IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;

void rearm(End &e, const End &peer)
{
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_RTS;
	attr.alt_ah_attr = e.address_of(peer);
	attr.alt_port_num = e.dev.port;
	attr.alt_timeout = 14;
	attr.path_mig_state = IBV_MIG_REARM;
	int err = e.try_modify(attr, IBV_QP_STATE | arm_mask);
	if (err == EOPNOTSUPP || err == ENOSYS)
		throw Skip("not supported");
	CHECK_EQ(err, 0);
}

void need(const Env &env)
{
	if (!env.open_a().has(IBV_DEVICE_AUTO_PATH_MIG))
		throw Skip("the device does not offer path migration");
}

/* Both sides ask for it, packets go both ways: then both are armed. */
void arm(Pair &p)
{
	rearm(p.a, p.b);
	rearm(p.b, p.a);
	for (int i = 0; i < 10; i++) {
		p.ping();
		p.a.recv({p.a.sge(2048, 64)}, 1);
		Wr back;
		back.sg = {p.b.sge(2048, 8)};
		p.b.send(back);
		p.b.expect({});
		p.a.expect({.opcode = IBV_WC_RECV});
		if (p.a.query().path_mig_state == IBV_MIG_ARMED &&
		    p.b.query().path_mig_state == IBV_MIG_ARMED)
			return;
	}
	FAIL("the alternate paths are not armed");
}

void armed(const Env &env)
{
	need(env);
	Pair p(env);
	arm(p);
	ibv_qp_attr a = p.a.query();
	CHECK_EQ(a.alt_port_num, p.a.dev.port);
	CHECK_EQ(a.alt_ah_attr.dlid, p.b.dev.port_attr.lid);
	CHECK_EQ(a.alt_timeout, 14);
}

/* One side migrates of its own will; the other follows, and says so. */
void migrate(const Env &env)
{
	need(env);
	Pair p(env);
	arm(p);
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_RTS;
	attr.path_mig_state = IBV_MIG_MIGRATED;
	p.a.modify(attr, IBV_QP_STATE | IBV_QP_PATH_MIG_STATE);
	CHECK_EQ(p.a.query().path_mig_state, IBV_MIG_MIGRATED);
	p.a.expect_event(IBV_EVENT_PATH_MIG);
	p.ping();
	p.b.expect_event(IBV_EVENT_PATH_MIG);
	CHECK_EQ(p.b.query().path_mig_state, IBV_MIG_MIGRATED);
	p.ping();
	/* And once more. */
	arm(p);
}

int ask(End &e, ibv_mig_state state)
{
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_RTS;
	attr.path_mig_state = state;
	return e.try_modify(attr, IBV_QP_STATE | IBV_QP_PATH_MIG_STATE);
}

/* An end that waits for its peer cannot call that off, and one that is armed cannot be armed (17.2.8.1). */
void refused_states(const Env &env)
{
	need(env);
	Pair p(env);
	rearm(p.a, p.b);
	CHECK_EQ(p.a.query().path_mig_state, IBV_MIG_REARM);
	CHECK_EQ(ask(p.a, IBV_MIG_MIGRATED), EINVAL);
	CHECK_EQ(p.a.query().path_mig_state, IBV_MIG_REARM);
	CHECK_EQ(ask(p.a, IBV_MIG_REARM), 0);
	arm(p);
	CHECK_EQ(ask(p.a, IBV_MIG_REARM), EINVAL);
	CHECK_EQ(ask(p.a, IBV_MIG_ARMED), EINVAL);
	CHECK_EQ(p.a.query().path_mig_state, IBV_MIG_ARMED);
	p.a.to(IBV_QPS_SQD);
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_SQD;
	attr.path_mig_state = IBV_MIG_REARM;
	CHECK_EQ(p.a.try_modify(attr, IBV_QP_STATE | IBV_QP_PATH_MIG_STATE), EINVAL);
	CHECK(!p.a.event_pending());
}

/* The path that was left is no other path: both are the same until another one is loaded. */
void spent_path(const Env &env)
{
	need(env);
	Pair p(env);
	p.a.opt.grh = true; /* of the alternate path: it differs from the first one */
	p.b.opt.grh = true;
	arm(p);
	CHECK_EQ(p.a.query().ah_attr.is_global, 0);
	CHECK_EQ(p.a.query().alt_ah_attr.is_global, 1);
	CHECK_EQ(ask(p.a, IBV_MIG_MIGRATED), 0);
	p.a.expect_event(IBV_EVENT_PATH_MIG);
	p.ping();
	p.b.expect_event(IBV_EVENT_PATH_MIG);
	for (End *e : {&p.a, &p.b}) {
		ibv_qp_attr a = e->query();
		CHECK_EQ(a.ah_attr.is_global, 1);
		CHECK_EQ(a.alt_ah_attr.is_global, 1);
		CHECK_EQ(a.alt_port_num, a.port_num);
		CHECK_EQ(a.alt_timeout, a.timeout);
		CHECK_EQ(ask(*e, IBV_MIG_REARM), EINVAL);
		CHECK_EQ(e->query().path_mig_state, IBV_MIG_MIGRATED);
	}
	p.ping();
	arm(p);
}

/* The peer goes by a path that this end was not told of. This end says so, once, and stays where it is. */
void unknown_path(const Env &env)
{
	need(env);
	EndOptions o;
	o.timeout = 8;
	o.retry = 3;
	Pair p(env, o);
	p.a.opt.grh = true; /* of the alternate path, of which b knows one without */
	arm(p);
	p.b.recv({p.b.sge(0, 64)});
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_RTS;
	attr.path_mig_state = IBV_MIG_MIGRATED;
	p.a.modify(attr, IBV_QP_STATE | IBV_QP_PATH_MIG_STATE);
	p.a.expect_event(IBV_EVENT_PATH_MIG);
	p.a.send(p.send_wr(0, 8));
	p.b.expect_event(IBV_EVENT_PATH_MIG_ERR);
	CHECK_EQ(p.b.query().path_mig_state, IBV_MIG_ARMED);
	p.a.expect({.status = IBV_WC_RETRY_EXC_ERR});
	CHECK(!p.b.event_pending());
	CHECK_EQ(p.b.state(), IBV_QPS_RTS);
}

/* A SEND by the path that is in use asks to migrate. It was sent before the peer was armed: nothing but a SEND. */
void late_request(const Env &env)
{
	constexpr uint8_t mig_req = 0x40;
	need(env);
	Forger forger(env);
	Pair p(env);
	p.a.opt.grh = true; /* of the alternate path: it differs from the first one */
	p.b.opt.grh = true;
	arm(p);
	p.ping();
	Packet packet = forger.last_to(p.b.qpn());
	packet.next();
	CHECK(!(packet.bth(1) & mig_req));
	packet.bth(1) |= mig_req;
	p.b.recv({p.b.sge(0, 64)}, 31);
	forger.send(packet);
	p.b.expect_recv({.id = 31});
	CHECK_EQ(p.b.query().path_mig_state, IBV_MIG_ARMED);
	CHECK(!p.b.event_pending());

	/* b has it already, by its PSN. Then both can still migrate. */
	p.a.send(p.send_wr(0, 8));
	p.a.expect({});
	p.b.expect_none();
	CHECK_EQ(ask(p.a, IBV_MIG_MIGRATED), 0);
	p.a.expect_event(IBV_EVENT_PATH_MIG);
	p.ping();
	p.b.expect_event(IBV_EVENT_PATH_MIG);
}

/* Nobody arms, and nobody goes, where no other path was ever named: not at the start, and not after RESET. */
void no_path(Pair &p)
{
	int refused_a = ask(p.a, IBV_MIG_REARM), refused_b = ask(p.b, IBV_MIG_REARM);
	p.ping();
	p.a.recv({p.a.sge(2048, 64)}, 1);
	Wr back;
	back.sg = {p.b.sge(2048, 8)};
	p.b.send(back);
	p.b.expect({});
	p.a.expect({.opcode = IBV_WC_RECV});
	/* Asking for the state that there is already is no error, and no event. */
	CHECK_EQ(ask(p.a, IBV_MIG_MIGRATED), 0);
	p.ping();
	CHECK_EQ(refused_a, EINVAL);
	CHECK_EQ(refused_b, EINVAL);
	CHECK_EQ(ask(p.a, IBV_MIG_ARMED), EINVAL);
	for (End *e : {&p.a, &p.b}) {
		CHECK_EQ(e->query().path_mig_state, IBV_MIG_MIGRATED);
		CHECK(!e->event_pending());
	}
}

void without_a_path(const Env &env, ibv_qp_type type)
{
	need(env);
	EndOptions o;
	o.type = type;
	Pair p(env, o);
	no_path(p);
	if (type != IBV_QPT_RC)
		return;
	arm(p);
	for (End *e : {&p.a, &p.b})
		e->to(IBV_QPS_RESET);
	p.connect();
	no_path(p);
}

/* The same in the transition that starts the requester. */
void rearmed_too_early(const Env &env)
{
	need(env);
	EndOptions o;
	Pair p(env, o, o, false);
	p.a.to_init();
	p.a.to_rtr(p.b);
	ibv_qp_attr attr{};
	attr.qp_state = IBV_QPS_RTS;
	attr.path_mig_state = IBV_MIG_REARM;
	CHECK_EQ(p.a.try_modify(attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
					      IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
					      IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_PATH_MIG_STATE),
		 EINVAL);
	CHECK_EQ(p.a.state(), IBV_QPS_RTR);
	p.a.to_rts();
}

} // namespace

void add_migration(Suite &suite)
{
	suite.add("migration.armed", armed);
	suite.add("migration.requested", migrate);
	suite.add("migration.refused_states", refused_states);
	suite.add("migration.spent_path", spent_path);
	suite.add("migration.unknown_path", unknown_path);
	suite.add("migration.late_request", late_request);
	suite.add("migration.rearmed_too_early", rearmed_too_early);
	suite.add("migration.without_a_path.rc", [](Env &env) { without_a_path(env, IBV_QPT_RC); });
	suite.add("migration.without_a_path.uc", [](Env &env) { without_a_path(env, IBV_QPT_UC); });
}

} // namespace ops

// SPDX-License-Identifier: GPL-2.0
/* Multicast: attaching, copies for each member, what members do not get (10.5). */
#include "end.h"
#include "suites.h"

namespace ops {

namespace {

/* A LID of the multicast range that no SM has given away here: local copies need no route. */
constexpr uint16_t mlid = 0xc123;

ibv_gid group(uint8_t last)
{
	ibv_gid gid{};
	gid.raw[0] = 0xff;
	gid.raw[1] = 0x12; /* transient, link-local */
	gid.raw[2] = 0x40;
	gid.raw[3] = 0x1b;
	gid.raw[15] = last;
	return gid;
}

EndOptions options()
{
	EndOptions o;
	o.type = IBV_QPT_UD;
	return o;
}

void attach(End &e, const ibv_gid &gid, uint16_t lid = mlid)
{
	if (int err = ibv_attach_mcast(e.qp.get(), &gid, lid))
		FAIL(std::string("ibv_attach_mcast: ") + strerror(err));
}

void detach(End &e, const ibv_gid &gid, uint16_t lid = mlid)
{
	if (int err = ibv_detach_mcast(e.qp.get(), &gid, lid))
		FAIL(std::string("ibv_detach_mcast: ") + strerror(err));
}

Ah way_to(const End &e, const ibv_gid &gid, uint16_t lid = mlid)
{
	ibv_ah_attr attr{};
	attr.dlid = lid;
	attr.port_num = e.dev.port;
	attr.is_global = 1;
	attr.grh.dgid = gid;
	attr.grh.sgid_index = e.dev.gid_index;
	attr.grh.hop_limit = 1;
	return Ah(made(ibv_create_ah(e.pd.get(), &attr), "ibv_create_ah"));
}

End ready(const Env &env, const EndOptions &o = options())
{
	End e(env.open_a(), o);
	if (!e.dev.device_attr.orig_attr.max_mcast_grp)
		throw Skip("no multicast");
	e.to_init();
	e.to_rtr(e);
	e.to_rts();
	return e;
}

Wr to_group(const End &e, const Ah &ah, size_t length = 32)
{
	Wr wr;
	wr.sg = {e.sge(0, length)};
	wr.ah = ah.get();
	wr.qpn = 0xffffff;
	wr.qkey = e.opt.qkey;
	return wr;
}

/* Members on one port each get a copy; who has left gets none. */
void members(const Env &env)
{
	End sender(ready(env)), one(ready(env)), two(ready(env));
	ibv_gid gid = group(1);
	Ah ah = way_to(sender, gid);
	fill(sender.mem.bytes(0, 32), 4);
	attach(one, gid);
	attach(two, gid);
	/* Once more changes nothing. */
	attach(two, gid);
	for (unsigned i = 0; i < 4; i++) {
		one.recv({one.sge(0, 100)}, 10 + i);
		two.recv({two.sge(0, 100)}, 20 + i);
		sender.send(to_group(sender, ah));
		sender.expect({.opcode = IBV_WC_SEND});
		one.expect({.id = 10 + i, .byte_len = 72, .src_qp = sender.qpn()});
		two.expect({.id = 20 + i, .byte_len = 72, .src_qp = sender.qpn()});
		check_filled(one.mem.bytes(40, 32), 4);
		check_filled(two.mem.bytes(40, 32), 4);
	}
	detach(one, gid);
	one.recv({one.sge(0, 100)}, 99);
	two.recv({two.sge(0, 100)}, 30);
	sender.send(to_group(sender, ah));
	sender.expect({});
	two.expect({.id = 30});
	one.expect_none();
	detach(two, gid);
}

/* A member that sends gets its own copy too, unless it was created so as not to. */
void sender_is_member(const Env &env, bool blocks)
{
	EndOptions o = options();
	o.create_flags = blocks ? IBV_QP_CREATE_BLOCK_SELF_MCAST_LB : 0;
	End sender(ready(env, o)), other(ready(env));
	ibv_gid gid = group(7);
	Ah ah = way_to(sender, gid);
	attach(sender, gid);
	attach(other, gid);
	sender.recv({sender.sge(4096, 100)}, 40);
	other.recv({other.sge(0, 100)}, 41);
	sender.send(to_group(sender, ah));
	bool sent = false, received = false;
	for (int i = 0; i < 2 - blocks; i++) {
		ibv_wc wc = sender.completion();
		CHECK_EQ(wc.status, IBV_WC_SUCCESS);
		(wc.wr_id == 40 ? received : sent) = true;
	}
	CHECK(sent);
	CHECK_EQ(received, !blocks);
	other.expect({.id = 41});
	sender.expect_none();
	detach(sender, gid);
	detach(other, gid);
}

/* A member without a receive request misses the message; the others do not. */
void slow_member(const Env &env)
{
	End sender(ready(env)), slow(ready(env)), quick(ready(env));
	ibv_gid gid = group(8);
	Ah ah = way_to(sender, gid);
	attach(slow, gid);
	attach(quick, gid);
	for (unsigned i = 0; i < 20; i++) {
		quick.recv({quick.sge(0, 100)}, i);
		sender.send(to_group(sender, ah));
		sender.expect({});
		quick.expect({.id = i});
	}
	slow.expect_none();
	detach(slow, gid);
	detach(quick, gid);
}

/*
 * Each copy counts as a burst, so a sender to many has to give way again and again. Nothing is lost
 * or out of order for that.
 */
void many_members(const Env &env)
{
	constexpr unsigned messages = 60;
	End sender(ready(env));
	std::vector<End> all;
	ibv_gid gid = group(9);
	Ah ah = way_to(sender, gid);
	for (unsigned i = 0; i < 40; i++) {
		End &e = all.emplace_back(ready(env));
		attach(e, gid);
		for (unsigned m = 0; m < messages; m++)
			e.recv({e.sge(0, 100)}, m);
	}
	for (unsigned m = 0; m < messages; m++)
		sender.send(to_group(sender, ah, m + 1));
	for (unsigned m = 0; m < messages; m++)
		sender.expect({.opcode = IBV_WC_SEND});
	for (End &e : all) {
		for (unsigned m = 0; m < messages; m++)
			e.expect({.id = m, .byte_len = 40 + m + 1});
		detach(e, gid);
	}
}

/* Another group's messages, and those with a wrong Q_Key, are not delivered. */
void others(const Env &env)
{
	End sender(ready(env)), e(ready(env));
	ibv_gid mine = group(2), other = group(3);
	attach(e, mine);
	Ah to_mine = way_to(sender, mine), to_other = way_to(sender, other, mlid + 1);
	Ah other_gid = way_to(sender, other);
	e.recv({e.sge(4096, 100)}, 50);
	sender.send(to_group(sender, to_other));
	sender.expect({});
	/* The same LID can serve two groups. */
	sender.send(to_group(sender, other_gid));
	sender.expect({});
	Wr wr = to_group(sender, to_mine);
	wr.qkey ^= 5;
	sender.send(wr);
	sender.expect({});
	sender.send(to_group(sender, to_mine, 11));
	sender.expect({});
	e.expect({.id = 50, .byte_len = 51});
	e.expect_none();
	detach(e, mine);
}

/* A multicast packet names its group in a GRH (9.3): no handle without. */
void without_grh(const Env &env)
{
	End e(ready(env));
	if (e.dev.needs_grh())
		throw Skip("RoCE has no LIDs");
	ibv_ah_attr attr{};
	attr.dlid = mlid;
	attr.port_num = e.dev.port;
	CHECK(!ibv_create_ah(e.pd.get(), &attr));
}

void refused(const Env &env)
{
	Device dev = env.open_a();
	if (!dev.device_attr.orig_attr.max_mcast_grp)
		throw Skip("no multicast");
	End e(env.open_a(), options());
	e.to_init();
	ibv_gid gid = group(5);
	CHECK(ibv_detach_mcast(e.qp.get(), &gid, mlid) != 0);
	ibv_gid unicast = e.dev.gid;
	CHECK(ibv_attach_mcast(e.qp.get(), &unicast, mlid) != 0);
	End rc(env.open_a(), {});
	rc.to_init();
	CHECK(ibv_attach_mcast(rc.qp.get(), &gid, mlid) != 0);
}

/* A QP that is destroyed while attached leaves no trace. */
void destroyed_attached(const Env &env)
{
	for (int i = 0; i < 3; i++) {
		End e(env.open_a(), options());
		if (!e.dev.device_attr.orig_attr.max_mcast_grp)
			throw Skip("no multicast");
		e.to_init();
		ibv_gid gid = group(6);
		attach(e, gid);
		/* uverbs refuses to destroy an attached QP; the end of the process does it. */
		if (int err = ibv_destroy_qp(e.qp.get())) {
			CHECK_EQ(err, EBUSY);
			detach(e, gid);
		} else {
			e.qp.release();
		}
	}
}

} // namespace

void add_multicast(Suite &suite)
{
	suite.add("multicast.members", members);
	suite.add("multicast.sender_is_member", [](Env &env) { sender_is_member(env, false); });
	suite.add("multicast.sender_blocks_itself", [](Env &env) { sender_is_member(env, true); });
	suite.add("multicast.slow_member", slow_member);
	suite.add("multicast.many_members", many_members);
	suite.add("multicast.others", others);
	suite.add("multicast.without_grh", without_grh);
	suite.add("multicast.refused", refused);
	suite.add("multicast.destroyed_attached", destroyed_attached);
}

} // namespace ops

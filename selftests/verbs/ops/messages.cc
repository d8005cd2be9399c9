// SPDX-License-Identifier: GPL-2.0
/* SEND with all it can carry: sizes, scatter elements, inline data, immediate data, MTUs. */
#include "end.h"
#include "suites.h"

namespace ops {

namespace {

constexpr ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};
constexpr size_t mib = 1 << 20;

EndOptions options(ibv_qp_type type, size_t memory = 1 << 16)
{
	EndOptions o;
	o.type = type;
	o.memory = memory;
	return o;
}

/* One message of that length, checked at the far end: completion fields and bytes. */
void one_message(Pair &p, size_t length, ibv_wr_opcode op = IBV_WR_SEND, unsigned flags = 0)
{
	size_t grh = grh_len(p.b);
	bool imm = op == IBV_WR_SEND_WITH_IMM;
	Wr wr = p.send_wr(0, length, op);

	fill(p.a.mem.bytes(0, length), length);
	p.b.recv({p.b.sge(0, length + grh)}, 77);
	wr.flags |= flags;
	wr.imm = imm ? 0x89abcdef : 0;
	wr.id = 66;
	if (!length)
		wr.sg.clear();
	p.a.send(wr);
	p.a.expect({.opcode = IBV_WC_SEND, .id = 66});
	Expect want{.opcode = IBV_WC_RECV, .id = 77, .byte_len = length + grh};
	/* Whether a GRH came is told of datagrams only. */
	want.flags = (imm ? IBV_WC_WITH_IMM : 0) |
		     (grh && (p.a.opt.grh || p.a.dev.needs_grh()) ? IBV_WC_GRH : 0);
	if (!grh && (p.a.opt.grh || p.a.dev.needs_grh()))
		want.flags.reset();
	if (imm)
		want.imm = 0x89abcdef;
	if (p.a.datagram())
		want.src_qp = p.a.qpn();
	p.b.expect_recv(want);
	check_filled(p.b.mem.bytes(grh, length), length);
}

void sizes(Pair &p, ibv_wr_opcode op)
{
	size_t mtu = 128u << p.a.opt.mtu;
	for (size_t length :
	     {size_t(0), size_t(1), size_t(2), size_t(3), size_t(4), size_t(5), mtu - 1, mtu})
		one_message(p, length, op);
	if (p.a.datagram())
		return;
	for (size_t length : {mtu + 1, 2 * mtu, 3 * mtu - 1, 17 * mtu + 5})
		if (length <= p.a.mem.size())
			one_message(p, length, op);
}

/* Gathered from many elements of odd lengths, scattered over others. */
void scattered(Pair &p, unsigned n)
{
	size_t grh = grh_len(p.b), total = 0;
	std::vector<ibv_sge> from, to;

	for (unsigned i = 0; i < n; i++) {
		size_t length = 1 + i * 7 % 61;
		from.push_back(p.a.sge(i * 64, length));
		total += length;
	}
	fill(p.a.mem.bytes(0, p.a.mem.size()), 5);
	std::vector<uint8_t> sent;
	for (const auto &s : from) {
		auto *data = reinterpret_cast<uint8_t *>(s.addr);
		sent.insert(sent.end(), data, data + s.length);
	}
	size_t left = total + grh;
	for (unsigned i = 0; i < n; i++) {
		size_t length = i + 1 == n ? left : std::min(left, left / n);
		to.push_back(p.b.sge(i * 2048, length));
		left -= length;
	}
	p.b.recv(to);
	Wr wr = p.send_wr(0, 0);
	wr.sg = from;
	p.a.send(wr);
	p.a.expect({});
	p.b.expect_recv({.byte_len = total + grh});
	std::vector<uint8_t> got;
	for (const auto &s : to) {
		auto *data = reinterpret_cast<uint8_t *>(s.addr);
		got.insert(got.end(), data, data + s.length);
	}
	got.erase(got.begin(), got.begin() + grh);
	CHECK(got == sent);
}

void many_elements(const Env &env, ibv_qp_type type)
{
	EndOptions o = options(type);
	unsigned most = std::min(32, env.open_a().device_attr.orig_attr.max_sge);
	o.cap.max_send_sge = o.cap.max_recv_sge = most;
	Pair p(env, o);
	for (unsigned n = 1; n <= most; n += n < 4 ? 1 : 7)
		scattered(p, n);
	scattered(p, most);
}

/* Inline data is taken when the request is posted: the buffer may change at once. */
void inline_sizes(const Env &env, ibv_qp_type type, uint32_t most)
{
	EndOptions o = options(type);
	o.cap.max_inline_data = most;
	Pair p(env, o);
	CHECK(p.a.opt.cap.max_inline_data >= most);
	size_t grh = grh_len(p.b);
	for (size_t length : {size_t(0), size_t(1), size_t(15), size_t(16), size_t(17),
			      size_t(most / 2), size_t(most)}) {
		if (type == IBV_QPT_UD && length > p.a.dev.mtu())
			continue;
		fill(p.a.mem.bytes(0, length), length);
		memset(p.b.mem.at(), 0, p.b.mem.size());
		p.b.recv({p.b.sge(0, length + grh)});
		Wr wr = p.send_wr(0, length);
		wr.flags |= IBV_SEND_INLINE;
		/* Its key is not looked at. */
		wr.sg = {{p.a.mem.addr(), static_cast<uint32_t>(length / 2), 0xdead},
			 {p.a.mem.addr(length / 2), static_cast<uint32_t>(length - length / 2),
			  0xbeef}};
		p.a.send(wr);
		memset(p.a.mem.at(), 0xee, length);
		p.a.expect({});
		p.b.expect_recv({.byte_len = length + grh});
		check_filled(p.b.mem.bytes(grh, length), length);
	}
	Wr wr = p.send_wr(0, p.a.opt.cap.max_inline_data + 1);
	wr.flags |= IBV_SEND_INLINE;
	CHECK(p.a.try_send(wr) != 0);
}

/* Nothing inline was asked for: what the scatter list would take is granted all the same. */
void inline_unasked(const Env &env, ibv_qp_type type)
{
	EndOptions o = options(type);
	o.cap.max_send_sge = 4;
	o.cap.max_inline_data = 0;
	Pair p(env, o);
	CHECK(p.a.opt.cap.max_inline_data >= 64);
	size_t grh = grh_len(p.b);
	fill(p.a.mem.bytes(0, 64), 5);
	p.b.recv({p.b.sge(0, 64 + grh)});
	Wr wr = p.send_wr(0, 64);
	wr.flags |= IBV_SEND_INLINE;
	p.a.send(wr);
	p.a.expect({});
	p.b.expect_recv({.byte_len = 64 + grh});
	check_filled(p.b.mem.bytes(grh, 64), 5);
}

void each_mtu(const Env &env, ibv_qp_type type, ibv_mtu mtu)
{
	EndOptions o = options(type, 1 << 17);
	if (mtu > env.open_a().port_attr.active_mtu)
		throw Skip("the port's MTU is smaller");
	o.mtu = mtu;
	Pair p(env, o);
	sizes(p, IBV_WR_SEND);
	one_message(p, 65536 + 3);
}

void big(const Env &env, ibv_qp_type type)
{
	Pair p(env, options(type, 64 * mib));
	one_message(p, 64 * mib);
	one_message(p, 64 * mib - 1);
}

/* PSNs of 24 bits run over their end in the middle of messages. */
void psn_wrap(const Env &env, ibv_qp_type type)
{
	EndOptions oa = options(type, 1 << 16), ob = oa;
	oa.psn = 0xfffffe;
	ob.psn = 0xfffffd;
	oa.mtu = ob.mtu = IBV_MTU_256;
	Pair p(env, oa, ob);
	for (int i = 0; i < 4; i++) {
		one_message(p, 1000 + i);
		if (type != IBV_QPT_RC)
			continue;
		Wr read = p.rdma_wr(IBV_WR_RDMA_READ, 0, 2000);
		p.a.send(read);
		p.a.expect({.opcode = IBV_WC_RDMA_READ, .byte_len = 2000});
	}
	one_message(p, 65536);
}

/* Without IBV_SEND_SIGNALED only errors complete; what follows says that it was done. */
void unsignalled(const Env &env, ibv_qp_type type)
{
	Pair p(env, options(type));
	size_t grh = grh_len(p.b);
	for (unsigned round = 0; round < 40; round++) {
		for (unsigned i = 0; i < 10; i++)
			p.b.recv({p.b.sge(i * 256, 256)}, i);
		for (unsigned i = 0; i < 10; i++) {
			Wr wr = p.send_wr(i * 256, i);
			wr.flags = i == 9 ? IBV_SEND_SIGNALED : 0;
			wr.id = i;
			p.a.send(wr);
		}
		p.a.expect({.opcode = IBV_WC_SEND, .id = 9});
		for (unsigned i = 0; i < 10; i++)
			p.b.expect_recv({.id = i, .byte_len = i + grh});
	}
	p.a.expect_none();
}

void sq_sig_all(const Env &env)
{
	EndOptions o;
	o.sig_all = true;
	Pair p(env, o);
	for (unsigned i = 0; i < 8; i++) {
		p.b.recv({p.b.sge(0, 64)});
		Wr wr = p.send_wr(0, 8);
		wr.flags = 0;
		wr.id = i;
		p.a.send(wr);
		p.a.expect({.opcode = IBV_WC_SEND, .id = i});
		p.b.expect_recv({});
	}
}

/* Requests posted in one call arrive in order; a bad one ends the call, and bad_wr names it. */
void chain(const Env &env)
{
	Pair p(env);
	ibv_send_wr wr[3]{}, *bad = nullptr;
	ibv_sge sge = p.a.sge(0, 8);

	for (int i = 0; i < 3; i++) {
		p.b.recv({p.b.sge(0, 64)}, i);
		wr[i].wr_id = i;
		wr[i].next = i < 2 ? &wr[i + 1] : nullptr;
		wr[i].opcode = IBV_WR_SEND;
		wr[i].sg_list = &sge;
		wr[i].num_sge = 1;
		wr[i].send_flags = IBV_SEND_SIGNALED;
	}
	wr[2].num_sge = p.a.opt.cap.max_send_sge + 1;
	CHECK(ibv_post_send(p.a.qp.get(), wr, &bad) != 0);
	CHECK(bad == &wr[2]);
	for (unsigned i = 0; i < 2; i++) {
		p.a.expect({.id = i});
		p.b.expect_recv({.id = i});
	}
	p.a.expect_none();
}

/* Every slot that was granted can be used, and no more. */
void full_queues(const Env &env, ibv_qp_type type)
{
	Pair p(env, options(type));
	unsigned n = p.b.opt.cap.max_recv_wr;
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < n; i++)
			p.b.recv({p.b.sge(0, 64)}, i);
		CHECK_EQ(p.b.try_recv({p.b.sge(0, 64)}), ENOMEM);
		for (unsigned i = 0; i < n; i++) {
			Wr wr = p.send_wr(0, 4);
			p.a.send(wr);
			p.a.expect({});
			p.b.expect_recv({.id = i});
		}
	}
}

void send_queue_full(const Env &env)
{
	Pair p(env);
	unsigned posted = 0;
	/* No receive is posted, so nothing can finish. */
	int err = 0;
	while (!(err = p.a.try_send(p.send_wr(0, 4))))
		posted++;
	CHECK(posted >= p.a.opt.cap.max_send_wr);
	CHECK_EQ(err, ENOMEM);
	for (unsigned i = 0; i < posted; i++) {
		p.b.recv({p.b.sge(0, 64)}, i);
		p.a.expect({});
		p.b.expect_recv({.id = i});
	}
}

/* The other direction at the same time. */
void both_ways(const Env &env, ibv_qp_type type)
{
	Pair p(env, options(type));
	for (unsigned round = 0; round < 20; round++) {
		size_t length = 100 + round * 199;
		fill(p.a.mem.bytes(0, length), round);
		fill(p.b.mem.bytes(0, length), round + 100);
		p.a.recv({p.a.sge(32768, length)}, 5);
		p.b.recv({p.b.sge(32768, length)}, 5);
		Wr back;
		back.sg = {p.b.sge(0, length)};
		back.id = 6;
		Wr forth = p.send_wr(0, length);
		forth.id = 6;
		p.a.send(forth);
		p.b.send(back);
		for (End *end : {&p.a, &p.b}) {
			bool sent = false, received = false;
			for (int i = 0; i < 2; i++) {
				ibv_wc wc = end->completion();
				CHECK_EQ(wc.status, IBV_WC_SUCCESS);
				(wc.wr_id == 5 ? received : sent) = true;
			}
			CHECK(sent && received);
		}
		check_filled(p.b.mem.bytes(32768, length), round);
		check_filled(p.a.mem.bytes(32768, length), round + 100);
	}
}

/* A QP that talks to itself. */
void to_itself(const Env &env)
{
	End e(env.open_a(), {});
	e.to_init();
	e.to_rtr(e);
	e.to_rts();
	fill(e.mem.bytes(0, 5000), 3);
	e.recv({e.sge(16384, 5000)}, 1);
	Wr wr;
	wr.sg = {e.sge(0, 5000)};
	wr.id = 2;
	e.send(wr);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(e.completion().status, IBV_WC_SUCCESS);
	check_filled(e.mem.bytes(16384, 5000), 3);
}

} // namespace

void add_messages(Suite &suite)
{
	for (auto type : types) {
		std::string t = std::string("send.") + type_name(type);
		suite.add(t + ".sizes", [=](Env &env) {
			Pair p(env, options(type));
			sizes(p, IBV_WR_SEND);
		});
		suite.add(t + ".immediate", [=](Env &env) {
			Pair p(env, options(type));
			sizes(p, IBV_WR_SEND_WITH_IMM);
		});
		suite.add(t + ".grh", [=](Env &env) {
			EndOptions o = options(type);
			o.grh = true;
			Pair p(env, o);
			sizes(p, IBV_WR_SEND);
		});
		suite.add(t + ".scatter_gather", [=](Env &env) { many_elements(env, type); });
		for (uint32_t most : {64, 512, 2048})
			suite.add(t + ".inline_" + std::to_string(most), [=](Env &env) {
				if (most > 400 && env.open_a().needs_grh())
					throw Skip("the device offers less");
				inline_sizes(env, type, most);
			});
		suite.add(t + ".inline_unasked", [=](Env &env) { inline_unasked(env, type); });
		suite.add(t + ".unsignalled", [=](Env &env) { unsignalled(env, type); });
		suite.add(t + ".receive_queue_full", [=](Env &env) { full_queues(env, type); });
		if (type == IBV_QPT_UD)
			continue;
		for (auto mtu :
		     {IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096})
			suite.add(t + ".mtu_" + std::to_string(128 << mtu),
				  [=](Env &env) { each_mtu(env, type, mtu); });
		suite.add(t + ".both_ways", [=](Env &env) { both_ways(env, type); });
		suite.add(t + ".psn_wraps", [=](Env &env) { psn_wrap(env, type); });
		suite.add(t + ".64_mib", [=](Env &env) {
			if (type == IBV_QPT_UC && env.two_devices())
				throw Skip(
					"an unreliable message of thousands of datagrams may be lost on a real wire");
			big(env, type);
		});
	}
	suite.add("send.rc.sq_sig_all", sq_sig_all);
	suite.add("send.rc.chain", chain);
	suite.add("send.rc.send_queue_full", send_queue_full);
	suite.add("send.rc.to_itself", to_itself);
}

} // namespace ops

// SPDX-License-Identifier: GPL-2.0
/* RDMA WRITE, with and without immediate data, and RDMA READ. */
#include <chrono>

#include "end.h"
#include "suites.h"

namespace ops {

namespace {

constexpr size_t mib = 1 << 20;

EndOptions options(ibv_qp_type type, size_t memory = 1 << 17)
{
	EndOptions o;
	o.type = type;
	o.memory = memory;
	return o;
}

void one_write(Pair &p, size_t offset, size_t length)
{
	fill(p.a.mem.bytes(offset, length), length + 1);
	memset(p.b.mem.at(), 0, p.b.mem.size());
	p.a.send(p.rdma_wr(IBV_WR_RDMA_WRITE, offset, length));
	p.a.expect({.opcode = IBV_WC_RDMA_WRITE});
	/* UC completes when it is sent; what follows in order tells that it has arrived. */
	if (p.a.opt.type == IBV_QPT_UC) {
		p.b.recv({});
		Wr marker = p.send_wr(0, 0);
		p.a.send(marker);
		p.a.expect({});
		p.b.expect_recv({});
	}
	check_filled(p.b.mem.bytes(offset, length), length + 1);
	check_all(p.b.mem.bytes(0, offset), 0);
	check_all(p.b.mem.bytes(offset + length, p.b.mem.size() - offset - length), 0);
}

void writes(const Env &env, ibv_qp_type type)
{
	Pair p(env, options(type));
	size_t mtu = p.a.dev.mtu();
	for (size_t length :
	     {size_t(0), size_t(1), size_t(7), mtu - 1, mtu, mtu + 1, 5 * mtu, size_t(65537)})
		one_write(p, length % 13, length);
}

/* Nothing is written, so the key and the address need not be any (C9-88). */
void zero_length(const Env &env, ibv_wr_opcode op)
{
	Pair p(env);
	Wr wr = p.rdma_wr(op, 0, 0);
	wr.sg.clear();
	wr.addr = 0;
	wr.rkey = 0;
	p.a.send(wr);
	p.a.expect({.opcode = op == IBV_WR_RDMA_READ ? IBV_WC_RDMA_READ : IBV_WC_RDMA_WRITE});
	CHECK_EQ(p.b.state(), IBV_QPS_RTS);
}

void write_immediate(const Env &env, ibv_qp_type type)
{
	Pair p(env, options(type));
	for (size_t length : {0, 1, 4096, 70000}) {
		fill(p.a.mem.bytes(0, length), length);
		/* The receive's own buffer is left alone. */
		memset(p.b.mem.at(100000), 0x77, 64);
		p.b.recv({p.b.sge(100000, 64)}, 4);
		Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE_WITH_IMM, 0, length);
		wr.imm = 0x01020304 + length;
		p.a.send(wr);
		p.a.expect({.opcode = IBV_WC_RDMA_WRITE});
		p.b.expect_recv({.opcode = IBV_WC_RECV_RDMA_WITH_IMM,
				 .id = 4,
				 .byte_len = length,
				 .imm = 0x01020304 + length,
				 .flags = IBV_WC_WITH_IMM});
		check_filled(p.b.mem.bytes(0, length), length);
		check_all(p.b.mem.bytes(100000, 64), 0x77);
	}
}

/* A receive request without buffers suffices for the immediate data. */
void write_immediate_no_buffer(const Env &env)
{
	Pair p(env);
	p.b.recv({}, 9);
	Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 100);
	wr.imm = 5;
	p.a.send(wr);
	p.a.expect({});
	p.b.expect_recv({.opcode = IBV_WC_RECV_RDMA_WITH_IMM, .id = 9, .byte_len = 100, .imm = 5});
}

void reads(const Env &env)
{
	Pair p(env, options(IBV_QPT_RC));
	size_t mtu = p.a.dev.mtu();
	for (size_t length :
	     {size_t(0), size_t(1), size_t(9), mtu - 1, mtu, mtu + 1, 7 * mtu + 3, size_t(65537)}) {
		fill(p.b.mem.bytes(3, length), length + 2);
		memset(p.a.mem.at(), 0, p.a.mem.size());
		p.a.send(p.rdma_wr(IBV_WR_RDMA_READ, 3, length));
		p.a.expect({.opcode = IBV_WC_RDMA_READ, .byte_len = length});
		check_filled(p.a.mem.bytes(3, length), length + 2);
		check_all(p.a.mem.bytes(3 + length, p.a.mem.size() - 3 - length), 0);
	}
}

/* More READs than may be outstanding, scattered into several elements each. */
void many_reads(const Env &env)
{
	for (uint8_t depth : {1, 2, 4}) {
		EndOptions o = options(IBV_QPT_RC);
		o.rd_atomic = depth;
		Pair p(env, o);
		constexpr unsigned n = 40, length = 1501;
		fill(p.b.mem.bytes(0, n * length), 8);
		memset(p.a.mem.at(), 0, p.a.mem.size());
		for (unsigned i = 0; i < n; i++) {
			Wr wr = p.rdma_wr(IBV_WR_RDMA_READ, i * length, length);
			wr.sg = {p.a.sge(i * length, 1), p.a.sge(i * length + 1, 1024),
				 p.a.sge(i * length + 1025, length - 1025)};
			wr.id = i;
			p.a.send(wr);
		}
		for (unsigned i = 0; i < n; i++)
			p.a.expect({.opcode = IBV_WC_RDMA_READ, .id = i, .byte_len = length});
		check_filled(p.a.mem.bytes(0, n * length), 8);
	}
}

void each_mtu(const Env &env, ibv_mtu mtu)
{
	EndOptions o = options(IBV_QPT_RC);
	if (mtu > env.open_a().port_attr.active_mtu)
		throw Skip("the port's MTU is smaller");
	o.mtu = mtu;
	Pair p(env, o);
	one_write(p, 5, 100001);
	fill(p.b.mem.bytes(0, 100001), 4);
	p.a.send(p.rdma_wr(IBV_WR_RDMA_READ, 0, 100001));
	p.a.expect({});
	check_filled(p.a.mem.bytes(0, 100001), 4);
}

void big(const Env &env, ibv_wr_opcode op)
{
	Pair p(env, options(IBV_QPT_RC, 64 * mib));
	bool read = op == IBV_WR_RDMA_READ;
	fill((read ? p.b : p.a).mem.bytes(0, 64 * mib), 31);
	p.a.send(p.rdma_wr(op, 0, 64 * mib));
	p.a.expect({});
	check_filled((read ? p.a : p.b).mem.bytes(0, 64 * mib), 31);
}

/* With a fence, a SEND waits for the READ before it and carries what was read (10.8.3.3). */
void fence(const Env &env)
{
	Pair p(env);
	for (unsigned round = 0; round < 30; round++) {
		size_t length = 20000;
		fill(p.b.mem.bytes(0, length), round);
		memset(p.a.mem.at(), 0, length);
		p.b.recv({p.b.sge(32768, length)});
		Wr read = p.rdma_wr(IBV_WR_RDMA_READ, 0, length);
		p.a.send(read);
		Wr wr = p.send_wr(0, length);
		wr.flags |= IBV_SEND_FENCE;
		p.a.send(wr);
		p.a.expect({.opcode = IBV_WC_RDMA_READ});
		p.a.expect({.opcode = IBV_WC_SEND});
		p.b.expect_recv({.byte_len = length});
		check_filled(p.b.mem.bytes(32768, length), round);
	}
}

/* A READ sees the WRITEs that were posted before it. */
void read_after_write(const Env &env)
{
	Pair p(env);
	for (unsigned i = 0; i < 50; i++) {
		fill(p.a.mem.bytes(0, 9000), i);
		Wr write = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 9000);
		write.flags = 0;
		p.a.send(write);
		Wr read = p.rdma_wr(IBV_WR_RDMA_READ, 0, 9000);
		read.sg = {p.a.sge(16384, 9000)};
		p.a.send(read);
		p.a.expect({.opcode = IBV_WC_RDMA_READ});
		check_filled(p.a.mem.bytes(16384, 9000), i);
	}
}

/* Seconds that @op takes for 64 MiB. */
double duration(const Env &env, ibv_wr_opcode op, ibv_rate rate)
{
	EndOptions o = options(IBV_QPT_RC, 64 * mib);
	o.static_rate = rate;
	Pair p(env, o);
	const auto begin = std::chrono::steady_clock::now();
	p.a.send(p.rdma_wr(op, 0, 64 * mib));
	p.a.expect({});
	return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/* No faster than the path (9.11.1). Requests are slowed down by their sender, READs by who answers. */
void static_rate(const Env &env, ibv_wr_opcode op)
{
	constexpr double least = 64 * mib * 8 / 2.5e9;
	double quickest = duration(env, op, IBV_RATE_MAX);

	for (int i = 0; i < 10 && quickest >= least; i++)
		quickest = std::min(quickest, duration(env, op, IBV_RATE_MAX));
	if (quickest >= least)
		throw Skip(std::string("no faster than 2.5 Gbit/s without a static rate") +
			   (env.two_devices() ? ", over a wire" : ""));
	CHECK(duration(env, op, IBV_RATE_2_5_GBPS) >= least);
}

/* WRITE from many elements into one range, READ from one range into many. */
void scattered(const Env &env)
{
	EndOptions o = options(IBV_QPT_RC);
	unsigned most = std::min(32, env.open_a().device_attr.orig_attr.max_sge);
	o.cap.max_send_sge = o.cap.max_recv_sge = most;
	Pair p(env, o);
	constexpr size_t each = 333;
	size_t total = most * each;
	for (bool read : {false, true}) {
		std::vector<ibv_sge> sg;
		for (unsigned i = 0; i < most; i++) {
			sg.push_back(p.a.sge(i * 1024, each));
			if (!read)
				for (size_t k = 0; k < each; k++)
					p.a.mem.at(i * 1024)[k] = i * 3 + k;
		}
		Wr wr = p.rdma_wr(read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 0, total);
		wr.sg = sg;
		if (read)
			memset(p.a.mem.at(), 0, p.a.mem.size());
		p.a.send(wr);
		p.a.expect({});
		for (unsigned i = 0; i < most; i++)
			for (size_t k = 0; k < each; k++)
				CHECK_EQ((read ? p.a.mem.at(i * 1024)[k] : p.b.mem.at(i * each)[k]),
					 uint8_t(i * 3 + k));
	}
}

} // namespace

void add_rdma(Suite &suite)
{
	suite.add("write.rc.sizes", [](Env &env) { writes(env, IBV_QPT_RC); });
	suite.add("write.uc.sizes", [](Env &env) { writes(env, IBV_QPT_UC); });
	suite.add("write.rc.zero_length", [](Env &env) { zero_length(env, IBV_WR_RDMA_WRITE); });
	suite.add("write_imm.rc", [](Env &env) { write_immediate(env, IBV_QPT_RC); });
	suite.add("write_imm.uc", [](Env &env) { write_immediate(env, IBV_QPT_UC); });
	suite.add("write_imm.rc.no_buffer", write_immediate_no_buffer);
	suite.add("read.rc.sizes", reads);
	suite.add("read.rc.zero_length", [](Env &env) { zero_length(env, IBV_WR_RDMA_READ); });
	suite.add("read.rc.many", many_reads);
	for (auto mtu : {IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096})
		suite.add("rdma.rc.mtu_" + std::to_string(128 << mtu),
			  [=](Env &env) { each_mtu(env, mtu); });
	suite.add("write.rc.64_mib", [](Env &env) { big(env, IBV_WR_RDMA_WRITE); });
	suite.add("read.rc.64_mib", [](Env &env) { big(env, IBV_WR_RDMA_READ); });
	suite.add("rdma.rc.scatter_gather", scattered);
	suite.add("write.rc.static_rate", [](Env &env) { static_rate(env, IBV_WR_RDMA_WRITE); });
	suite.add("read.rc.static_rate", [](Env &env) { static_rate(env, IBV_WR_RDMA_READ); });
	suite.add("rdma.rc.read_after_write", read_after_write);
	suite.add("rdma.rc.fence", fence);
}

} // namespace ops

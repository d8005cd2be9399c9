// SPDX-License-Identifier: GPL-2.0
/* The device does what it says it can do, and refuses what is beyond. */
#include <algorithm>
#include <functional>
#include <arpa/inet.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "nobody.h"
#include "suites.h"

namespace ops {

namespace {

/* All work requests that may be posted at once, on one QP. */
void work_requests(const Env &env)
{
	EndOptions o;
	Device dev = env.open_a();
	int most = dev.device_attr.orig_attr.max_qp_wr;
	o.cap = {unsigned(most), unsigned(most), 1, 1, 0};
	o.cqe = std::min(2 * most, dev.device_attr.orig_attr.max_cqe);
	Pair p(env, o);
	CHECK(p.a.opt.cap.max_send_wr >= unsigned(most));
	for (int i = 0; i < most; i++)
		p.b.recv({p.b.sge(0, 8)}, i);
	for (int i = 0; i < most; i++) {
		Wr wr = p.send_wr(0, 1);
		wr.id = i;
		p.a.send(wr);
	}
	for (int i = 0; i < most; i++) {
		p.a.expect({.id = i});
		p.b.expect_recv({.id = i});
	}
}

void queue_pair_too_big(const Env &env)
{
	End e(env.open_a(), {});
	const ibv_device_attr &d = e.dev.device_attr.orig_attr;
	const ibv_qp_cap wrong[] = {
		{unsigned(d.max_qp_wr + 1), 1, 1, 1, 0},
		{1, unsigned(d.max_qp_wr + 1), 1, 1, 0},
		{1, 1, unsigned(d.max_sge + 1), 1, 0},
		{1, 1, 1, unsigned(d.max_sge + 1), 0},
		{1, 1, 1, 1, 1 << 20},
	};
	for (const auto &cap : wrong) {
		ibv_qp_init_attr attr{};
		attr.send_cq = attr.recv_cq = e.cq.get();
		attr.cap = cap;
		attr.qp_type = IBV_QPT_RC;
		CHECK(!ibv_create_qp(e.pd.get(), &attr));
	}
}

void completion_queue(const Env &env)
{
	Device dev = env.open_a();
	Cq cq(made(ibv_create_cq(dev.ctx.get(), dev.device_attr.orig_attr.max_cqe, nullptr, nullptr,
				 0),
		   "ibv_create_cq"));
	CHECK(cq->cqe >= dev.device_attr.orig_attr.max_cqe);
}

/* A full CQ of a middling size gives every entry back, in order. */
void completion_queue_full(const Env &env)
{
	EndOptions o;
	o.cap.max_send_wr = 1000;
	o.cqe = 1000;
	Pair p(env, o);
	for (int i = 0; i < 1000; i++) {
		Wr wr = p.rdma_wr(IBV_WR_RDMA_WRITE, 0, 4);
		wr.id = i;
		p.a.send(wr);
	}
	p.a.expect({.id = 0});
	for (int i = 1; i < 1000; i++)
		p.a.expect({.id = i});
	CHECK_EQ(p.a.state(), IBV_QPS_RTS);
}

void shared_queue(const Env &env)
{
	Device dev = env.open_a();
	Pd pd(made(ibv_alloc_pd(dev.ctx.get()), "ibv_alloc_pd"));
	ibv_srq_init_attr attr{};
	attr.attr.max_wr = dev.device_attr.orig_attr.max_srq_wr;
	attr.attr.max_sge = 1;
	Srq srq(made(ibv_create_srq(pd.get(), &attr), "ibv_create_srq"));
	attr.attr.max_wr = 4;
	attr.attr.max_sge = dev.device_attr.orig_attr.max_srq_sge;
	Srq wide(made(ibv_create_srq(pd.get(), &attr), "ibv_create_srq"));
	CHECK(attr.attr.max_sge >= unsigned(dev.device_attr.orig_attr.max_srq_sge));
}

/* As many of each as anybody here can wait for. */
void many_objects(const Env &env)
{
	End e(env.open_a(), {});
	const ibv_device_attr &d = e.dev.device_attr.orig_attr;
	std::vector<Pd> pds;
	for (int i = 0, n = std::min(d.max_pd - 1, 500); i < n; i++)
		pds.emplace_back(made(ibv_alloc_pd(e.dev.ctx.get()), "ibv_alloc_pd"));
	std::vector<Mr> mrs;
	for (int i = 0, n = std::min(d.max_mr - 1, 2000); i < n; i++)
		mrs.emplace_back(
			made(ibv_reg_mr(pds[i % pds.size()].get(), e.mem.at(), 4096, all_access),
			     "ibv_reg_mr"));
	std::vector<uint32_t> keys;
	for (const auto &mr : mrs)
		keys.push_back(mr->lkey);
	std::ranges::sort(keys);
	CHECK(std::ranges::adjacent_find(keys) == keys.end());
	std::vector<Cq> cqs;
	for (int i = 0, n = std::min(d.max_cq - 1, 300); i < n; i++)
		cqs.emplace_back(made(ibv_create_cq(e.dev.ctx.get(), 4, nullptr, nullptr, 0),
				      "ibv_create_cq"));
	std::vector<Qp> qps;
	std::vector<uint32_t> numbers;
	ibv_qp_init_attr attr{};
	attr.send_cq = attr.recv_cq = e.cq.get();
	attr.qp_type = IBV_QPT_RC;
	for (int i = 0, n = std::min(d.max_qp - 2, 1000); i < n; i++) {
		attr.cap = {2, 2, 1, 1, 0};
		qps.emplace_back(made(ibv_create_qp(e.pd.get(), &attr), "ibv_create_qp"));
		numbers.push_back(qps.back()->qp_num);
	}
	std::ranges::sort(numbers);
	CHECK(std::ranges::adjacent_find(numbers) == numbers.end());
	CHECK(numbers.front() > 1 && numbers.back() < 0xffffff);
	Pair p(env);
	p.ping();
}

void read_depth(const Env &env)
{
	EndOptions o;
	o.rd_atomic = env.open_a().device_attr.orig_attr.max_qp_rd_atom;
	o.memory = 1 << 18;
	Pair p(env, o);
	fill(p.b.mem.bytes(0, 1 << 17), 1);
	for (unsigned i = 0; i < 64; i++) {
		Wr wr = p.rdma_wr(IBV_WR_RDMA_READ, i * 2048, 2048);
		wr.id = i;
		p.a.send(wr);
	}
	for (unsigned i = 0; i < 64; i++)
		p.a.expect({.id = i});
	check_filled(p.a.mem.bytes(0, 1 << 17), 1);
}

/* Rings are memory that does not go away: a user has as much of it as he may lock. */
void memory_locked(const Env &env)
{
	become_nobody(env.open_a().ctx->device->dev_name);
	rlimit most{256 << 10, 256 << 10};
	CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &most), 0);
	Device dev = env.open_a();
	errno = 0;
	CHECK(!ibv_create_cq(dev.ctx.get(), 1 << 15, nullptr, nullptr, 0));
	CHECK_EQ(errno, ENOMEM);
	Pd pd(made(ibv_alloc_pd(dev.ctx.get()), "ibv_alloc_pd"));
	Cq kept(made(ibv_create_cq(dev.ctx.get(), 16, nullptr, nullptr, 0), "ibv_create_cq"));
	ibv_qp_init_attr attr{};
	attr.send_cq = attr.recv_cq = kept.get();
	attr.qp_type = IBV_QPT_RC;
	attr.cap = {1, 4096, 1, 32, 0};
	CHECK(!ibv_create_qp(pd.get(), &attr));
	/* A CQ that is given back can be had again. */
	for (int i = 0; i < 20; i++) {
		Cq cq(made(ibv_create_cq(dev.ctx.get(), 1024, nullptr, nullptr, 0),
			   "ibv_create_cq"));
		CHECK_EQ(ibv_resize_cq(cq.get(), 512), 0);
		CHECK(ibv_resize_cq(cq.get(), 1 << 15) != 0);
		attr.cap = {64, 64, 4, 4, 0};
		Qp qp(made(ibv_create_qp(pd.get(), &attr), "ibv_create_qp"));
	}
}

ibv_gid group_gid(unsigned n)
{
	ibv_gid gid{};
	gid.raw[0] = 0xff;
	gid.raw[1] = 0x12;
	gid.raw[12] = 0x5a;
	gid.raw[14] = n >> 8;
	gid.raw[15] = n;
	return gid;
}

constexpr uint16_t group_lid = 0xc123;

struct DatagramQp {
	explicit DatagramQp(ibv_context *ctx) :
		pd(made(ibv_alloc_pd(ctx), "ibv_alloc_pd")),
		cq(made(ibv_create_cq(ctx, 4, nullptr, nullptr, 0), "ibv_create_cq"))
	{
		ibv_qp_init_attr attr{};
		attr.send_cq = attr.recv_cq = cq.get();
		attr.cap = {1, 1, 1, 1, 0};
		attr.qp_type = IBV_QPT_UD;
		qp.reset(made(ibv_create_qp(pd.get(), &attr), "ibv_create_qp"));
	}
	DatagramQp(DatagramQp &&) = default;
	/* libibverbs' QPs are busy while they are attached. */
	~DatagramQp()
	{
		for (unsigned group : groups) {
			ibv_gid gid = group_gid(group);
			if (ibv_detach_mcast(qp.get(), &gid, group_lid))
				note_failure("a QP cannot be detached");
		}
	}
	int attach(unsigned group)
	{
		ibv_gid gid = group_gid(group);
		if (int err = ibv_attach_mcast(qp.get(), &gid, group_lid))
			return err;
		groups.push_back(group);
		return 0;
	}

	Pd pd;
	Cq cq;
	Qp qp;
	std::vector<unsigned> groups;
};

/* Nobody takes all groups. The groups that a user had are free when his QP is gone. */
void multicast_share(const Env &env)
{
	Nobody greedy(env, [](Device &dev, const auto &hold) {
		unsigned most = dev.device_attr.orig_attr.max_mcast_grp, n = 0;
		{
			DatagramQp qp(dev.ctx.get());
			while (n < most && !qp.attach(n))
				n++;
			hold(n);
		}
		DatagramQp again(dev.ctx.get());
		if (again.attach(0))
			_exit(1);
	});
	Device dev = env.open_a();
	const unsigned greedy_share = unsigned(dev.device_attr.orig_attr.max_mcast_grp) / 2;
	CHECK_EQ(greedy.taken(), greedy_share);
	DatagramQp other(dev.ctx.get());
	CHECK_EQ(other.attach(9999), 0);
	/* A user who may overstep limits has no share. */
	greedy.release();
	for (unsigned n = 0; n <= greedy_share; n++)
		CHECK_EQ(other.attach(n), 0);
}

/* Nor all places in a group: IPoIB, which is privileged as root is, comes into the broadcast group. */
void multicast_places(const Env &env)
{
	Nobody greedy(env, [](Device &dev, const auto &hold) {
		std::vector<DatagramQp> qps;
		unsigned most = dev.device_attr.orig_attr.max_mcast_qp_attach, n = 0;
		for (; n < most; n++) {
			qps.emplace_back(dev.ctx.get());
			if (qps.back().attach(7))
				break;
		}
		hold(n);
	});
	Device dev = env.open_a();
	CHECK(greedy.taken() < unsigned(dev.device_attr.orig_attr.max_mcast_qp_attach));
	DatagramQp other(dev.ctx.get());
	CHECK_EQ(other.attach(7), 0);
}

/* The tables of memory that is paged on demand are as long as it is, though nothing is mapped in it. */
void paged_tables(const Env &env)
{
	constexpr size_t piece = size_t(1) << 30, huge = size_t(1) << 42;
	constexpr int paged = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND;
	void *at =
		mmap(nullptr, huge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(at != MAP_FAILED);
	Nobody greedy(env, [&](Device &dev, const auto &hold) {
		Pd pd(made(ibv_alloc_pd(dev.ctx.get()), "ibv_alloc_pd"));
		std::vector<Mr> mrs;
		while (mrs.size() < 64) {
			mrs.emplace_back(ibv_reg_mr(pd.get(), at, piece, paged));
			if (!mrs.back())
				break;
		}
		hold(unsigned(mrs.size()));
	});
	unsigned taken = greedy.taken();
	CHECK(taken > 1 && taken < 64);
	{
		Device dev = env.open_a();
		Pd pd(made(ibv_alloc_pd(dev.ctx.get()), "ibv_alloc_pd"));
		CHECK(!ibv_reg_mr(pd.get(), at, huge, paged));
		CHECK_EQ(errno, ENOMEM);
		Mr mr(made(ibv_reg_mr(pd.get(), at, piece, paged), "ibv_reg_mr"));
	}
	munmap(at, huge);
}

/* The tables of a port: every index that is said to be there can be asked for, the next cannot. */
void tables(const Env &env)
{
	Device dev = env.open_a();
	ibv_gid gid;
	for (int i = 0; i < dev.port_attr.gid_tbl_len; i++)
		CHECK_EQ(ibv_query_gid(dev.ctx.get(), dev.port, i, &gid), 0);
	CHECK(ibv_query_gid(dev.ctx.get(), dev.port, dev.port_attr.gid_tbl_len, &gid) != 0);
	__be16 pkey;
	for (int i = 0; i < dev.port_attr.pkey_tbl_len; i++)
		CHECK_EQ(ibv_query_pkey(dev.ctx.get(), dev.port, i, &pkey), 0);
	CHECK(ibv_query_pkey(dev.ctx.get(), dev.port, dev.port_attr.pkey_tbl_len, &pkey) != 0);
	CHECK_EQ(ibv_query_pkey(dev.ctx.get(), dev.port, 0, &pkey), 0);
	CHECK(ntohs(pkey) & 0x7fff);
	ibv_port_attr attr;
	CHECK(ibv_query_port(dev.ctx.get(), 0, &attr) != 0);
	CHECK(ibv_query_port(dev.ctx.get(), dev.device_attr.orig_attr.phys_port_cnt + 1, &attr) !=
	      0);
}

} // namespace

void add_limits(Suite &suite)
{
	suite.add("limit.max_qp_wr", work_requests);
	suite.add("limit.queue_pair_too_big", queue_pair_too_big);
	suite.add("limit.max_cqe", completion_queue);
	suite.add("limit.cq_full", completion_queue_full);
	suite.add("limit.max_srq", shared_queue);
	suite.add("limit.many_objects", many_objects);
	suite.add("limit.max_qp_rd_atom", read_depth);
	suite.add("limit.tables", tables);
	suite.add("limit.paged_tables", paged_tables);
	suite.add("limit.memory_locked", memory_locked);
	suite.add("limit.multicast_share", multicast_share);
	suite.add("limit.multicast_places", multicast_places);
}

} // namespace ops

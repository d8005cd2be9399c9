// SPDX-License-Identifier: GPL-2.0
/*
 * Every control call with the first, the second, ... of its allocations failing, until it needs no
 * more: it succeeds or fails, leaves nothing behind, and the same call works afterwards.
 */
#include <fcntl.h>
#include <functional>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>

#include "../verbs/ops/dmabuf.h"
#include "../verbs/ops/end.h"
#include "common.h"
#include "fail_nth.h"

namespace hostile {

namespace {

/* A call, and how to undo it; either returns 0 or an error number. */
struct Call {
	const char *name;
	std::function<int()> call, undo;
};

constexpr size_t length = 1 << 18;

/* One that the calls find attached, and one that they find free. */
enum Group { Joined, Other };

const ibv_gid &gid(unsigned group)
{
	static constexpr ibv_gid gids[] = {{{0xff, 0x12, 1}}, {{0xff, 0x12, 2}}};
	return gids[group];
}

/* The objects that the calls are made on: one of each, and the one that a call makes. */
struct Stage {
	explicit Stage(const Options &o);
	~Stage();

	std::vector<Call> calls();

	bool contexts; /* may be refused */
	ops::Pair p;
	ops::Xrcd xrcd;
	ops::Dm dm;
	uint8_t *memory;
	ops::Mr region;
	ibv_port_attr port;
	ops::End datagrams; /* a member of one multicast group */
	std::optional<ops::GpuBuffer> gpu;

	ibv_context *ctx = nullptr;
	ibv_pd *pd = nullptr;
	ibv_comp_channel *channel = nullptr;
	ibv_cq *cq = nullptr;
	ibv_srq *srq = nullptr;
	ibv_qp *qp = nullptr;
	ibv_mr *mr = nullptr;
	ibv_mw *mw = nullptr;
	ibv_ah *ah = nullptr;
	ibv_dm *made_dm = nullptr;
	ibv_xrcd *made_xrcd = nullptr;

private:
	void add_queues(std::vector<Call> &v);
	void add_memory(std::vector<Call> &v);
	void add_dmabuf(std::vector<Call> &v);
	void add_groups(std::vector<Call> &v);
	void add_imports(std::vector<Call> &v);
	void add_states(std::vector<Call> &v);

	int attach(unsigned group)
	{
		return ibv_attach_mcast(datagrams.qp.get(), &gid(group), 0xc000);
	}
	int detach(unsigned group)
	{
		return ibv_detach_mcast(datagrams.qp.get(), &gid(group), 0xc000);
	}

	ibv_context *device() { return p.a.dev.ctx.get(); }
};

ops::EndOptions with_srq()
{
	ops::EndOptions o;
	o.srq_wr = 16;
	return o;
}

ops::EndOptions of_datagrams()
{
	ops::EndOptions o;
	o.type = IBV_QPT_UD;
	return o;
}

Stage::Stage(const Options &o) :
	contexts(o.tries("contexts")), p({.dev_a = o.dev, .dev_b = o.dev}, with_srq()),
	datagrams(ops::Device(o.dev), of_datagrams())
{
	ibv_xrcd_init_attr xa{};
	ibv_alloc_dm_attr da{4096, 0, 0};

	xa.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	xa.fd = -1;
	xa.oflags = O_CREAT;
	xrcd.reset(ops::made(ibv_open_xrcd(device(), &xa), "ibv_open_xrcd"));
	dm.reset(ops::made(ibv_alloc_dm(device(), &da), "ibv_alloc_dm"));
	memory = static_cast<uint8_t *>(
		mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	CHECK(memory != MAP_FAILED);
	region.reset(
		ops::made(ibv_reg_mr(p.a.pd.get(), memory, length, ops::all_access), "ibv_reg_mr"));
	try {
		gpu.emplace(1 << 16);
	} catch (const ops::Skip &why) {
		printf("no dma-buf: %s\n", why.what());
	}
	CHECK_EQ(attach(Joined), 0);
}

/* libibverbs' QPs are busy while they are attached. */
Stage::~Stage()
{
	if (detach(Joined))
		ops::note_failure("the QP cannot be detached");
}

/* keep(pointer, object): 0 if there is an object. */
template <typename T>
int keep(T *&where, T *object)
{
	where = object;
	return object ? 0 : errno ? errno : EINVAL;
}

void Stage::add_queues(std::vector<Call> &v)
{
	auto undo_qp = [this] { return ibv_destroy_qp(qp); };
	auto create_qp = [this](ibv_qp_type type) {
		ibv_qp_init_attr_ex a{};
		a.qp_type = type;
		a.send_cq = a.recv_cq = p.a.cq.get();
		a.cap = {256, 256, 4, 4, 64};
		a.pd = p.a.pd.get();
		a.comp_mask = IBV_QP_INIT_ATTR_PD;
		if (type == IBV_QPT_XRC_RECV) {
			a = {.qp_type = type, .comp_mask = IBV_QP_INIT_ATTR_XRCD};
			a.xrcd = xrcd.get();
		}
		return keep(qp, ibv_create_qp_ex(device(), &a));
	};

	v.push_back({"create_comp_channel",
		     [this] { return keep(channel, ibv_create_comp_channel(device())); },
		     [this] { return ibv_destroy_comp_channel(channel); }});
	v.push_back({"create_cq",
		     [this] {
			     return keep(cq, ibv_create_cq(device(), 1000, nullptr,
							   p.a.channel.get(), 0));
		     },
		     [this] { return ibv_destroy_cq(cq); }});
	v.push_back({"resize_cq",
		     [this] { return ibv_resize_cq(p.a.cq.get(), p.a.cq->cqe > 600 ? 500 : 1000); },
		     [] { return 0; }});
	v.push_back({"modify_cq",
		     [this, count = 1]() mutable {
			     ibv_modify_cq_attr a{IBV_CQ_ATTR_MODERATE,
						  {uint16_t(count = count == 1 ? 8 : 1), 10}};
			     return ibv_modify_cq(p.a.cq.get(), &a);
		     },
		     [this] {
			     ibv_modify_cq_attr a{IBV_CQ_ATTR_MODERATE, {0, 0}};
			     return ibv_modify_cq(p.a.cq.get(), &a);
		     }});
	v.push_back({"create_srq",
		     [this] {
			     ibv_srq_init_attr a{nullptr, {100, 2, 0}};
			     return keep(srq, ibv_create_srq(p.a.pd.get(), &a));
		     },
		     [this] { return ibv_destroy_srq(srq); }});
	v.push_back({"create_srq, XRC",
		     [this] {
			     ibv_srq_init_attr_ex a{};
			     a.attr = {100, 2, 0};
			     a.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
					   IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
			     a.srq_type = IBV_SRQT_XRC;
			     a.pd = p.a.pd.get();
			     a.xrcd = xrcd.get();
			     a.cq = p.a.cq.get();
			     return keep(srq, ibv_create_srq_ex(device(), &a));
		     },
		     [this] { return ibv_destroy_srq(srq); }});
	v.push_back({"modify_srq",
		     [this, size = 16u]() mutable {
			     ibv_srq_attr a{size = size == 16 ? 512 : 16, 2, 0};
			     return ibv_modify_srq(p.a.srq.get(), &a, IBV_SRQ_MAX_WR);
		     },
		     [] { return 0; }});
	for (ibv_qp_type type :
	     {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV})
		v.push_back({"create_qp", [create_qp, type] { return create_qp(type); }, undo_qp});
	v.push_back({"open_xrcd",
		     [this] {
			     ibv_xrcd_init_attr xa{};
			     xa.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
			     xa.fd = -1;
			     xa.oflags = O_CREAT;
			     return keep(made_xrcd, ibv_open_xrcd(device(), &xa));
		     },
		     [this] { return ibv_close_xrcd(made_xrcd); }});
}

void Stage::add_memory(std::vector<Call> &v)
{
	auto undo_mr = [this] { return ibv_dereg_mr(mr); };
	auto reg = [this](void *at, size_t size, unsigned access) {
		return keep(mr, ibv_reg_mr(p.a.pd.get(), at, size, access));
	};
	constexpr unsigned odp = ops::all_access | IBV_ACCESS_ON_DEMAND;

	v.push_back(
		{"reg_mr", [this, reg] { return reg(memory, length, ops::all_access); }, undo_mr});
	v.push_back(
		{"reg_mr, on demand", [this, reg] { return reg(memory, length, odp); }, undo_mr});
	v.push_back({"reg_mr, implicit", [reg] { return reg(nullptr, SIZE_MAX, odp); }, undo_mr});
	v.push_back({"rereg_mr",
		     [this, back = false]() mutable {
			     back = !back;
			     return ibv_rereg_mr(region.get(),
						 IBV_REREG_MR_CHANGE_TRANSLATION |
							 IBV_REREG_MR_CHANGE_ACCESS,
						 nullptr, memory, back ? length : length / 2,
						 back ? odp : ops::all_access);
		     },
		     [] { return 0; }});
	v.push_back({"advise_mr",
		     [this] {
			     ibv_mr *region = ibv_reg_mr(p.a.pd.get(), memory, length, odp);
			     if (!region)
				     return errno;
			     madvise(memory, length, MADV_DONTNEED);
			     ibv_sge s{(uintptr_t)memory, length, region->lkey};
			     int err = ibv_advise_mr(p.a.pd.get(),
						     IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
						     IBV_ADVISE_MR_FLAG_FLUSH, &s, 1);
			     int gone = ibv_dereg_mr(region);
			     return err ? err : gone;
		     },
		     [] { return 0; }});
	for (ibv_mw_type type : {IBV_MW_TYPE_1, IBV_MW_TYPE_2})
		v.push_back({"alloc_mw",
			     [this, type] { return keep(mw, ibv_alloc_mw(p.a.pd.get(), type)); },
			     [this] { return ibv_dealloc_mw(mw); }});
	v.push_back({"alloc_dm",
		     [this] {
			     ibv_alloc_dm_attr a{65536, 0, 0};
			     return keep(made_dm, ibv_alloc_dm(device(), &a));
		     },
		     [this] { return ibv_free_dm(made_dm); }});
	v.push_back({"reg_dm_mr",
		     [this] {
			     return keep(mr,
					 ibv_reg_dm_mr(p.a.pd.get(), dm.get(), 0, 4096,
						       ops::all_access | IBV_ACCESS_ZERO_BASED));
		     },
		     undo_mr});
}

void Stage::add_groups(std::vector<Call> &v)
{
	v.push_back({"attach_mcast", [this] { return attach(Other); },
		     [this] { return detach(Other); }});
	v.push_back({"detach_mcast", [this] { return detach(Joined); },
		     [this] { return attach(Joined); }});
}

void Stage::add_dmabuf(std::vector<Call> &v)
{
	if (!gpu)
		return;
	v.push_back({"reg_dmabuf_mr",
		     [this] {
			     return keep(mr, ibv_reg_dmabuf_mr(p.a.pd.get(), 0, 1 << 16, 0, gpu->fd,
							       ops::all_access));
		     },
		     [this] { return ibv_dereg_mr(mr); }});
}

/* Another process may be handed these. */
void Stage::add_imports(std::vector<Call> &v)
{
	v.push_back({"import_device",
		     [this] {
			     int fd = dup(device()->cmd_fd);
			     int err = keep(ctx, ibv_import_device(fd));
			     if (err)
				     close(fd);
			     return err;
		     },
		     [this] { return ibv_close_device(ctx); }});
	v.push_back({"import_pd",
		     [this] { return keep(pd, ibv_import_pd(device(), p.a.pd->handle)); },
		     [this] {
			     ibv_unimport_pd(pd);
			     return 0;
		     }});
	v.push_back({"import_mr",
		     [this] { return keep(mr, ibv_import_mr(p.a.pd.get(), region->handle)); },
		     [this] {
			     ibv_unimport_mr(mr);
			     return 0;
		     }});
	v.push_back({"import_dm",
		     [this] { return keep(made_dm, ibv_import_dm(device(), dm->handle)); },
		     [this] {
			     ibv_unimport_dm(made_dm);
			     return 0;
		     }});
}

void Stage::add_states(std::vector<Call> &v)
{
	if (contexts)
		v.push_back({"open_device",
			     [this] {
				     ctx = open_device(p.a.dev.ctx->device->name);
				     return ctx ? 0 : errno ? errno : EINVAL;
			     },
			     [this] { return ibv_close_device(ctx); }});
	v.push_back({"alloc_pd", [this] { return keep(pd, ibv_alloc_pd(device())); },
		     [this] { return ibv_dealloc_pd(pd); }});
	v.push_back({"create_ah",
		     [this] {
			     ibv_ah_attr a = p.a.address_of(p.b);
			     return keep(ah, ibv_create_ah(p.a.pd.get(), &a));
		     },
		     [this] { return ibv_destroy_ah(ah); }});
	v.push_back({"query_port", [this] { return ibv_query_port(device(), 1, &port); },
		     [] { return 0; }});
	v.push_back({"query_qp",
		     [this] {
			     ibv_qp_attr attr;
			     ibv_qp_init_attr init;
			     return ibv_query_qp(p.a.qp.get(), &attr, IBV_QP_STATE, &init);
		     },
		     [] { return 0; }});
	v.push_back({"query_srq",
		     [this] {
			     ibv_srq_attr attr;
			     return ibv_query_srq(p.a.srq.get(), &attr);
		     },
		     [] { return 0; }});
	v.push_back({"modify_qp to RTS",
		     [this] {
			     try {
				     for (ops::End *e : {&p.a, &p.b})
					     e->to(IBV_QPS_RESET);
				     p.connect();
			     } catch (const ops::Failure &) {
				     return EIO;
			     }
			     return 0;
		     },
		     [] { return 0; }});
}

std::vector<Call> Stage::calls()
{
	std::vector<Call> v;

	add_states(v);
	add_queues(v);
	add_memory(v);
	add_dmabuf(v);
	add_groups(v);
	add_imports(v);
	return v;
}

/* Returns whether the @n-th allocation of the call was one that failed. */
bool fail_one(FailNth &fail, Call &c, unsigned n, Tally &tally)
{
	fail.arm(n);
	int err = c.call();
	bool hit = !fail.disarm();

	tally.note(c.name, !err);
	if (err && !hit)
		FAIL(std::string(c.name) + ": " + strerror(err) + ", though nothing failed");
	if (!err)
		err = c.undo();
	else
		err = 0;
	if (err)
		FAIL(std::string(c.name) + ", undone: " + strerror(err));
	return hit;
}

void fail_each(FailNth &fail, Call &c, Clock::time_point end, Tally &tally)
{
	unsigned n = 1;

	while (fail_one(fail, c, n, tally) && Clock::now() < end)
		n++;
	printf("%s: %u allocations%s\n", c.name, n - 1,
	       Clock::now() < end ? "" : " (time is over)");
	if (int err = c.call())
		FAIL(std::string(c.name) + " does not work any more: " + strerror(err));
	if (int err = c.undo())
		FAIL(std::string(c.name) + ", undone: " + strerror(err));
}

} // namespace

int run_allocations(const Options &o)
{
	FailNth fail;
	Tally tally;
	auto end = o.end();

	if (!fail.available()) {
		puts("this kernel lets no allocation fail");
		return 4;
	}
	do {
		Stage stage(o);
		for (Call &c : stage.calls())
			if (o.what.empty() || std::string(c.name).find(o.what) != std::string::npos)
				fail_each(fail, c, end + std::chrono::seconds(60 * ops::slowness()),
					  tally);
		for (ops::End *e : {&stage.p.a, &stage.p.b})
			e->to(IBV_QPS_RESET);
		stage.p.connect();
		ibv_wc wc;
		while (ibv_poll_cq(stage.p.a.cq.get(), 1, &wc) > 0 ||
		       ibv_poll_cq(stage.p.b.cq.get(), 1, &wc) > 0)
			;
		stage.p.ping();
	} while (Clock::now() < end);
	tally.print();
	return failed();
}

} // namespace hostile

// SPDX-License-Identifier: GPL-2.0
/* The making and unmaking of a World's objects; see world_data.cc for traffic. */
#include "world.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hostile {

namespace {

constexpr unsigned every_access = ops::all_access | IBV_ACCESS_MW_BIND;

void *map(int fd, size_t length, int prot, int flags)
{
	void *p = mmap(nullptr, length, prot, flags, fd, 0);
	return p == MAP_FAILED ? nullptr : p;
}

} // namespace

World::World(ibv_context *ctx, const Options &o, Tally &tally, uint64_t seed,
	     const SlowFile *slow) : ctx_(ctx), opt_(o), tally_(tally)
{
	Rng rng(seed);

	if (ibv_query_port(ctx, 1, &port_) || ibv_query_gid(ctx, 1, 0, &gid_))
		throw ops::Failure("no port");
	make_buffers(slow);
	for (auto &pd : pds_)
		pd = ops::made(ibv_alloc_pd(ctx), "ibv_alloc_pd");
	channel_ = ops::made(ibv_create_comp_channel(ctx), "ibv_create_comp_channel");
	fcntl(channel_->fd, F_SETFL, O_NONBLOCK);
	fcntl(ctx->async_fd, F_SETFL, O_NONBLOCK);
	for (unsigned i = 0; i < max_others; i++)
		cqs_[i] = ops::made(ibv_create_cq(ctx, i == 3 ? 16 : 1024, nullptr,
						  i & 1 ? channel_ : nullptr, i & 1),
				    "ibv_create_cq");
	make_shared_queues();
	for (unsigned i = 0; i < max_mrs; i++)
		mrs_[i] = gpu_ && !i ? make_dmabuf_mr(rng) : make_mr(rng);
	for (unsigned i = 0; i < max_qps / 2; i++)
		add_queue(rng);
}

/* Ordinary memory, and that which few programs use. */
void World::make_buffers(const SlowFile *slow)
{
	int secret = opt_.tries("secret") ? syscall(SYS_memfd_secret, 0) : -1,
	    file = open("/usr/bin/bash", O_RDONLY);
	int shared = memfd_create("shared", 0);

	for (bool stirred : {false, false, true, true})
		buffers_.push_back({(uint8_t *)map(-1, buffer, PROT_READ | PROT_WRITE,
						   MAP_PRIVATE | MAP_ANONYMOUS),
				    stirred});
	buffers_.push_back(
		{(uint8_t *)map(-1, buffer, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE),
		 true});
	buffers_.push_back({(uint8_t *)map(file, buffer, PROT_READ, MAP_SHARED), false});
	if (secret >= 0 && !ftruncate(secret, buffer))
		buffers_.push_back(
			{(uint8_t *)map(secret, buffer, PROT_READ | PROT_WRITE, MAP_SHARED),
			 false});
	if (!ftruncate(shared, buffer / 2)) /* the other half has no pages */
		buffers_.push_back(
			{(uint8_t *)map(shared, buffer, PROT_READ | PROT_WRITE, MAP_SHARED),
			 false});
	if (slow)
		buffers_.push_back({slow->at(), false});
	std::erase_if(buffers_, [](const Buffer &b) { return !b.at; });
	try {
		gpu_.emplace(buffer);
	} catch (const ops::Skip &) {
		/* no such device, or not for this user */
	}
}

void World::make_shared_queues()
{
	ibv_srq_init_attr attr{nullptr, {256, 4, 0}};
	ibv_xrcd_init_attr xa{};
	ibv_srq_init_attr_ex sa{};

	for (auto &srq : srqs_)
		srq = ops::made(ibv_create_srq(pds_[0], &attr), "ibv_create_srq");
	xa.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	xa.fd = -1;
	xa.oflags = O_CREAT;
	xrcd_ = ops::made(ibv_open_xrcd(ctx_, &xa), "ibv_open_xrcd");
	sa.attr = {256, 4, 0};
	sa.srq_type = IBV_SRQT_XRC;
	sa.pd = pds_[0];
	sa.cq = cqs_[0];
	sa.xrcd = xrcd_;
	sa.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ |
		       IBV_SRQ_INIT_ATTR_PD;
	xsrq_ = ops::made(ibv_create_srq_ex(ctx_, &sa), "ibv_create_srq");
}

ibv_qp *World::make_qp(Rng &rng)
{
	static constexpr ibv_qp_type types[] = {IBV_QPT_RC,	 IBV_QPT_RC, IBV_QPT_RC,
						IBV_QPT_UC,	 IBV_QPT_UD, IBV_QPT_XRC_SEND,
						IBV_QPT_XRC_RECV};
	ibv_qp_init_attr_ex a{};

	a.qp_type = rng.pick(types);
	if (a.qp_type == IBV_QPT_XRC_RECV) {
		a.xrcd = xrcd_;
		a.comp_mask = IBV_QP_INIT_ATTR_XRCD;
		return ibv_create_qp_ex(ctx_, &a);
	}
	a.send_cq = rng.pick(cqs_);
	a.recv_cq = rng.pick(cqs_);
	a.cap = {1 + rng.below(rng.one_in(8) ? 4096 : 64), 1 + rng.below(64), 1 + rng.below(8),
		 1 + rng.below(4), rng.below(256)};
	a.sq_sig_all = rng.below(2);
	a.pd = pds_[rng.one_in(8)];
	a.comp_mask = IBV_QP_INIT_ATTR_PD;
	if (a.qp_type != IBV_QPT_XRC_SEND && rng.one_in(3))
		a.srq = rng.pick(srqs_);
	return ibv_create_qp_ex(ctx_, &a);
}

ibv_mr *World::make_mr(Rng &rng)
{
	const Buffer &b = buffers_[rng.one_in(2) ? 0 : rng.below(buffers_.size())];
	unsigned access = rng.one_in(8) ? rng.below(0x80) : every_access;
	size_t offset = rng.one_in(4) ? rng.below(buffer / 2) : 0, length = buffer - offset;
	ibv_pd *pd = pds_[rng.one_in(8)];

	if (rng.one_in(4))
		length = 1 + rng.below(length);
	switch (rng.below(8)) {
	case 0: return ibv_reg_mr(pd, nullptr, SIZE_MAX, access | IBV_ACCESS_ON_DEMAND);
	case 1:
	case 2: return ibv_reg_mr(pd, b.at + offset, length, access | IBV_ACCESS_ON_DEMAND);
	case 3:
		return ibv_reg_mr_iova(pd, b.at + offset, length, (uintptr_t)b.at + offset % 4096,
				       access);
	case 4: return ibv_reg_mr(pd, b.at, buffer, access | IBV_ACCESS_ZERO_BASED);
	case 5:
		if (gpu_)
			return make_dmabuf_mr(rng);
		[[fallthrough]];
	default: return ibv_reg_mr(pd, b.at + offset, length, access);
	}
}

/* Its addresses are those that libibverbs says it has: they begin with the offset. */
ibv_mr *World::make_dmabuf_mr(Rng &rng)
{
	size_t offset = rng.one_in(4) ? rng.below(buffer / 2) : 0;
	ibv_mr *mr = ibv_reg_dmabuf_mr(pds_[rng.one_in(8)], offset, buffer - offset, offset,
				       gpu_->fd, ops::all_access);

	note("verb reg_dmabuf_mr", mr);
	return mr;
}

void World::add_queue(Rng &rng)
{
	Queue &q = queues_[rng.below(max_qps)];

	if (q.qp)
		return;
	q.qp = make_qp(rng);
	if (note("verb create_qp", q.qp))
		connect(rng, q, queues_[rng.below(max_qps)]);
}

void World::drop_queue(Rng &rng)
{
	Queue &q = queues_[rng.below(max_qps)];

	if (!q.qp || !note("verb destroy_qp", !ibv_destroy_qp(q.qp)))
		return;
	if (q.peer)
		q.peer->peer = nullptr;
	q = {};
}

void World::change_regions(Rng &rng)
{
	ibv_mr *&mr = mrs_[rng.below(max_mrs)];
	const Buffer &b = buffers_[rng.below(buffers_.size())];

	if (!mr) {
		mr = make_mr(rng);
		note("verb reg_mr", mr);
	} else if (rng.one_in(2)) {
		unsigned access = rng.one_in(2) ? every_access : rng.below(0x80);
		int err = ibv_rereg_mr(mr, 1 + rng.below(7), pds_[rng.one_in(4)], b.at,
				       1 + rng.below(buffer),
				       access | (rng.one_in(2) ? IBV_ACCESS_ON_DEMAND : 0));
		note("verb rereg_mr", !err);
	} else if (note("verb dereg_mr", !ibv_dereg_mr(mr))) {
		mr = nullptr;
	}
}

void World::change_windows(Rng &rng)
{
	ibv_mw *&mw = mws_[rng.below(max_others)];

	if (!mw) {
		mw = ibv_alloc_mw(pds_[rng.one_in(8)],
				  rng.one_in(2) ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
		note("verb alloc_mw", mw);
	} else if (note("verb dealloc_mw", !ibv_dealloc_mw(mw))) {
		mw = nullptr;
	}
}

void World::change_addresses(Rng &rng)
{
	ibv_ah *&ah = ahs_[rng.below(max_others)];
	ibv_ah_attr a{};

	if (ah) {
		if (note("verb destroy_ah", !ibv_destroy_ah(ah)))
			ah = nullptr;
		return;
	}
	a.dlid = rng.one_in(4) ? 0xc000 + rng.below(4) : port_.lid;
	a.port_num = 1;
	a.is_global = a.dlid >= 0xc000 || rng.one_in(2);
	a.grh.dgid = gid_;
	if (a.dlid >= 0xc000)
		a.grh.dgid.raw[0] = 0xff;
	ah = ibv_create_ah(pds_[rng.one_in(8)], &a);
	note("verb create_ah", ah);
}

void World::change_device_memory(Rng &rng)
{
	if (!dm_) {
		ibv_alloc_dm_attr a{1 + rng.below(65536), 0, 0};
		dm_ = ibv_alloc_dm(ctx_, &a);
		note("verb alloc_dm", dm_);
	} else if (rng.one_in(2)) {
		ibv_mr *&mr = mrs_[rng.below(max_mrs)];
		if (mr)
			return;
		mr = ibv_reg_dm_mr(pds_[0], dm_, 0, 1, ops::all_access | IBV_ACCESS_ZERO_BASED);
		note("verb reg_dm_mr", mr);
	} else if (note("verb free_dm", !ibv_free_dm(dm_))) {
		dm_ = nullptr;
	}
}

void World::stir_memory(Rng &rng)
{
	const Buffer &b = buffers_[rng.below(buffers_.size())];
	size_t offset = rng.below(buffer / 4096) * 4096UL;
	size_t length = (1 + rng.below((buffer - offset) / 4096)) * 4096UL;
	constexpr int rw = PROT_READ | PROT_WRITE, anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
	uint8_t *p = b.at + offset;

	if (!b.stirred)
		return;
	switch (rng.below(9)) {
	case 0: madvise(p, length, MADV_DONTNEED); break;
	case 1: mprotect(p, length, rng.one_in(2) ? PROT_READ : PROT_NONE); break;
	case 2: mprotect(b.at, buffer, rw); break;
	case 3: mmap(p, length, rw, anonymous | MAP_FIXED, -1, 0); break;
	case 4:
		munmap(p, length);
		usleep(rng.below(500));
		mmap(p, length, rw, anonymous | MAP_FIXED, -1, 0);
		break;
	case 5: madvise(b.at, buffer, rng.one_in(2) ? MADV_HUGEPAGE : MADV_NOHUGEPAGE); break;
	case 6: madvise(b.at, buffer, MADV_COLLAPSE); break;
	case 7: {
		/* away and back: for a moment the region has no memory */
		void *away = mremap(p, length, length, MREMAP_MAYMOVE | MREMAP_DONTUNMAP);
		if (away != MAP_FAILED)
			munmap(away, length);
		break;
	}
	case 8: {
		void *q = mmap(nullptr, 4096UL << rng.below(5), rw, MAP_SHARED, ctx_->cmd_fd,
			       (off_t)rng.below(64) << 12);
		note("map of a random offset", q != MAP_FAILED);
		if (q != MAP_FAILED)
			munmap(q, 4096);
		break;
	}
	}
}

void World::step(Rng &rng)
{
	std::lock_guard guard(lock_);
	Queue &q = queues_[rng.below(max_qps)];
	ibv_cq *cq = rng.pick(cqs_);

	switch (rng.below(64)) {
	case 0: drop_queue(rng); break;
	case 1:
	case 2:
	case 3: add_queue(rng); break;
	case 4: random_modify(rng, q); break;
	case 5: query(rng, q); break;
	case 6:
	case 7: change_regions(rng); break;
	case 8: change_windows(rng); break;
	case 9: change_addresses(rng); break;
	case 10: change_device_memory(rng); break;
	case 11:
		note("verb resize_cq",
		     !ibv_resize_cq(cq, 1 + rng.below(rng.one_in(64) ? 1 << 20 : 2048)));
		break;
	case 12: {
		ibv_srq_attr a{16 + rng.below(512), 4, rng.below(16)};
		note("verb modify_srq", !ibv_modify_srq(rng.pick(srqs_), &a, 1 + rng.below(3)));
		break;
	}
	case 13: {
		ibv_sge s[4] = {sge(rng, 65536), sge(rng, 65536), sge(rng, 65536), sge(rng, 65536)};
		note("verb advise_mr", !ibv_advise_mr(pds_[0], ibv_advise_mr_advice(rng.below(3)),
						      rng.below(2), s, 1 + rng.below(4)));
		break;
	}
	case 14: {
		ibv_gid group = gid_;
		group.raw[0] = 0xff;
		if (q.qp && rng.one_in(2))
			note("verb attach_mcast",
			     !ibv_attach_mcast(q.qp, &group, 0xc000 + rng.below(4)));
		else if (q.qp)
			note("verb detach_mcast",
			     !ibv_detach_mcast(q.qp, &group, 0xc000 + rng.below(4)));
		break;
	}
	case 15: {
		ibv_modify_cq_attr a{1, {(uint16_t)rng.below(32), (uint16_t)rng.below(1000)}};
		note("verb modify_cq", !ibv_modify_cq(cq, &a));
		break;
	}
	case 16: drop_events(); break;
	case 17:
	case 18:
	case 19:
	case 20: poll(rng); break;
	case 21: post_bind(rng, q); break;
	default:
		if (q.qp && q.broken)
			connect(rng, q,
				q.peer && rng.below(4) ? *q.peer : queues_[rng.below(max_qps)]);
		post(rng, q);
		poll(rng);
	}
}

void World::fill_up()
{
	Rng rng(1);
	ibv_gid group = gid_;

	group.raw[0] = 0xff;
	for (unsigned n = 0; n < 100; n++)
		add_queue(rng);
	for (auto &mw : mws_)
		mw = mw ? mw : ibv_alloc_mw(pds_[0], IBV_MW_TYPE_1);
	for (unsigned n = 0; n < 100; n++) {
		change_addresses(rng);
		if (!dm_)
			change_device_memory(rng);
	}
	for (auto &q : queues_)
		if (q.qp && q.qp->qp_type == IBV_QPT_UD)
			note("verb attach_mcast", !ibv_attach_mcast(q.qp, &group, 0xc001));
	for (auto &q : queues_)
		post(rng, q);
}

void World::give_up()
{
	for (auto &q : queues_)
		if (q.qp)
			ibv_destroy_qp(q.qp);
	for (auto *srq : {srqs_[0], srqs_[1], xsrq_})
		ibv_destroy_srq(srq);
	for (auto *mw : mws_)
		if (mw)
			ibv_dealloc_mw(mw);
	for (auto *ah : ahs_)
		if (ah)
			ibv_destroy_ah(ah);
	for (auto *mr : mrs_)
		if (mr)
			ibv_dereg_mr(mr);
	if (dm_)
		ibv_free_dm(dm_);
	for (auto *cq : cqs_)
		ibv_destroy_cq(cq);
	ibv_close_xrcd(xrcd_);
	ibv_destroy_comp_channel(channel_);
	for (auto *pd : pds_)
		ibv_dealloc_pd(pd);
	ibv_close_device(ctx_);
}

void World::come_and_go(Rng &rng, ibv_context *ctx)
{
	static thread_local uint8_t page[8192];
	ibv_pd *pd = ibv_alloc_pd(ctx);
	ibv_cq *cq = ibv_create_cq(ctx, 16, nullptr, nullptr, 0);
	ibv_srq_init_attr sa{nullptr, {8, 1, 0}};
	ibv_device_attr_ex device;
	ibv_port_attr port;

	ibv_query_device_ex(ctx, nullptr, &device);
	ibv_query_port(ctx, 1, &port);
	if (pd && cq) {
		ibv_qp_init_attr qa{.send_cq = cq,
				    .recv_cq = cq,
				    .cap = {4, 4, 1, 1, 0},
				    .qp_type = IBV_QPT_UD};
		ibv_ah_attr aa{.dlid = port.lid, .port_num = 1};
		ibv_mr *mr = ibv_reg_mr(pd, page, 1 + rng.below(sizeof(page)), every_access);
		ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
		ibv_srq *srq = ibv_create_srq(pd, &sa);
		ibv_qp *qp = ibv_create_qp(pd, &qa);
		ibv_ah *ah = ibv_create_ah(pd, &aa);

		ibv_resize_cq(cq, 1 + rng.below(64));
		if (srq) {
			ibv_srq_attr change{16, 1, 2};
			ibv_modify_srq(srq, &change, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT);
			ibv_query_srq(srq, &change);
			ibv_destroy_srq(srq);
		}
		if (qp) {
			ibv_qp_attr change{.qp_state = IBV_QPS_INIT, .qkey = 1, .port_num = 1};
			ibv_modify_qp(qp, &change,
				      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
			ibv_query_qp(qp, &change, IBV_QP_STATE, &qa);
			ibv_destroy_qp(qp);
		}
		if (mr)
			ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0,
				     rng.below(32));
		if (mr)
			ibv_dereg_mr(mr);
		if (mw)
			ibv_dealloc_mw(mw);
		if (ah)
			ibv_destroy_ah(ah);
	}
	if (cq)
		ibv_destroy_cq(cq);
	if (pd)
		ibv_dealloc_pd(pd);
	usleep(rng.below(2000));
}

} // namespace hostile

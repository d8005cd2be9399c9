// SPDX-License-Identifier: GPL-2.0
/* Everything there is a number of, and all the memory that can be had. */
#include "attack.h"

#include <fcntl.h>
#include <functional>
#include <list>
#include <sys/mman.h>
#include <unistd.h>

namespace hostile {

namespace {

/* Objects that hold a table's entries until the hoard goes. */
struct Hoard {
	explicit Hoard(const Options &o) : dev(o.dev)
	{
		pd.reset(ops::made(ibv_alloc_pd(dev.ctx.get()), "ibv_alloc_pd"));
		cq.reset(ops::made(ibv_create_cq(dev.ctx.get(), 16, nullptr, nullptr, 0),
				   "ibv_create_cq"));
		page = static_cast<uint8_t *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
						   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
		CHECK(page != MAP_FAILED);
	}

	bool add_qp()
	{
		ibv_qp_init_attr a{.send_cq = cq.get(),
				   .recv_cq = cq.get(),
				   .cap = {1, 1, 1, 1, 0},
				   .qp_type = IBV_QPT_RC};
		return keep(qps, ibv_create_qp(pd.get(), &a));
	}
	bool add_srq()
	{
		ibv_srq_init_attr a{nullptr, {1, 1, 0}};
		return keep(srqs, ibv_create_srq(pd.get(), &a));
	}
	bool add_ah()
	{
		ibv_ah_attr a{.dlid = dev.port_attr.lid, .port_num = 1};
		return keep(ahs, ibv_create_ah(pd.get(), &a));
	}
	bool add_pd() { return keep(pds, ibv_alloc_pd(dev.ctx.get())); }
	bool add_cq() { return keep(cqs, ibv_create_cq(dev.ctx.get(), 1, nullptr, nullptr, 0)); }
	bool add_mr() { return keep(mrs, ibv_reg_mr(pd.get(), page, 4096, ops::all_access)); }
	bool add_mw() { return keep(mws, ibv_alloc_mw(pd.get(), IBV_MW_TYPE_1)); }
	bool add_dm()
	{
		ibv_alloc_dm_attr a{1, 0, 0};
		return keep(dms, ibv_alloc_dm(dev.ctx.get(), &a));
	}

	template <typename T, typename U>
	static bool keep(std::list<T> &list, U *object)
	{
		if (object)
			list.emplace_back(object);
		return object;
	}

	ops::Device dev;
	ops::Pd pd;
	ops::Cq cq;
	uint8_t *page;
	std::list<ops::Pd> pds;
	std::list<ops::Cq> cqs;
	std::list<ops::Qp> qps;
	std::list<ops::Srq> srqs;
	std::list<ops::Mr> mrs;
	std::list<ops::Mw> mws;
	std::list<ops::Ah> ahs;
	std::list<ops::Dm> dms;
};

} // namespace

/* He gets what he can, which is not to be more than half of anything. */
void attack_tables(const Options &o, Tally &tally)
{
	Hoard hoard(o);
	const ibv_device_attr &d = hoard.dev.device_attr.orig_attr;
	struct {
		const char *name;
		bool (Hoard::*add)();
		/* of the device, and of that user */
		uint64_t most, have;
		bool full;
	} kinds[] = {
		{"queue pairs", &Hoard::add_qp, uint64_t(d.max_qp), 0},
		{"completion queues", &Hoard::add_cq, uint64_t(d.max_cq), 1},
		{"receive queues", &Hoard::add_srq, uint64_t(d.max_srq), 0},
		{"regions", &Hoard::add_mr, uint64_t(d.max_mr), 0},
		{"windows", &Hoard::add_mw, uint64_t(d.max_mw), 0},
		{"addresses", &Hoard::add_ah, uint64_t(d.max_ah), 0},
		{"domains", &Hoard::add_pd, uint64_t(d.max_pd), 1},
		{"pieces of memory", &Hoard::add_dm,
		 hoard.dev.device_attr.max_dm_size / getpagesize(), 0},
	};
	auto end = o.end();

	/* In turns: no kind is left out because another one takes all the time. */
	while (Clock::now() < end) {
		bool any = false;
		for (auto &kind : kinds) {
			for (unsigned n = 0; n < 64 && !kind.full && Clock::now() < end; n++) {
				kind.full = !(hoard.*kind.add)();
				tally.note(kind.name, !kind.full);
				kind.have += !kind.full;
				if (kind.have > kind.most / 2)
					throw ops::Failure(std::string("more than half of all ") +
							   kind.name);
			}
			any |= !kind.full;
		}
		if (!any)
			usleep(10000);
	}
}

void attack_memory(const Options &o, Tally &tally)
{
	Hoard hoard(o);
	ibv_device_attr &most = hoard.dev.device_attr.orig_attr;
	Rng rng(o.seed);
	auto end = o.end();

	auto big_qp = [&](uint32_t wr) {
		ibv_qp_init_attr a{.send_cq = hoard.cq.get(),
				   .recv_cq = hoard.cq.get(),
				   .cap = {wr, wr, 4, 4, 64},
				   .qp_type = IBV_QPT_RC};
		return Hoard::keep(hoard.qps, ibv_create_qp(hoard.pd.get(), &a));
	};
	auto big_dm = [&](size_t length) {
		ibv_alloc_dm_attr a{length, 0, 0};
		return Hoard::keep(hoard.dms, ibv_alloc_dm(hoard.dev.ctx.get(), &a));
	};
	while (Clock::now() < end) {
		unsigned shift = rng.below(12);
		bool got = false;

		switch (rng.below(4)) {
		case 0:
			got = Hoard::keep(hoard.cqs,
					  ibv_create_cq(hoard.dev.ctx.get(), most.max_cqe >> shift,
							nullptr, nullptr, 0));
			tally.note("large CQs", got);
			break;
		case 1:
			got = big_qp(most.max_qp_wr >> shift);
			tally.note("large QPs", got);
			break;
		case 2:
			got = big_dm(1UL << (22 - shift));
			tally.note("large pieces of memory", got);
			break;
		case 3: {
			/* an implicit region that is asked to look at terabytes of nothing */
			constexpr size_t length = 1UL << 40;
			void *p = mmap(nullptr, length, PROT_NONE,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
			ibv_mr *mr = ibv_reg_mr(hoard.pd.get(), nullptr, SIZE_MAX,
						ops::all_access | IBV_ACCESS_ON_DEMAND);
			if (mr && p != MAP_FAILED) {
				hoard.mrs.emplace_back(mr);
				for (unsigned n = 0; n < 64; n++) {
					ibv_sge s{(uintptr_t)p +
							  (rng.next() % (length >> 21) << 21),
						  4096, mr->lkey};
					ibv_advise_mr(hoard.pd.get(), IBV_ADVISE_MR_ADVICE_PREFETCH,
						      0, &s, 1);
				}
			}
			if (p != MAP_FAILED)
				munmap(p, length);
			tally.note("implicit regions", mr);
			got = mr;
			break;
		}
		}
		if (!got)
			usleep(10000);
	}
}

void attack_groups(const Options &o, Tally &tally)
{
	ops::Env env{.dev_a = o.dev, .dev_b = o.dev};
	ops::EndOptions ud;
	ud.type = IBV_QPT_UD;
	ops::Pair p(env, ud);
	std::vector<std::pair<ibv_gid, uint16_t>> joined;
	auto end = o.end();
	ibv_gid gid{};

	/* Held to the end: nobody else gets one of them. */
	memcpy(gid.raw, "\xff\x12\x40\x1b\xff\xff", 6);
	for (unsigned n = 0; Clock::now() < end; n++) {
		uint16_t lid = 0xc000 + n % 4096;
		gid.raw[12] = n >> 8;
		gid.raw[13] = n;
		bool ok = !ibv_attach_mcast(p.a.qp.get(), &gid, lid);
		tally.note("groups joined", ok);
		if (ok)
			joined.push_back({gid, lid});
		else
			usleep(10000);
	}
	for (auto &[group, lid] : joined)
		tally.note("groups left", !ibv_detach_mcast(p.a.qp.get(), &group, lid));
}

} // namespace hostile

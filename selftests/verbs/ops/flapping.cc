// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that come, and are gone again before they are used. A process that has sent there gets its
 * memory back all the same.
 */
#include <atomic>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

#include "counter.h"
#include "paging.h"
#include "suites.h"

namespace ops {

namespace {

constexpr size_t pages = 32, page = 4096, message = 1 << 16;

/* Memory whose pages are thrown away again and again: for some seconds, so that no case is held without end. */
class Flapping {
public:
	Flapping() :
		at_(static_cast<uint8_t *>(mapped(pages * page, PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS, -1))),
		thread_([this] {
			for (uint64_t until = now() + 10 * slowness(); now() < until && !stop_;)
				madvise(at_, pages * page, MADV_DONTNEED);
			over_ = true;
		})
	{
	}
	~Flapping()
	{
		stop_ = true;
		thread_.join();
		munmap(at_, pages * page);
	}
	Flapping(const Flapping &) = delete;

	uint8_t *at(size_t n = 0) const { return at_ + n * page; }
	bool over() const { return over_; }

private:
	static uint64_t now()
	{
		timespec t;
		clock_gettime(CLOCK_MONOTONIC, &t);
		return t.tv_sec;
	}

	uint8_t *at_;
	std::atomic<bool> stop_ = false, over_ = false;
	std::thread thread_;
};

/* So many bytes, a part in each page. */
std::vector<ibv_sge> parts(const Mr &mr, const Flapping &memory)
{
	std::vector<ibv_sge> all;
	for (size_t i = 0; i < pages; i++)
		all.push_back(sge(mr, memory.at(i), message / pages));
	return all;
}

EndOptions wide()
{
	EndOptions o;
	o.cap = {16, 16, 32, 32, 0};
	return o;
}

/*
 * A message that @a has sent, or that is read from it, does not hold its memory for as long as
 * pages come and go at the other end.
 */
void flapping(const Env &env, ibv_wr_opcode op)
{
	need(env.open_b());
	Counter let_go(env, op == IBV_WR_RDMA_READ ? "rx_no_page" : "rnr_no_page");
	Flapping memory;
	Pair p(env, wide());
	Mr mr = reg(p.b.pd.get(), memory.at(), pages * page);
	bool reads = op == IBV_WR_RDMA_READ;
	End &asks = reads ? p.b : p.a;
	Wr wr = p.rdma_wr(op, 0, message);
	if (reads) {
		wr.sg = parts(mr, memory);
		wr.addr = p.a.mem.addr();
		wr.rkey = p.a.mem.rkey();
	} else if (op == IBV_WR_RDMA_WRITE) {
		wr.addr = reinterpret_cast<uintptr_t>(memory.at());
		wr.rkey = mr->rkey;
	}
	auto ask = [&] {
		if (op == IBV_WR_SEND)
			p.b.recv(parts(mr, memory));
		asks.send(wr);
	};
	ask();
	/* One message gets through if all pages happen to stay: then the next one tries. */
	while (!let_go.more() && !memory.over()) {
		ibv_wc wc;
		if (ibv_poll_cq(asks.cq.get(), 1, &wc) > 0) {
			CHECK(wc.status == IBV_WC_SUCCESS);
			ask();
		}
		usleep(100);
	}
	CHECK(!memory.over());
	/* Between two devices bytes are sent, and sent again, for which the memory has to be there. */
	if (!env.two_devices())
		p.a.mem.drop_mr();
	CHECK(!memory.over());
	p.a.to(IBV_QPS_ERR);
	p.b.to(IBV_QPS_ERR);
}

} // namespace

void add_flapping(Suite &suite)
{
	for (auto [name, op] : {std::pair{"send", IBV_WR_SEND},
				{"write", IBV_WR_RDMA_WRITE},
				{"read", IBV_WR_RDMA_READ}})
		suite.add(std::string("isolation.flapping_page.") + name,
			  [=](Env &env) { flapping(env, op); });
}

} // namespace ops

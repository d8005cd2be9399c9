// SPDX-License-Identifier: GPL-2.0
/*
 * A user who does his work: messages of every kind between two queue pairs, each byte looked at,
 * his objects unmade and made again every now and then. Nobody's doings may stop him.
 */
#include <cstdio>
#include <sys/mman.h>

#include "../verbs/ops/end.h"
#include "common.h"

namespace hostile {

namespace {

constexpr size_t half = 1 << 16;

class Victim {
public:
	explicit Victim(const Options &o) : env_{.dev_a = o.dev, .dev_b = o.dev}, rng_(o.seed)
	{
		renew();
	}

	void work(Clock::time_point end);
	void print() const;

private:
	void renew();
	void round();
	void send();
	void write();
	void read();
	void datagram();
	void page_in();

	template <typename F>
	void timed(Clock::duration &longest, F &&f)
	{
		auto from = Clock::now();
		f();
		longest = std::max<Clock::duration>(longest, Clock::now() - from);
	}

	ops::Env env_;
	Rng rng_;
	std::unique_ptr<ops::Pair> rc_, ud_;
	unsigned seed_ = 0;
	uint64_t rounds_ = 0, bytes_ = 0, renewals_ = 0, sent_ = 0, lost_ = 0;
	Clock::duration longest_round_{}, longest_renewal_{};
};

void Victim::renew()
{
	ops::EndOptions ud;

	rc_.reset();
	ud_.reset();
	rc_ = std::make_unique<ops::Pair>(env_, ops::EndOptions{.memory = 2 * half});
	ud.type = IBV_QPT_UD;
	ud_ = std::make_unique<ops::Pair>(env_, ud);
	renewals_++;
}

void Victim::send()
{
	size_t length = 1 + rng_.below(half);

	ops::fill(rc_->a.mem.bytes(0, length), ++seed_);
	rc_->b.recv({rc_->b.sge(0, half)});
	rc_->a.send(rc_->send_wr(0, length));
	rc_->a.expect({});
	rc_->b.expect_recv({.byte_len = length});
	ops::check_filled(rc_->b.mem.bytes(0, length), seed_);
	bytes_ += length;
}

void Victim::write()
{
	size_t offset = rng_.below(4096), length = 1 + rng_.below(half);

	ops::fill(rc_->a.mem.bytes(offset, length), ++seed_);
	rc_->a.send(rc_->rdma_wr(IBV_WR_RDMA_WRITE, offset, length));
	rc_->a.expect({.opcode = IBV_WC_RDMA_WRITE});
	ops::check_filled(rc_->b.mem.bytes(offset, length), seed_);
	bytes_ += length;
}

void Victim::read()
{
	size_t length = 1 + rng_.below(half);

	ops::fill(rc_->b.mem.bytes(0, length), ++seed_);
	rc_->a.send(rc_->rdma_wr(IBV_WR_RDMA_READ, 0, length));
	rc_->a.expect({.opcode = IBV_WC_RDMA_READ});
	ops::check_filled(rc_->a.mem.bytes(0, length), seed_);
	bytes_ += length;
}

/* May be lost: then the receive is taken back by making the pair again. */
void Victim::datagram()
{
	size_t length = 1 + rng_.below(1024);
	auto end = Clock::now() + std::chrono::seconds(5 * ops::slowness());
	ibv_wc wc{};

	ops::fill(ud_->a.mem.bytes(0, length), ++seed_);
	ud_->b.recv({ud_->b.sge(0, 2048)});
	ud_->a.send(ud_->send_wr(0, length));
	ud_->a.expect({});
	sent_++;
	while (!ibv_poll_cq(ud_->b.cq.get(), 1, &wc)) {
		if (Clock::now() > end) {
			lost_++;
			renew();
			return;
		}
	}
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	CHECK_EQ(wc.byte_len, length + 40);
	ops::check_filled(ud_->b.mem.bytes(40, length), seed_);
}

/* Pages of his own come in, whoever else waits for some. */
void Victim::page_in()
{
	constexpr size_t length = 8192;
	void *p = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	ops::Mr mr(ops::made(
		ibv_reg_mr(rc_->b.pd.get(), p, length, ops::all_access | IBV_ACCESS_ON_DEMAND),
		"ibv_reg_mr"));
	ops::fill(rc_->a.mem.bytes(0, length), ++seed_);
	ops::Wr wr = rc_->rdma_wr(IBV_WR_RDMA_WRITE, 0, length);
	wr.addr = reinterpret_cast<uintptr_t>(p);
	wr.rkey = mr->rkey;
	rc_->a.send(wr);
	rc_->a.expect({});
	ops::check_filled({static_cast<uint8_t *>(p), length}, seed_);
	mr.reset();
	munmap(p, length);
}

void Victim::round()
{
	switch (rng_.below(5)) {
	case 0: send(); break;
	case 1: write(); break;
	case 2: read(); break;
	case 3: datagram(); break;
	case 4: page_in(); break;
	}
	rounds_++;
}

void Victim::work(Clock::time_point end)
{
	while (Clock::now() < end) {
		timed(longest_round_, [&] { round(); });
		if (rng_.one_in(50))
			timed(longest_renewal_, [&] { renew(); });
	}
	/* All of it can be had at the end of the attack, too. */
	timed(longest_renewal_, [&] { renew(); });
	if (lost_ * 2 > sent_)
		FAIL("most datagrams are lost");
}

void Victim::print() const
{
	auto ms = [](Clock::duration d) {
		return (long)std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
	};

	printf("%lu rounds, %lu bytes, %lu datagrams (%lu lost), made anew %lu times; longest %ld ms, %ld ms\n",
	       rounds_, bytes_, sent_, lost_, renewals_, ms(longest_round_), ms(longest_renewal_));
}

} // namespace

int run_victim(const Options &o)
{
	Victim victim(o);

	try {
		victim.work(o.end());
	} catch (...) {
		victim.print();
		throw;
	}
	victim.print();
	return failed();
}

} // namespace hostile

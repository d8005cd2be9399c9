// SPDX-License-Identifier: GPL-2.0
/* Queues that are resized, moved between states and destroyed under traffic. */
#include <mutex>
#include <shared_mutex>
#include <unistd.h>

#include "threads.h"

namespace hostile {

namespace {

constexpr uint32_t message = 1024;

/* Numbered messages: each arrives once, in order, whole. */
class Stream {
public:
	explicit Stream(const Options &o) : p_(one_device(o), options())
	{
		for (unsigned i = 0; i < depth; i++)
			p_.b.recv({p_.b.sge(i * message, message)}, i);
	}

	void post()
	{
		if (posted_ - sent_ >= depth / 2) {
			std::this_thread::yield();
			return;
		}
		size_t slot = posted_ % depth * message;
		ops::fill(p_.a.mem.bytes(slot, message), posted_);
		ops::Wr wr = p_.send_wr(slot, message);
		wr.id = posted_;
		p_.a.send(wr);
		posted_++;
	}
	bool poll_sent()
	{
		ibv_wc wc;
		if (ibv_poll_cq(p_.a.cq.get(), 1, &wc) <= 0)
			return false;
		CHECK_EQ(wc.status, IBV_WC_SUCCESS);
		CHECK_EQ(wc.wr_id, sent_);
		sent_++;
		return true;
	}
	bool poll_received()
	{
		ibv_wc wc;
		if (ibv_poll_cq(p_.b.cq.get(), 1, &wc) <= 0)
			return false;
		CHECK_EQ(wc.status, IBV_WC_SUCCESS);
		CHECK_EQ(wc.wr_id, received_ % depth);
		size_t slot = received_ % depth * message;
		ops::check_filled(p_.b.mem.bytes(slot, message), received_);
		received_++;
		p_.b.recv({p_.b.sge(slot, message)}, wc.wr_id);
		return true;
	}
	ops::Pair &pair() { return p_; }
	uint64_t received() const { return received_; }

private:
	static constexpr unsigned depth = 64;
	static ops::EndOptions options()
	{
		ops::EndOptions o;
		o.cap = {depth, depth, 1, 1, 0};
		o.cqe = 256;
		o.memory = depth * message;
		return o;
	}

	ops::Pair p_;
	std::atomic<uint64_t> posted_ = 0, sent_ = 0, received_ = 0;
};

void try_to(ops::End &e, ibv_qp_state state, Tally &tally, const char *name)
{
	ibv_qp_attr a{.qp_state = state};
	tally.note(name, !e.try_modify(a, IBV_QP_STATE));
}

} // namespace

void resize_against_traffic(const Options &o, Tally &tally)
{
	Stream s(o);
	{
		Crew crew(o.end(), o.seed);
		crew.add([&](Rng &) { s.post(); });
		crew.add([&](Rng &) { tally.note("poll, resized", s.poll_sent()); });
		crew.add([&](Rng &) { tally.note("poll, resized", s.poll_received()); });
		crew.add([&](Rng &rng) {
			ops::End &e = rng.one_in(2) ? s.pair().a : s.pair().b;
			tally.note("resize", !ibv_resize_cq(e.cq.get(), 128 << rng.below(6)));
			tally.note("notify, resized", !ibv_req_notify_cq(e.cq.get(), 0));
		});
	}
	CHECK(s.received() > 0);
}

/* The receiver's objects go and come again, the sender sends on: to what is there, or what was. */
void destroy_against_traffic(const Options &o, Tally &tally)
{
	ops::EndOptions options, shared;
	options.timeout = 8;
	options.retry = 1;
	options.rnr_retry = 1;
	shared = options;
	shared.srq_wr = 64;
	auto p = std::make_unique<ops::Pair>(one_device(o), options, shared);
	Stream bystander(o);
	std::mutex lock;
	Crew crew(o.end(), o.seed);

	crew.add([&](Rng &rng) {
		std::unique_lock guard(lock);
		ops::Wr wr = rng.one_in(2) ? p->rdma_wr(IBV_WR_RDMA_WRITE, 0, 8192)
					   : p->send_wr(0, 8192);
		p->b.try_recv({p->b.sge(0, 16384)});
		for (unsigned n = 0; n < 8; n++)
			tally.note("post to one who goes", !p->a.try_send(wr));
		guard.unlock();
		usleep(rng.below(300));
		guard.lock();
		drain(p->a.cq.get(), tally, "message to one who goes");
	});
	/* Before the receiver can take it all in: QP, SRQ and CQ with work in them. */
	crew.add([&](Rng &rng) {
		usleep(rng.below(5000));
		std::lock_guard guard(lock);
		if (rng.one_in(2)) {
			p->b.qp.reset();
			p->b.srq.reset();
			p->b.cq.reset();
		} else {
			p->a.qp.reset();
		}
		p = std::make_unique<ops::Pair>(one_device(o), options,
						rng.one_in(2) ? options : shared);
		tally.note("made anew", true);
	});
	crew.add([&](Rng &) { bystander.post(); });
	crew.add([&](Rng &) {
		bool any = bystander.poll_sent();
		tally.note("a bystander's messages", bystander.poll_received() || any);
	});
}

void modify_against_traffic(const Options &o, Tally &tally)
{
	ops::Pair p(one_device(o), {});
	Crew crew(o.end(), o.seed);

	crew.add([&](Rng &rng) {
		p.b.try_recv({p.b.sge(0, 4096)});
		tally.note("post, state changing",
			   !p.a.try_send(rng.one_in(2) ? p.send_wr(0, 4096)
						       : p.rdma_wr(IBV_WR_RDMA_READ, 0, 4096)));
	});
	crew.add([&](Rng &) {
		drain(p.a.cq.get(), tally, "sent, state changing");
		drain(p.b.cq.get(), tally, "received, state changing");
	});
	crew.add([&](Rng &rng) {
		static constexpr ibv_qp_state states[] = {IBV_QPS_SQD, IBV_QPS_RTS, IBV_QPS_SQD,
							  IBV_QPS_ERR};
		try_to(rng.one_in(4) ? p.b : p.a, rng.pick(states), tally, "modify under traffic");
		if (rng.one_in(8)) {
			reconnect(p);
			tally.note("reconnect under traffic", true);
		}
	});
}

/* Address handles are the process' own to destroy, as soon as it has posted. */
void addresses_against_datagrams(const Options &o, Tally &tally)
{
	ops::EndOptions ud;
	ud.type = IBV_QPT_UD;
	ops::Pair p(one_device(o), ud);
	std::shared_mutex lock;
	Crew crew(o.end(), o.seed);
	ibv_gid group{};

	memcpy(group.raw, "\xff\x12\x40\x1b\xff\xff\0\0\0\0\0\0\0\0\0\x7", 16);
	for (unsigned i = 0; i < 2; i++)
		crew.add([&](Rng &rng) {
			std::shared_lock guard(lock);
			p.b.try_recv({p.b.sge(0, 4096)});
			tally.note("datagram posted", !p.a.try_send(p.send_wr(0, rng.below(2048))));
			guard.unlock();
			drain(p.a.cq.get(), tally, "datagram sent");
			drain(p.b.cq.get(), tally, "datagram received");
		});
	crew.add([&](Rng &rng) {
		std::lock_guard guard(lock);
		p.ah.reset();
		/* what is still posted may fail for want of it */
		if (rng.one_in(4))
			reconnect(p);
		else
			p.ah = p.a.ah_to(p.b);
		tally.note("address anew", true);
	});
	crew.add([&](Rng &) {
		tally.note("join", !ibv_attach_mcast(p.b.qp.get(), &group, 0xc123));
		tally.note("leave", !ibv_detach_mcast(p.b.qp.get(), &group, 0xc123));
	});
}

} // namespace hostile

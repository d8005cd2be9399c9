// SPDX-License-Identifier: GPL-2.0
/* What there is little of: one user has half of it at most, and others the rest. */
#include <fcntl.h>

#include "nobody.h"
#include "paging.h"
#include "slow.h"
#include "suites.h"

namespace ops {

namespace {

Dm piece(const Device &dev, size_t length)
{
	ibv_alloc_dm_attr attr{};
	attr.length = length;
	return Dm(ibv_alloc_dm(dev.ctx.get(), &attr));
}

size_t take_pieces(const Device &dev, std::vector<Dm> &pieces, size_t length)
{
	size_t most = dev.device_attr.max_dm_size / length + 1, n = 0;
	for (; n < most; n++) {
		Dm dm = piece(dev, length);
		if (!dm)
			break;
		pieces.push_back(std::move(dm));
	}
	return n;
}

/* Nobody takes all of the device's memory, and what he had is free when he has gone. */
void device_memory(const Env &env)
{
	constexpr size_t length = 1 << 20;
	Device dev = env.open_a();
	size_t all = dev.device_attr.max_dm_size / length;
	if (!all)
		throw Skip("no device memory");
	Nobody greedy(env, [](Device &his, const auto &hold) {
		std::vector<Dm> pieces;
		hold(take_pieces(his, pieces, length));
	});
	CHECK_EQ(greedy.taken(), all / 2);
	std::vector<Dm> rest;
	CHECK_EQ(take_pieces(dev, rest, length), all - all / 2);
	greedy.release();
	CHECK_EQ(take_pieces(dev, rest, length), all / 2);
}

Xrcd domain(const Device &dev)
{
	ibv_xrcd_init_attr attr{};
	attr.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	attr.fd = -1;
	attr.oflags = O_CREAT;
	return Xrcd(ibv_open_xrcd(dev.ctx.get(), &attr));
}

/* Of the 65,536 XRC domains of an HCA nobody has more than half, and others have what they need. */
void xrc_domains(const Env &env)
{
	constexpr size_t all = 1 << 16;
	Device dev = env.open_a();
	if (!(dev.caps & IBV_DEVICE_XRC))
		throw Skip("no XRC");
	Nobody greedy(env, [](Device &his, const auto &hold) {
		std::vector<Xrcd> domains;
		while (domains.size() < all) {
			Xrcd one = domain(his);
			if (!one)
				break;
			domains.push_back(std::move(one));
		}
		hold(domains.size());
	});
	CHECK_EQ(greedy.taken(), all / 2);
	CHECK(domain(dev));
}

EndOptions datagrams(unsigned receives)
{
	EndOptions o;
	o.type = IBV_QPT_UD;
	o.cap = {16, receives, 1, 1, 0};
	o.cqe = receives + 16;
	o.memory = 8192;
	return o;
}

/* A datagram QP whose receives lie where no page comes. */
struct Receiver {
	Receiver(const Env &env, const SlowFile &slow, size_t offset, unsigned receives) :
		end(env.open_a(), datagrams(receives)),
		mr(reg(end.pd.get(), slow.at(offset), SlowFile::page))
	{
		end.to_init();
		end.to_rtr(end);
		end.to_rts();
		for (unsigned i = 0; i < receives; i++)
			end.recv({sge(mr, slow.at(offset), SlowFile::page)});
	}

	End end;
	Mr mr;
};

/* Each is done with when it was kept for its receiver, or lost. */
void send(Receiver &from, Receiver &to, const Ah &ah, size_t length, unsigned times)
{
	Wr wr;
	wr.sg = {from.end.sge(0, length)};
	wr.ah = ah.get();
	wr.qpn = to.end.qpn();
	wr.qkey = to.end.opt.qkey;
	while (times--) {
		from.end.send(wr);
		from.end.expect({});
	}
}

/* Of the 64 MiB of datagrams that wait for pages at an HCA a user has half, whatever he does. */
void held(const Env &env)
{
	constexpr unsigned receivers = 70, each = 256, others = 50;
	need(env.open_a(), IBV_ODP_SUPPORT_RECV, IBV_QPT_UD);
	auto slow = slow_file(receivers + 1);
	Nobody greedy(env, [&](Device &, const auto &hold) {
		std::vector<std::unique_ptr<Receiver>> all;
		for (unsigned i = 0; i < receivers; i++)
			all.push_back(
				std::make_unique<Receiver>(env, *slow, i * SlowFile::page, 1));
		Ah ah = all[0]->end.ah_to(all[0]->end);
		/* it fits into what is posted for it, behind the GRH: else nobody would wait */
		size_t length = std::min<size_t>(all[0]->end.dev.mtu(), SlowFile::page) -
				grh_len(all[0]->end);
		for (auto &to : all)
			send(*all[0], *to, ah, length, each);
		hold(0);
		slow->release();
	});
	Receiver sender(env, *slow, 0, 1), other(env, *slow, receivers * SlowFile::page, others);
	Ah ah = sender.end.ah_to(other.end);
	CHECK_EQ(greedy.taken(), 0u);
	send(sender, other, ah, 1000, others);
	slow->release();
	for (unsigned i = 0; i < others; i++)
		other.end.expect({.byte_len = 1040});
}

} // namespace

void add_shares(Suite &suite)
{
	suite.add("limit.device_memory_share", device_memory);
	suite.add("limit.held_share", held);
	suite.add("limit.xrc_domains_share", xrc_domains);
}

} // namespace ops

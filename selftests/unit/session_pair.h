// SPDX-License-Identifier: GPL-2.0
// Two ends of a link over a network that loses, doubles, delays and reorders datagrams. Seeded, so it repeats.
#pragma once

#include <gtest/gtest.h>
#include <array>
#include <map>
#include <random>
#include <utility>
#include <vector>

extern "C" {
#include "../../kernel/proto/session.h"
}

namespace session_pair {

constexpr uint64_t kMs = 1000000;
constexpr uint64_t kStep = 5 * kMs;

using Bytes = std::array<uint8_t, PIB_HELLO_WIRE_LEN>;

// Of the link header: whom the datagram is for, 0: it is not known.
inline uint32_t link_id(const Bytes &bytes)
{
	pib_hello h;
	uint8_t type;
	uint32_t id = 0;

	EXPECT_EQ(pib_hello_parse(&h, &type, &id, bytes.data(), bytes.size()), 0);
	return id;
}

struct Network {
	double loss = 0, dup = 0;
	uint64_t delay = 0;	      // at most
	bool cut[2] = {false, false}; // towards end 0, end 1
};

struct Peer {
	pib_session session{};
	bool alive = true;
	bool asleep = false; // does not run: its timers are late, what comes is lost
	bool deaf = false;   // its socket drops what comes, and it knows
	bool up = false;     // as env has been told
	uint8_t mtu_cap = 5; // of its port
	int ups = 0, downs = 0;
	int sent = 0;
	uint64_t epoch = 0; // counts what env was told
};

class Pair {
public:
	explicit Pair(uint64_t seed = 1) : rng(seed)
	{
		for (int i = 0; i < 2; i++)
			pib_session_init(&end[i].session, 10 + i, nonce());
	}
	virtual ~Pair() = default;

	void run(uint64_t span)
	{
		for (uint64_t until = now + span; now < until; now += kStep) {
			deliver();
			for (int i = 0; i < 2; i++)
				timer(i);
			check();
		}
	}
	// Runs until both ends are up with each other; false: not within @limit.
	bool join(uint64_t limit)
	{
		for (uint64_t until = now + limit; now < until;) {
			run(kStep);
			if (joined())
				return true;
		}
		return false;
	}
	bool joined() const { return end[0].up && end[1].up && matched(); }
	bool matched() const
	{
		return end[0].session.peer_nonce == end[1].session.nonce &&
		       end[1].session.peer_nonce == end[0].session.nonce;
	}
	void restart(int i)
	{
		bool passive = end[i].session.passive, recalls = end[i].session.recalls;

		tell(i, end[i].up ? PIB_SESSION_DO_DOWN : 0);
		pib_session_init(&end[i].session, end[i].session.local_id + 2, nonce());
		end[i].session.passive = passive;
		end[i].session.recalls = recalls;
		end[i].alive = true;
	}
	// A question that the end was not to ask yet
	void ask(int i)
	{
		end[i].session.out_type = PIB_DG_HELLO;
		send(i);
	}
	void reset(int i, bool down)
	{
		act(i, pib_session_reset(&end[i].session, nonce(), down, now));
	}
	void bye(int i)
	{
		act(i, pib_session_bye(&end[i].session));
		end[i].alive = false;
	}
	// Hands @bytes to end @to now.
	uint32_t inject(int to, const Bytes &bytes)
	{
		pib_hello h;
		uint8_t type;
		uint32_t id;

		EXPECT_EQ(pib_hello_parse(&h, &type, &id, bytes.data(), bytes.size()), 0);
		if (!takes(to, bytes, h))
			return PIB_SESSION_DO_REJECT;
		uint32_t todo = pib_session_rx(&end[to].session, &h, type, now);
		act(to, todo);
		return todo;
	}
	void replay_all(int to)
	{
		auto old = sent[!to];

		for (auto &bytes : old)
			inject(to, bytes);
	}
	uint64_t nonce() { return rng() | 1; }

	Network net;
	bool new_ids = false; // what is for the link of a former life reaches nobody
	Peer end[2];
	uint64_t now = 1000 * kMs;
	std::vector<Bytes> sent[2]; // by each end, ever
	uint32_t mtu = 0;	    // of each end's route; 0: they send no padded probes
	uint32_t carries = 65536;   // bytes of an IP packet
	uint32_t caps = PIB_CAP_PADDED | PIB_CAP_SEGMENTS;
	std::vector<pib_hello> padded; // that have come
	int refused = 0;	       // of them
	std::mt19937_64 rng;

protected:
	void act(int i, uint32_t todo)
	{
		tell(i, todo);
		if (todo & PIB_SESSION_DO_SEND)
			send(i);
	}
	// A datagram of end @i gets its authentication.
	virtual void sign(int, Bytes &) {}
	// Return: true if it is authentic to end @to. Its key goes into @h.
	virtual bool takes(int, const Bytes &, pib_hello &) { return true; }
	virtual void came_up(int) {}
	// Both ends of the cable have seen the same: while both are up with each other, the count
	// of one end's ups belongs to one count of the other's.
	virtual void check()
	{
		if (!joined())
			return;
		auto [it, fresh] = partner.try_emplace(end[0].epoch, end[1].epoch);
		EXPECT_EQ(it->second, end[1].epoch);
		auto [back, fresh2] = partner_back.try_emplace(end[1].epoch, end[0].epoch);
		EXPECT_EQ(back->second, end[0].epoch);
	}

private:
	bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(rng) < p; }

	void tell(int i, uint32_t todo)
	{
		Peer &e = end[i];

		if (todo & PIB_SESSION_DO_DOWN) {
			EXPECT_TRUE(e.up) << "down twice";
			e.up = false;
			e.downs++;
		}
		if (todo & PIB_SESSION_DO_UP) {
			EXPECT_FALSE(e.up) << "up twice";
			e.up = true;
			e.ups++;
			e.epoch++;
			came_up(i);
		}
	}
	void send(int i)
	{
		pib_hello h{};
		Bytes bytes;

		h.role = PIB_ROLE_SWITCH;
		h.mtu_cap = end[i].mtu_cap;
		h.node_guid = 0x100 + i;
		h.caps = PIB_CAP_FLOWS | caps;
		EXPECT_EQ(pib_session_build(&end[i].session, &h, now, bytes.data()), bytes.size());
		sign(i, bytes);
		sent[i].push_back(bytes);
		end[i].sent++;
		for (int copies = 1 + chance(net.dup); copies; copies--) {
			uint64_t late = net.delay ? rng() % net.delay : 0;
			if (!net.cut[!i] && !chance(net.loss))
				wire.emplace(now + kStep + late, std::pair(!i, bytes));
		}
	}
	void deliver()
	{
		while (!wire.empty() && wire.begin()->first <= now) {
			auto [to, bytes] = wire.begin()->second;

			wire.erase(wire.begin());
			const uint32_t id = link_id(bytes);
			if (new_ids && id && id != end[to].session.local_id)
				continue; // of a link that is no more
			if (end[to].alive && !end[to].asleep && !end[to].deaf)
				inject(to, bytes);
		}
	}
	void timer(int i)
	{
		if (end[i].asleep)
			return;
		if (end[i].deaf)
			pib_session_deaf(&end[i].session, now);
		if (end[i].alive && pib_session_deadline(&end[i].session) <= now)
			tick(i);
	}
	void tick(int i)
	{
		const uint32_t todo = pib_session_timer(&end[i].session, now);

		if (todo & PIB_SESSION_DO_SEND)
			send_padded(i);
		act(i, todo);
	}
	void send_padded(int i)
	{
		const pib_pmtu_bounds bounds{mtu, PIB_PMTU_LEAST,
					     pib_session_most(&end[i].session, end[i].mtu_cap)};
		const uint32_t size = pib_session_probe_size(&end[i].session, &bounds, now);
		pib_hello h{};
		Bytes bytes;

		if (!size)
			return;
		h.role = PIB_ROLE_SWITCH;
		h.mtu_cap = end[i].mtu_cap;
		EXPECT_EQ(pib_session_build_padded(&end[i].session, &h, size - 28, bytes.data()),
			  bytes.size());
		if (size > carries || net.cut[!i] || !end[!i].alive || chance(net.loss))
			return;
		take_padded(!i, bytes, size - 28);
	}
	void take_padded(int to, const Bytes &bytes, size_t len)
	{
		std::vector<uint8_t> whole(bytes.begin(), bytes.end());
		pib_hello h;
		uint8_t type;
		uint32_t id;

		whole.resize(len);
		ASSERT_EQ(pib_hello_parse(&h, &type, &id, whole.data(), whole.size()), 0);
		padded.push_back(h);
		refused += !pib_session_take_padded(&end[to].session, &h, type);
	}

	std::multimap<uint64_t, std::pair<int, Bytes>> wire;
	std::map<uint64_t, uint64_t> partner, partner_back;
};

} // namespace session_pair

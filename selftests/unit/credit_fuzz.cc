// SPDX-License-Identifier: GPL-2.0
// libFuzzer target: windows of VLs between two ends, of which one sends. The way loses data and CREDITs, and both ends hear lies.
//
//	op, VL, then two bytes: an amount, or how a lie differs from what would be believed
#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>

#include "fuzz.h"

extern "C" {
#include "../../kernel/proto/credit.h"
}

namespace {

using Wire = std::array<uint8_t, PIB_CREDIT_WIRE_LEN>;

struct Item {
	int vl; // -1: a CREDIT
	uint32_t bytes;
	Wire credit;
};

struct World {
	uint64_t now = PIB_NSEC_PER_SEC;
	pib_credits a{}, b{};
	std::deque<Item> there, back;

	World()
	{
		pib_credits_init(&a, 11, 22);
		pib_credits_init(&b, 22, 11);
	}

	void say(std::deque<Item> &to, pib_credits &from, pib_credit_kind kind, uint8_t vl = 0)
	{
		Item &item = to.emplace_back(Item{-1, 0, {}});
		pib_credits_build(&from, 5, kind, vl, now, item.credit.data());
	}
	void hear(pib_credits &c, std::deque<Item> &answers, const pib_credit_msg &m)
	{
		const uint32_t todo = pib_credits_rx(&c, &m, now);
		if (todo & PIB_CREDIT_DO_OPEN)
			CHECK(c.opened && !(c.opened & c.waits));
		if (todo & PIB_CREDIT_DO_ANSWER)
			say(answers, c, PIB_CREDIT_ANSWERS);
	}
	void hear(pib_credits &c, std::deque<Item> &answers, const uint8_t *bytes, size_t n)
	{
		pib_credit_msg m;
		uint32_t to;
		if (pib_credit_parse(&m, &to, bytes, n))
			hear(c, answers, m);
	}
	// @c hears what it believes already, but for what @how says. @vl: the VL that the lie is about
	void lie(pib_credits &c, std::deque<Item> &answers, uint8_t vl, uint16_t how)
	{
		pib_credit_msg m{};
		const int16_t by = static_cast<int16_t>(how) >> 5;
		m.nonce = c.peer_nonce;
		m.peer_nonce = c.nonce;
		m.seq = c.heard + (how & 1 ? by : 1);
		m.answers = how & 2 ? c.seq + by : c.vl[vl].question;
		m.asks = how & 4;
		m.is_answer = !m.asks;
		m.is_shared = how & 8;
		m.vl = how & 16 ? vl + 1 : vl;
		for (uint32_t i = 0; i < PIB_CREDIT_VLS; i++)
			m.taken[i] = c.vl[i].taken + (i == vl ? by * 0x200000u : 0);
		hear(c, answers, m);
	}
	void arrive()
	{
		if (there.empty())
			return;
		const Item item = there.front();
		there.pop_front();
		if (item.vl < 0)
			hear(b, back, item.credit.data(), item.credit.size());
		else if (pib_credits_take(&b, item.vl, item.bytes, now))
			say(back, b, PIB_CREDIT_TELLS);
	}
	void come_back()
	{
		if (back.empty())
			return;
		const Item item = back.front();
		back.pop_front();
		hear(a, there, item.credit.data(), item.credit.size());
	}
	// Returns whether the VL is open.
	bool offer(uint8_t vl)
	{
		if (pib_credits_open(&a, vl, now))
			return true;
		pib_credits_wait(&a, vl, now);
		for (int asks; (asks = pib_credits_due(&a, now)) >= 0;)
			say(there, a, PIB_CREDIT_ASKS, asks);
		return !(a.waits >> vl & 1);
	}
	void send(uint8_t vl, uint32_t bytes)
	{
		if (!offer(vl))
			return;
		pib_credits_sent(&a, vl, bytes, now);
		there.push_back(Item{vl, bytes, {}});
	}
	void send_beside(uint8_t vl, uint32_t bytes)
	{
		if (pib_credits_overdrawn_beside(&a, vl))
			return;
		pib_credits_sent_beside(&a, vl, bytes, now);
		there.push_back(Item{vl, bytes, {}});
	}
	void check()
	{
		for (const pib_credit_vl &v : a.vl) {
			const uint32_t on_the_way = v.sent - v.taken - v.lost;
			CHECK(static_cast<int32_t>(on_the_way) >= 0);
			CHECK(v.beside <= on_the_way);
			CHECK(!v.question || v.ask_ms <= PIB_CREDIT_ASK_MAX_MS);
		}
		CHECK(!a.off || !a.waits);
		CHECK((pib_credits_deadline(&a) == PIB_CREDIT_NEVER) == !a.waits);
	}
	// Honest answers open each VL, whatever was said before.
	void check_end()
	{
		there.clear();
		back.clear();
		for (uint8_t vl = 0; vl < PIB_CREDIT_VLS; vl++) {
			const uint64_t until = now + 500 * PIB_NSEC_PER_MSEC;
			for (; !offer(vl); now += PIB_NSEC_PER_MSEC) {
				CHECK(now < until);
				while (!there.empty())
					arrive();
				while (!back.empty())
					come_back();
			}
			check();
		}
	}
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	World w;

	for (; size >= 4; data += 4, size -= 4) {
		const uint8_t vl = data[1] % PIB_CREDIT_VLS;
		const uint16_t much = data[2] << 8 | data[3];
		switch (data[0] % 12) {
		case 0: w.send(vl, much); break;
		case 1: w.send(vl, much * 16); break;
		case 2: w.send_beside(vl, much); break;
		case 3: w.send_beside(vl, much * 16); break;
		case 4: w.now += much * PIB_NSEC_PER_USEC * 100; break;
		case 5:
			for (int i = 0; i <= data[1]; i++)
				w.arrive();
			break;
		case 6:
			for (int i = 0; i <= data[1] && !w.there.empty(); i++)
				w.there.pop_front();
			break;
		case 7:
			for (int i = 0; i <= data[1]; i++)
				w.come_back();
			break;
		case 8:
			for (int i = 0; i <= data[1] && !w.back.empty(); i++)
				w.back.pop_front();
			break;
		case 9: w.lie(w.a, w.there, vl, much); break;
		case 10: w.lie(w.b, w.back, vl, much); break;
		case 11: {
			// of its own, so that reading past the end is seen
			const size_t n =
				std::min<size_t>(size - 4, PIB_CREDIT_WIRE_LEN + (much & 1));
			auto bytes = std::make_unique<uint8_t[]>(n);
			memcpy(bytes.get(), data + 4, n);
			w.hear(w.a, w.there, bytes.get(), n);
			data += n;
			size -= n;
		}
		}
		w.check();
	}
	w.check_end();
	return 0;
}

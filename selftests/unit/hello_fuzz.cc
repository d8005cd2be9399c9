// SPDX-License-Identifier: GPL-2.0
// libFuzzer target: the parser of control datagrams, and the link state machine behind it.
//
//	step: milliseconds that pass, n, then n bytes of datagram
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "fuzz.h"

extern "C" {
#include "../../kernel/proto/session.h"
}

namespace {

struct End {
	pib_session f{};
	bool up = false;

	void timer(uint64_t now)
	{
		const pib_pmtu_bounds bounds{1500, PIB_PMTU_LEAST, PIB_PMTU_MOST};
		const uint32_t todo = pib_session_timer(&f, now);

		if (todo & PIB_SESSION_DO_SEND)
			CHECK(pib_session_probe_size(&f, &bounds, now) <= bounds.mtu);
		act(todo, now);
	}
	void act(uint32_t todo, uint64_t now)
	{
		pib_hello h{};
		std::array<uint8_t, PIB_HELLO_WIRE_LEN> out;

		if (todo & PIB_SESSION_DO_DOWN) {
			CHECK(up);
			up = false;
		}
		if (todo & PIB_SESSION_DO_UP) {
			CHECK(!up);
			up = true;
		}
		h.role = PIB_ROLE_HCA;
		h.mtu_cap = 5;
		if (todo & PIB_SESSION_DO_SEND)
			CHECK(pib_session_build(&f, &h, now, out.data()) == out.size());
		CHECK(up == f.plugged);
		CHECK(f.state <= PIB_SESSION_UP);
		CHECK(!up || (f.state == PIB_SESSION_UP && !f.peer_down && !f.local_down));
		CHECK(f.nonce && (f.state == PIB_SESSION_IDLE) == (f.peer_nonce == 0));
		CHECK(f.peer_desc[63] == 0);
	}
};

// A datagram that parses is built again as it was, but for what the parser tames.
void check_round_trip(const pib_hello &h, uint8_t type, uint32_t to)
{
	std::array<uint8_t, PIB_HELLO_WIRE_LEN> bytes;
	pib_hello again;
	uint8_t type2;
	uint32_t to2;

	CHECK(pib_hello_build(&h, type, to, bytes.data()) == bytes.size());
	CHECK(pib_hello_parse(&again, &type2, &to2, bytes.data(), h.padded ?: bytes.size()) == 0);
	CHECK(type == type2 && to == to2);
	CHECK(h.nonce == again.nonce && h.seq == again.seq && h.caps == again.caps);
	CHECK(!strcmp(h.desc, again.desc));
	CHECK(h.padded == again.padded && h.probe == again.probe && h.came == again.came);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t now = PIB_NSEC_PER_SEC;
	End end;

	pib_session_init(&end.f, 1, 0x1111);
	while (size >= 2) {
		now += data[0] * 10 * PIB_NSEC_PER_MSEC;
		size_t n = std::min<size_t>(data[1], size - 2);
		// of its own, so that reading past the end is seen
		auto bytes = std::make_unique<uint8_t[]>(n);
		memcpy(bytes.get(), data + 2, n);
		data += 2 + n;
		size -= 2 + n;
		if (pib_session_deadline(&end.f) <= now)
			end.timer(now);
		pib_hello h;
		uint8_t type;
		uint32_t to;
		if (pib_hello_parse(&h, &type, &to, bytes.get(), n))
			continue;
		check_round_trip(h, type, to);
		if (h.padded)
			pib_session_take_padded(&end.f, &h, type);
		else
			end.act(pib_session_rx(&end.f, &h, type, now), now);
	}
	return 0;
}

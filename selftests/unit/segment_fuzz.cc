// SPDX-License-Identifier: GPL-2.0
// libFuzzer target: segment headers, and the packets of frames made of them.
//
//	segments, each with two bytes of length before it
//
// Those that fit the first one's frame are put together as the kernel does it, and what has
// come is read run by run, packet by packet.
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "fuzz.h"

extern "C" {
#include "../../kernel/proto/hdrs.h"
#include "../../kernel/proto/segment.h"
}

namespace {

struct Frame {
	pib_segment head;
	std::vector<uint8_t> bytes;
	uint32_t len;
	std::vector<std::optional<uint16_t>> first; // of the segments that have come

	explicit Frame(const pib_segment &s) :
		head(s), bytes(s.size * s.total), len(bytes.size()), first(s.total)
	{
	}

	bool takes(const pib_segment &s) const
	{
		return s.frame == head.frame && s.total == head.total && s.size == head.size &&
		       s.flags == head.flags && !first[s.index];
	}

	void add(const pib_segment &s, const uint8_t *data, uint32_t n)
	{
		uint32_t to = s.index * s.size;

		CHECK(to + n <= bytes.size());
		memcpy(&bytes[to], data, n);
		first[s.index] = s.first;
		if (s.index + 1 == s.total)
			len = to + n;
	}

	void read_packets(uint32_t off, uint32_t end) const
	{
		while (off < end) {
			// of its own, so that reading past the end is seen
			auto raw = std::make_unique<uint8_t[]>(end - off);
			size_t hdr_len, payload_len;
			pib_hdrs h;

			memcpy(raw.get(), &bytes[off], end - off);
			if (pib_hdrs_parse(&h, raw.get(), std::min<size_t>(end - off, PIB_HDRS_MAX),
					   end - off, &hdr_len, &payload_len))
				return;
			size_t n = hdr_len + payload_len + pib_hdrs_pad(payload_len) + PIB_ICRC_LEN;

			CHECK(n <= end - off);
			off += n;
		}
	}

	void read() const
	{
		uint32_t i = 0;

		while (i < head.total) {
			if (!first[i] || *first[i] >= head.size) {
				i++;
				continue;
			}
			uint32_t begin = i * head.size + *first[i];

			while (i < head.total && first[i])
				i++;
			read_packets(begin, std::min(i * head.size, len));
		}
	}
};

void check_round_trip(const pib_segment &s, uint32_t len)
{
	uint8_t bytes[PIB_SEG_HDR_LEN];
	pib_segment again;

	pib_segment_build(&s, bytes);
	CHECK(pib_segment_parse(&again, bytes, len));
	CHECK(s.flags == again.flags && s.tag == again.tag && s.link_id == again.link_id &&
	      s.frame == again.frame && s.index == again.index && s.total == again.total &&
	      s.size == again.size && s.first == again.first);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	std::unique_ptr<Frame> frame;

	while (size > 2) {
		size_t n = std::min<size_t>(data[0] << 8 | data[1], size - 2);
		auto raw = std::make_unique<uint8_t[]>(n);
		pib_segment s;

		memcpy(raw.get(), data + 2, n);
		data += 2 + n;
		size -= 2 + n;
		if (!pib_segment_parse(&s, raw.get(), n))
			continue;
		check_round_trip(s, n);
		if (!frame)
			frame = std::make_unique<Frame>(s);
		if (frame->takes(s))
			frame->add(s, raw.get() + PIB_SEG_HDR_LEN, n - PIB_SEG_HDR_LEN);
	}
	if (frame)
		frame->read();
	return 0;
}

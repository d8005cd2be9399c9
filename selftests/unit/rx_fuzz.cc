// SPDX-License-Identifier: GPL-2.0
// libFuzzer target: datagrams as netdevs and GRO lay them out go through the kernel's own receive
// path (kernel/udp/rx.c and what it calls), and through the plain reading of rx/plain.h. Both must
// hand up the same packets and count the same drops.
//
// Input: two bytes of configuration, then operations, of a byte and its arguments (struct Play).
// They make packets, datagrams of these, change, lose and shuffle them, and have them come.
#include <memory>

#include "fuzz.h"
#include "rx/plain.h"

extern "C" {
#include "../../kernel/proto/opcode.h"
}

using namespace rx;

namespace {

Result *got; // from the kernel

const uint32_t kCounters[] = {
	PIB_US_RX_DATAGRAMS,	PIB_US_RX_SHORT,	 PIB_US_RX_VERSION,
	PIB_US_RX_UNKNOWN_LINK, PIB_US_RX_WRONG_ADDRESS, PIB_US_RX_BAD_HELLO,
	PIB_US_RX_MALFORMED,	PIB_US_RX_BAD_ICRC,	 PIB_US_RX_REASSEMBLY,
	PIB_US_RX_UNSEALED,	PIB_US_RX_BAD_SEAL,	 PIB_US_RX_REPLAYED,
	PIB_US_RX_CE,
};

// The rest of the input; where it has ended, zeros.
class Input {
public:
	Input(const uint8_t *p, size_t n) : p_(p), end_(p + n) {}

	bool empty() const { return p_ == end_; }
	uint8_t u8() { return empty() ? 0 : *p_++; }

	uint16_t u16()
	{
		uint16_t high = u8();

		return high << 8 | u8();
	}

	Bytes bytes(size_t n)
	{
		n = std::min<size_t>(n, end_ - p_);
		p_ += n;
		return Bytes(p_ - n, p_);
	}

private:
	const uint8_t *p_, *end_;
};

// ---- packets ----

// Most packets are small, for the sake of speed.
size_t payload_len(uint16_t bits)
{
	return bits & (bits & 0x4000 ? 0x1FFF : 0x3FF);
}

// Bytes of payloads: those of neighbouring packets differ.
const Bytes pattern = [] {
	Bytes b(0x2100);

	for (size_t i = 0; i < b.size(); i++)
		b[i] = i * 11 + (i >> 8);
	return b;
}();

void put_packet(Bytes &out, const pib_hdrs &h, size_t len, bool noicrc)
{
	size_t at = out.size(), hdr_len;

	out.resize(at + PIB_HDRS_MAX);
	hdr_len = pib_hdrs_build(&h, len, &out[at]);
	if (!hdr_len) {
		out.resize(at);
		return;
	}
	out.resize(at + hdr_len);
	out.insert(out.end(), &pattern[h.psn & 0xFF], &pattern[h.psn & 0xFF] + len);
	out.resize(out.size() + pib_hdrs_pad(len) + PIB_ICRC_LEN);
	if (noicrc)
		return;

	size_t body = out.size() - PIB_ICRC_LEN - at - hdr_len;
	uint32_t crc =
		pib_icrc_update(pib_icrc_headers(&out[at], hdr_len), &out[at + hdr_len], body);

	pib_icrc_store(crc, &out[out.size() - PIB_ICRC_LEN]);
}

// The headers of a packet: @bits are of the input.
pib_hdrs packet_headers(uint8_t opcode, uint8_t bits, uint32_t psn)
{
	static const uint32_t qpns[] = {0x12, 0x13, 1, PIB_QPN_MCAST};
	const struct pib_opcode_info *info = pib_opcode_info(opcode);
	pib_hdrs h = {};

	h.tp = opcode >> 5;
	h.slid = 3;
	h.dlid = bits & 8 ? 0xC001 : 4;
	h.pkey = 0xFFFF;
	h.dqpn = qpns[bits & 3];
	h.sqpn = 0x21;
	h.psn = psn & PIB_PSN_MASK;
	h.va = 0x1000;
	h.dmalen = 0x10000;
	h.vl = bits >> 2 & 1;
	if (info) {
		h.op = info->op;
		h.flags = info->flags;
	}
	h.flags |= (bits & 0x10 ? PIB_H_GRH : 0) | (bits & 0x20 ? PIB_H_SE : 0) |
		   (bits & 0x40 ? PIB_H_ACKREQ : 0) | (bits & 0x80 ? PIB_H_BECN : 0);
	if (bits & 4)
		h.hop = 64;
	return h;
}

// ---- skbs ----

// How bytes lie in an skb.
struct Layout {
	uint16_t linear = 0xFFFF; // most linear bytes
	uint16_t frag = 4095;	  // bytes of each fragment but one
	uint8_t shift = 0;	  // offset of the first one in its page
	uint16_t list = 0;	  // most bytes of each skb but the first; 0: all
	uint16_t first = 0xFFFF;  // most bytes of the first
};

// Pieces are at least so large that no list is longer than 64 skbs.
sk_buff *lay_one(View &bytes, const Layout &l, size_t most)
{
	View b = bytes.first(std::min(most, bytes.size()));
	View linear = b.first(std::min<size_t>(l.linear, b.size()));
	sk_buff *skb = rx_skb(linear.data(), linear.size());
	size_t at = linear.size(), frag = std::max<size_t>(l.frag + 1, b.size() / 16);
	uint8_t shift = l.shift;

	while (at < b.size()) {
		size_t n = std::min<size_t>(frag + shift, b.size() - at);

		if (!rx_skb_frag(skb, &b[at], shift, n))
			break;
		shift /= 2;
		at += n;
	}
	bytes = bytes.subspan(at);
	return skb;
}

sk_buff *lay_out(View bytes, const Layout &l)
{
	size_t most = l.list ? std::max<size_t>(l.list, bytes.size() / 64) : bytes.size();
	sk_buff *skb = lay_one(bytes, l, l.first);

	while (!bytes.empty())
		rx_skb_list(skb, lay_one(bytes, l, most));
	return skb;
}

// ---- the run of an input ----

struct Datagram {
	Bytes bytes;
	int seal = -1; // link whose session seals it
};

class Play {
public:
	Play(Input in) : in_(in)
	{
		uint8_t bits = in_.u8();
		uint32_t pages = in_.u8();

		links_[0] = {0x11223344, 0x1001, 0x2001, bool(bits & 1), false, false};
		links_[1] = {0x55667788, 0x1002, 0x2002, bool(bits & 2), bool(bits & 4), true};
		loose_ = bits & 16;
		rx_fail(loose_ ? 1 + pages : 0);
		pages = bits & 8 ? 1024 - pages % 64 : 0;
		rx_begin(links_, pages);
		plain_ = std::make_unique<Plain>(links_, pages);
		got = &got_;
	}

	void run()
	{
		for (int n = 0; n < 200 && !in_.empty(); n++)
			step();
		rx_end();
	}

private:
	static constexpr size_t kMost = 65000;	// bytes of an skb
	static constexpr size_t kCopy = 2048;	// bytes that count as a copy, INTAKE_COPY
	static constexpr size_t kAll = 1 << 17; // bytes of all packets, and of all skbs

	Input in_;
	rx_link links_[RX_NUM_LINKS];
	std::unique_ptr<Plain> plain_;
	Result got_;
	Bytes packets_;		     // end to end
	std::vector<size_t> begins_; // of each of them
	std::vector<Datagram> datagrams_;
	Layout layout_;
	uint32_t psn_ = 0xFFFFF8;
	uint16_t frame_ = 0;
	uint64_t sealed_ = 0;
	bool loose_; // memory runs out once: nobody says what has to come of that
	size_t made_ = 0, spent_ = 0;

	void step()
	{
		switch (in_.u8() % 16) {
		case 0: return make_packet();
		case 1:
		case 2: return make_message();
		case 3: return make_data();
		case 4: return make_frame();
		case 5: return make_raw();
		case 6: return make_control();
		case 7: return patch();
		case 8: return cut();
		case 9: return shuffle();
		case 10: return lay();
		case 11: return pass();
		case 12: return change_session();
		case 13: return settle();
		case 14: return come_joined();
		case 15: return come();
		}
	}

	// ---- packets ----

	void add_packet(uint8_t opcode, uint8_t bits, size_t len, bool noicrc)
	{
		made_ += len;
		if (packets_.size() + len > kMost || made_ > kAll)
			return;
		begins_.push_back(packets_.size());
		put_packet(packets_, packet_headers(opcode, bits, psn_++), len, noicrc);
		if (packets_.size() == begins_.back())
			begins_.pop_back();
	}

	void make_packet()
	{
		uint8_t opcode = in_.u8(), bits = in_.u8();
		uint16_t len = in_.u16();

		psn_ += in_.u8() % 3;
		add_packet(opcode, bits, payload_len(len), len & 0x8000);
	}

	// A run of packets, of one message, or datagrams of a size.
	void make_message()
	{
		// first, middle, last
		static const uint8_t opcodes[][3] = {
			{0x06, 0x07, 0x08}, {0x00, 0x01, 0x02}, {0x0D, 0x0E, 0x0F},
			{0x26, 0x27, 0x28}, {0x64, 0x64, 0x64}, {0xA6, 0xA7, 0xA8},
			{0x00, 0x01, 0x03}, {0x06, 0x07, 0x09},
		};
		uint8_t kind = in_.u8(), bits = in_.u8(), n = in_.u8() % 80 + 1;
		uint16_t len = in_.u16(), last = in_.u16();
		const uint8_t *op = opcodes[kind % 8];

		for (uint8_t i = 0; i < n; i++) {
			bool ends = i + 1 == n;

			add_packet(op[ends ? 2 : i > 0], ends ? bits : bits & ~0x60,
				   payload_len(ends ? last : len), len & 0x8000);
		}
	}

	// ---- datagrams of them ----

	pib_dg link_header(uint8_t type, uint8_t bits, int *seal)
	{
		uint32_t link = bits & 1;
		bool sealed = bits & 4 && links_[link].keyed;

		*seal = sealed ? link : -1;
		return {.version = PIB_DG_VERSION,
			.type = type,
			.flags = uint8_t((bits & 2 ? PIB_DG_NOICRC : 0) |
					 (sealed ? PIB_DG_SEALED : 0)),
			.tag = uint16_t(rx_tag(link) ^ (bits & 8 ? 1 : 0)),
			.link_id = links_[link].id};
	}

	void add_datagram(Bytes bytes, int seal = -1)
	{
		if (datagrams_.size() < 256)
			datagrams_.push_back({std::move(bytes), seal});
	}

	void forget_packets()
	{
		packets_.clear();
		begins_.clear();
	}

	// Each packet becomes a datagram.
	void make_data()
	{
		Datagram d;
		pib_dg dg = link_header(PIB_DG_DATA, in_.u8(), &d.seal);

		for (size_t i = 0; i < begins_.size(); i++) {
			size_t end = i + 1 < begins_.size() ? begins_[i + 1] : packets_.size();

			d.bytes.resize(PIB_DG_HDR_LEN);
			pib_dg_build(&dg, d.bytes.data());
			d.bytes.insert(d.bytes.end(), &packets_[begins_[i]], packets_.data() + end);
			add_datagram(d.bytes, d.seal);
		}
		forget_packets();
	}

	// Where the first packet begins that begins in [begin, end).
	uint16_t first_in(size_t begin, size_t end) const
	{
		for (size_t b : begins_)
			if (b >= begin && b < end)
				return b - begin;
		return PIB_SEG_NO_FIRST;
	}

	// All packets become the segments of a frame.
	void make_frame()
	{
		uint8_t bits = in_.u8();
		size_t size = std::min<size_t>(in_.u16() % 4096 + 1, packets_.size()), total;
		Datagram d;
		pib_dg dg = link_header(PIB_DG_SEGMENT, bits, &d.seal);
		pib_segment s = {.flags = dg.flags, .tag = dg.tag, .link_id = dg.link_id};

		if (!size)
			return;
		if (packets_.size() > size && size < PIB_SEG_MIN)
			size = PIB_SEG_MIN;
		total = (packets_.size() + size - 1) / size;
		s.frame = bits & 0x10 ? frame_ : ++frame_;
		s.total = total;
		s.size = size;
		for (size_t i = 0; i < total; i++) {
			size_t begin = i * size, end = std::min(begin + size, packets_.size());

			s.index = i;
			s.first = first_in(begin, end);
			d.bytes.resize(PIB_SEG_HDR_LEN);
			pib_segment_build(&s, d.bytes.data());
			d.bytes.insert(d.bytes.end(), &packets_[begin], packets_.data() + end);
			add_datagram(d.bytes, d.seal);
		}
		forget_packets();
	}

	void make_raw() { add_datagram(in_.bytes(in_.u16())); }

	void make_control()
	{
		Bytes b(in_.u8());

		if (!b.empty())
			b[0] = PIB_DG_VERSION << 4 | (in_.u8() & 15);
		add_datagram(b);
	}

	// ---- what happens to datagrams ----

	Datagram *pick()
	{
		uint8_t i = in_.u8();

		return datagrams_.empty() ? nullptr : &datagrams_[i % datagrams_.size()];
	}

	void patch()
	{
		Datagram *d = pick();
		uint8_t at = in_.u8(), mask = in_.u8();
		size_t far = at < 192 ? at : (at - 191) * 64; // headers, or somewhere in the rest

		if (d && !d->bytes.empty())
			d->bytes[far % d->bytes.size()] ^= mask;
	}

	void cut()
	{
		Datagram *d = pick();
		uint16_t len = in_.u16();

		if (d)
			d->bytes.resize(len % 9000, 0x5C);
	}

	void shuffle()
	{
		uint8_t how = in_.u8();
		Datagram *a = pick(), *b = pick();

		if (!a)
			return;
		if (how % 4 == 0)
			std::swap(*a, *b);
		else if (how % 4 == 1)
			datagrams_.erase(datagrams_.begin() + (a - datagrams_.data()));
		else if (how % 4 == 2)
			add_datagram(Bytes(a->bytes), a->seal);
		else
			std::reverse(datagrams_.begin(), datagrams_.end());
	}

	// Seal a datagram, as it is to come. Some counters come twice or are damaged.
	Bytes sealed(const Datagram &d, uint8_t bits)
	{
		uint8_t session[PIB_SEAL_KEY_LEN], key[PIB_SEAL_KEY_LEN + PIB_SEAL_TAG_LEN] = {};
		size_t body = d.bytes.size() - PIB_DG_HDR_LEN;
		Bytes out(d.bytes.size() + PIB_SEAL_LEN);
		uint64_t counter;

		sealed_ += bits & 1 ? 65536 : bits & 2 ? 8191 : bits & 4 ? 0 : 1;
		counter = bits & 8 ? sealed_ - sealed_ % 7 : sealed_;
		rx_session_key(links_[d.seal].nonce, links_[d.seal].peer_nonce, session);
		chacha20poly1305_encrypt(key, key, PIB_SEAL_KEY_LEN, nullptr, 0, counter / 65536,
					 session);
		memcpy(out.data(), d.bytes.data(), PIB_DG_HDR_LEN);
		pib_put64(&out[PIB_DG_HDR_LEN], counter);
		chacha20poly1305_encrypt(&out[PIB_SEAL_HEAD_LEN], &d.bytes[PIB_DG_HDR_LEN], body,
					 out.data(), PIB_DG_HDR_LEN, counter, key);
		if (bits & 0x10)
			out[(counter * 13) % out.size()] ^= 1;
		return out;
	}

	// ---- they come ----

	// Datagrams of a size come as one skb, the last of which may be shorter.
	void come()
	{
		uint8_t bits = in_.u8(), seal = in_.u8();
		Bytes joined;
		size_t step = 0;

		for (const Datagram &d : datagrams_) {
			bool seals = d.seal >= 0 && d.bytes.size() > PIB_DG_HDR_LEN;
			Bytes b = seals ? sealed(d, seal) : d.bytes;

			if (!joined.empty() && (b.size() > step || joined.size() % step ||
						bits & 0x80 || joined.size() + b.size() > kMost)) {
				come_as(joined, step, bits);
				joined.clear();
			}
			if (joined.empty())
				step = b.size();
			joined.insert(joined.end(), b.begin(), b.end());
		}
		come_as(joined, step, bits);
		datagrams_.clear();
	}

	// All bytes come as one skb, with a size of datagrams out of nowhere.
	void come_joined()
	{
		uint8_t bits = in_.u8();
		uint16_t step = in_.u16() % 9000;
		Bytes joined;

		for (const Datagram &d : datagrams_)
			if (joined.size() + d.bytes.size() < kMost)
				joined.insert(joined.end(), d.bytes.begin(), d.bytes.end());
		come_as(joined, step, bits);
		datagrams_.clear();
	}

	void come_as(const Bytes &bytes, size_t step, uint8_t bits)
	{
		static const uint8_t checksums[] = {RX_CHECKSUM_GOOD, RX_CHECKSUM_GOOD,
						    RX_CHECKSUM_NONE, RX_CHECKSUM_BAD};
		rx_wire wire = {.gso_size = uint16_t(std::min(step, bytes.size())),
				.gso_type = RX_GSO_UDP,
				.tos = uint8_t(bits & 4 ? 3 : 0xB8),
				.checksum = checksums[bits & 3]};
		Came came = {
			.v6 = bool(bits & 8), .host = uint8_t(bits >> 3 & 1), .hop_limit = bits};
		sk_buff *skb;

		spent_ += bytes.size();
		if (spent_ > kAll)
			return;
		if (bits & 0x10)
			came.host ^= 1;
		if (bits & 0x20)
			wire.gso_type = RX_GSO_OTHER;
		if (wire.gso_size == bytes.size() && !(bits & 0x40))
			wire.gso_size = 0;
		skb = lay_out(bytes, layout_);
		rx_skb_wire(skb, &wire);
		uint32_t copies = rx_copies();

		rx_come(skb, came.v6, came.host, came.hop_limit);
		plain_->work = 0;
		plain_->come(bytes, bits & 0x20 ? 0 : wire.gso_size, wire, came);
		// Bytes that are looked at one by one count as work, else a softirq has no end.
		CHECK(loose_ || rx_copies() - copies >= plain_->work / kCopy);
		compare();
	}

	void lay()
	{
		layout_.linear = in_.u16();
		layout_.frag = in_.u16() % 33000;
		layout_.shift = in_.u8();
		layout_.list = in_.u16();
		layout_.first = in_.u16();
	}

	// ---- what else happens ----

	void pass()
	{
		uint8_t ms = in_.u8();
		bool timers = in_.u8() & 1;

		rx_time(ms, timers);
		plain_->time(ms, timers);
		compare();
	}

	void change_session()
	{
		uint8_t bits = in_.u8(), link = bits & 1;

		links_[link].nonce = 0x1000 + (bits >> 1);
		rx_session(link, links_[link].nonce);
		plain_->session(link, links_[link].nonce);
	}

	void settle()
	{
		uint8_t bits = in_.u8();

		rx_settled(bits & 1, bits & 2);
		plain_->settled(bits & 1, bits & 2);
	}

	// ---- both results ----

	static void show(const char *whose, const Result &r)
	{
		fprintf(stderr, "%s:", whose);
		for (const Event &e : r.events)
			fprintf(stderr, " %s/%u/%zu+%zu", e.what.c_str(), e.from, e.head.size(),
				e.bytes.size());
		for (auto [at, taken] : r.taken)
			fprintf(stderr, " link %u, VL %u: %lu bytes in %lu", at.first, at.second,
				(unsigned long)taken.bytes, (unsigned long)taken.packets);
		for (auto [counter, n] : r.counts)
			fprintf(stderr, " %u:%lu", counter, (unsigned long)n);
		fprintf(stderr, "\n");
	}

	void compare()
	{
		bool equal = loose_ || (got_.events == plain_->result.events &&
					got_.taken == plain_->result.taken);

		for (uint32_t c : kCounters) {
			got_.counts[c] = rx_count(c);
			equal &= loose_ || got_.counts[c] == plain_->result.counts[c];
		}
		if (!equal) {
			show("kernel", got_);
			show("plain ", plain_->result);
		}
		CHECK(equal);
		got_.events.clear();
		plain_->result.events.clear();
	}
};

} // namespace

void rx_packet(uint32_t link, const pib_hdrs *h, const uint8_t *payload, uint32_t len)
{
	got->events.push_back(packet_event(link, *h, View(payload, len)));
}

void rx_control(const uint8_t *bytes, uint32_t head, uint32_t len, uint8_t host, uint8_t hop_limit)
{
	got->events.push_back(
		{"control", host, control_head(hop_limit, len), Bytes(bytes, bytes + head)});
}

void rx_credit(const uint8_t *bytes, uint32_t head, uint32_t len, uint8_t host)
{
	got->events.push_back({"credit", host, control_head(0, len), Bytes(bytes, bytes + head)});
}

void rx_taken(uint32_t link, uint8_t vl, uint32_t bytes, uint32_t packets)
{
	Taken &taken = got->taken[{link, vl}];

	taken.bytes += bytes;
	taken.packets += packets;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	Play(Input(data, size)).run();
	return 0;
}

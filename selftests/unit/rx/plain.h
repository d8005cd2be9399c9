// SPDX-License-Identifier: GPL-2.0
// The plain reading of datagrams: docs/wire-format.md taken at its word, on flat copies, packet by
// packet, with the headers taken apart by kernel/proto.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "world.h"

extern "C" {
#include "../../../kernel/proto/hello.h"
#include "../../../kernel/proto/icrc.h"
#include "../../../kernel/proto/segment.h"
}

namespace rx {

using Bytes = std::vector<uint8_t>;
using View = std::span<const uint8_t>;

// A packet or a control datagram that is handed up.
struct Event {
	std::string what;
	uint32_t from; // link; of a control datagram the host
	Bytes head;
	Bytes bytes;

	bool operator==(const Event &) const = default;
};

// All that is known of a control datagram but its first bytes.
inline Bytes control_head(uint8_t hop_limit, size_t len)
{
	return {hop_limit, static_cast<uint8_t>(len >> 8), static_cast<uint8_t>(len)};
}

// A packet as the wire would have it, so that only fields count that its opcode has. In a message
// of several packets solicited event is the last one's, and the last response of a READ
// says all that the AETH of the first one says, if both are of one kind.
inline Event packet_event(uint32_t link, pib_hdrs h, View payload)
{
	Bytes head(PIB_HDRS_MAX);

	if (!(h.flags & PIB_H_LAST)) {
		h.flags &= ~PIB_H_SE;
		h.syndrome &= 0xE0;
		h.msn = 0;
	}
	head.resize(pib_hdrs_build(&h, payload.size(), head.data()));
	return {"packet", link, head, Bytes(payload.begin(), payload.end())};
}

// The packets of a VL of a link that were taken in.
struct Taken {
	uint64_t bytes = 0, packets = 0;

	bool operator==(const Taken &) const = default;
};

struct Result {
	std::vector<Event> events;
	std::map<std::pair<uint32_t, uint8_t>, Taken> taken; // by link and VL
	std::map<uint32_t, uint64_t> counts;		     // by enum pib_us_attr
};

// How datagrams came.
struct Came {
	bool v6;
	uint8_t host;
	uint8_t hop_limit;
	bool checked;
	bool ce;
	bool opened;
};

class Plain {
public:
	Plain(const rx_link (&links)[RX_NUM_LINKS], uint32_t pages) : pages_(pages)
	{
		for (uint32_t i = 0; i < RX_NUM_LINKS; i++) {
			links_[i].cfg = links[i];
			links_[i].tag = rx_tag(i);
		}
	}

	Result result;
	uint32_t work = 0; // bytes whose ICRC counts, or that are kept of segments

	void session(uint32_t link, uint64_t nonce)
	{
		Link &l = links_[link];

		if (l.cfg.nonce != nonce)
			l.taken.clear();
		l.cfg.nonce = nonce;
		l.tag = rx_tag(link);
	}

	void settled(uint32_t link, bool settled) { links_[link].settled = settled; }

	void time(uint32_t ms, bool timers)
	{
		now_ += ms;
		for (Link &l : links_)
			while (timers) {
				auto f = std::find_if(l.frames.begin(), l.frames.end(),
						      [&](auto &g) { return is_stale(g); });
				if (f == l.frames.end())
					break;
				lose(l, f);
			}
	}

	// Take in @bytes, cut into datagrams of @step bytes. A step of 0: they are one.
	void come(View bytes, size_t step, const rx_wire &wire, Came came)
	{
		std::vector<Bytes> datagrams;

		if (wire.checksum == RX_CHECKSUM_BAD) {
			count(PIB_US_RX_MALFORMED);
			return;
		}
		came.checked = wire.checksum == RX_CHECKSUM_GOOD;
		came.ce = (wire.tos & 3) == 3;
		for (size_t n; !bytes.empty(); bytes = bytes.subspan(n)) {
			n = step ? std::min(step, bytes.size()) : bytes.size();
			datagrams.emplace_back(bytes.begin(), bytes.begin() + n);
			count(PIB_US_RX_DATAGRAMS);
			count(PIB_US_RX_CE, came.ce);
		}
		read_datagrams(datagrams, came);
	}

private:
	struct Frame {
		pib_segment s; // the first one that has come
		std::vector<std::optional<Bytes>> parts;
		std::vector<uint16_t> first;
		std::set<uint32_t> pages;
		uint64_t heard; // the last one
		bool checked = true;
		bool ce = false;

		Frame(const pib_segment &seg, uint64_t now) :
			s(seg), parts(seg.total), first(seg.total), heard(now)
		{
		}

		bool is(const pib_segment &o) const
		{
			return s.frame == o.frame && s.tag == o.tag && s.total == o.total &&
			       s.size == o.size && s.flags == o.flags;
		}

		bool complete() const
		{
			return std::all_of(parts.begin(), parts.end(),
					   [](auto &p) { return p.has_value(); });
		}
	};

	using Frames = std::deque<Frame>; // in the order in which they began

	struct Link {
		rx_link cfg;
		uint16_t tag;
		bool settled = true;
		std::set<uint64_t> taken; // counters of sealed datagrams
		Frames frames;

		uint32_t pages() const
		{
			uint32_t n = 0;

			for (const Frame &f : frames)
				n += f.pages.size();
			return n;
		}
	};

	Link links_[RX_NUM_LINKS];
	uint32_t pages_; // of links elsewhere
	uint64_t now_ = 0;

	void count(uint32_t counter, uint64_t n = 1) { result.counts[counter] += n; }

	// ---- datagrams ----

	static bool is_data(const pib_dg &dg)
	{
		return dg.type == PIB_DG_DATA || dg.type == PIB_DG_SEGMENT;
	}

	static bool is_sealed(const Bytes &d)
	{
		pib_dg dg;

		if (d.size() < PIB_DG_HDR_LEN)
			return false;
		pib_dg_parse(&dg, d.data());
		return dg.version == PIB_DG_VERSION && is_data(dg) && dg.flags & PIB_DG_SEALED;
	}

	void read_datagrams(const std::vector<Bytes> &datagrams, const Came &came)
	{
		if (read_whole_frame(datagrams, came))
			return;
		for (size_t i = 0; i < datagrams.size();) {
			if (came.opened || !is_sealed(datagrams[i])) {
				read_datagram(datagrams[i++], came);
				continue;
			}
			// Those that stand together are opened together.
			std::vector<Bytes> opened;
			for (; i < datagrams.size() && is_sealed(datagrams[i]); i++)
				if (std::optional<Bytes> d = open(datagrams[i], came))
					opened.push_back(*d);
			Came inner = came;
			inner.opened = inner.checked = true;
			read_datagrams(opened, inner);
		}
	}

	void read_datagram(const Bytes &d, const Came &came)
	{
		pib_dg dg;

		if (d.size() < PIB_DG_HDR_LEN)
			return count(PIB_US_RX_SHORT);
		pib_dg_parse(&dg, d.data());
		if (dg.version != PIB_DG_VERSION)
			return count(PIB_US_RX_VERSION);
		if (dg.type == PIB_DG_SEGMENT)
			return read_segment(d, came);
		if (dg.type != PIB_DG_DATA)
			return read_control(d, came);
		if (Link *l = find(dg, came))
			read_packet(*l, View(d).subspan(PIB_DG_HDR_LEN), dg.flags & PIB_DG_NOICRC,
				    came.checked, came.ce);
	}

	void read_control(const Bytes &d, const Came &came)
	{
		const size_t head = std::min<size_t>(d.size(), PIB_HELLO_WIRE_LEN);
		const bool credit = (d[0] & 0xF) == PIB_DG_CREDIT;

		result.events.push_back({credit ? "credit" : "control", came.host,
					 control_head(credit ? 0 : came.hop_limit, d.size()),
					 Bytes(d.begin(), d.begin() + head)});
	}

	// Of the session by its id and tag, whose peer has sent the datagram.
	Link *find_session(const pib_dg &dg, const Came &came)
	{
		for (Link &l : links_) {
			if (l.cfg.id != dg.link_id || l.tag != dg.tag)
				continue;
			if (l.cfg.v6 == came.v6 && &l - links_ == came.host)
				return &l;
			count(PIB_US_RX_WRONG_ADDRESS);
			return nullptr;
		}
		count(PIB_US_RX_UNKNOWN_LINK);
		return nullptr;
	}

	Link *find(const pib_dg &dg, const Came &came)
	{
		Link *l = find_session(dg, came);

		if (!l)
			return nullptr;
		if (l->cfg.keyed && !came.opened) {
			count(PIB_US_RX_UNSEALED);
			return nullptr;
		}
		if (!l->settled) {
			count(PIB_US_RX_UNKNOWN_LINK);
			return nullptr;
		}
		return l;
	}

	// ---- packets ----

	// Return: bytes of the packet; 0: it is dropped.
	size_t packet_len(const Link &l, View b, bool noicrc, bool checked, pib_hdrs *h,
			  View *payload)
	{
		size_t hdr_len, payload_len;
		int err = pib_hdrs_parse(h, b.data(), b.size(), b.size(), &hdr_len, &payload_len);

		if (err) {
			count(err == PIB_PARSE_SHORT ? PIB_US_RX_SHORT : PIB_US_RX_MALFORMED);
			return 0;
		}
		size_t len = hdr_len + payload_len + pib_hdrs_pad(payload_len);
		uint32_t crc = pib_icrc_headers(b.data(), hdr_len);

		crc = pib_icrc_update(crc, b.data() + hdr_len, len - hdr_len);
		work += noicrc ? 0 : len - hdr_len;
		if (noicrc ? !(l.cfg.noicrc && checked) : !pib_icrc_match(crc, b.data() + len)) {
			count(PIB_US_RX_BAD_ICRC);
			return 0;
		}
		*payload = b.subspan(hdr_len, payload_len);
		return len + PIB_ICRC_LEN;
	}

	size_t read_packet(const Link &l, View b, bool noicrc, bool checked, bool ce)
	{
		pib_hdrs h;
		View payload;
		size_t len = packet_len(l, b, noicrc, checked, &h, &payload);

		if (!len)
			return 0;
		if (ce && h.dqpn > 1 && h.tp != PIB_TP_CNP)
			h.flags |= PIB_H_FECN;
		result.events.push_back(packet_event(&l - links_, h, payload));
		if (!RX_HAS_WINDOWS(&l - links_))
			return len;
		Taken &taken = result.taken[{&l - links_, h.vl}];
		taken.bytes += len;
		taken.packets++;
		return len;
	}

	// ---- frames ----

	// The segments that have come without a gap between them, from the first packet on that
	// begins in one of them. Behind a packet that is dropped nobody knows where one begins.
	void read_run(const Link &l, const Frame &f, uint32_t *i)
	{
		uint32_t begin = f.first[*i];
		Bytes run;

		for (; *i < f.parts.size() && f.parts[*i]; ++*i)
			run.insert(run.end(), f.parts[*i]->begin(), f.parts[*i]->end());
		for (size_t n; begin < run.size(); begin += n) {
			n = read_packet(l, View(run).subspan(begin), f.s.flags & PIB_DG_NOICRC,
					f.checked, f.ce);
			if (!n)
				return;
		}
	}

	void read_frame(const Link &l, const Frame &f)
	{
		if (!f.complete())
			count(PIB_US_RX_REASSEMBLY);
		else if (f.first[0])
			count(PIB_US_RX_MALFORMED); // what is before the first packet
		for (uint32_t i = 0; i < f.parts.size();) {
			if (f.parts[i] && f.first[i] < f.s.size)
				read_run(l, f, &i);
			else
				i++;
		}
	}

	static void add_part(Frame &f, const pib_segment &s, const Bytes &d, const Came &came)
	{
		f.parts[s.index] = Bytes(d.begin() + PIB_SEG_HDR_LEN, d.end());
		f.first[s.index] = s.first;
		f.checked &= came.checked;
		f.ce |= came.ce;
	}

	// A frame whose segments come together, in order, is complete at once and takes no place.
	bool read_whole_frame(const std::vector<Bytes> &datagrams, const Came &came)
	{
		std::optional<Frame> f;

		for (size_t i = 0; i < datagrams.size(); i++) {
			const Bytes &d = datagrams[i];
			pib_dg dg;
			pib_segment s;

			if (d.size() < PIB_SEG_HDR_LEN || (!came.opened && is_sealed(d)))
				return false;
			pib_dg_parse(&dg, d.data());
			if (dg.version != PIB_DG_VERSION || dg.type != PIB_DG_SEGMENT ||
			    !pib_segment_parse(&s, d.data(), d.size()))
				return false;
			if (!f)
				f.emplace(s, now_);
			if (!f->is(s) || s.link_id != f->s.link_id || s.index != i)
				return false;
			add_part(*f, s, d, came);
		}
		if (!f || !f->complete() ||
		    datagrams[0].size() != size_t(f->s.size) + PIB_SEG_HDR_LEN)
			return false;
		const pib_dg dg = {.version = PIB_DG_VERSION,
				   .type = PIB_DG_SEGMENT,
				   .flags = f->s.flags,
				   .tag = f->s.tag,
				   .link_id = f->s.link_id};

		// One that is not taken is dropped segment by segment.
		auto before = result.counts;
		Link *l = find(dg, came);

		if (l)
			read_frame(*l, *f);
		else
			result.counts = before;
		return l;
	}

	bool is_stale(const Frame &f) const { return now_ - f.heard >= 100; }

	void lose(Link &l, Frames::iterator f)
	{
		count(PIB_US_RX_REASSEMBLY);
		l.frames.erase(f);
	}

	// Make room: give up the oldest frame but @but. The part that has come is read, if it may be.
	bool evict(Link &l, const pib_segment &s, const Frame *but, bool may_read,
		   std::optional<Frame> *out)
	{
		auto oldest = l.frames.begin();

		if (oldest != l.frames.end() && &*oldest == but)
			++oldest;
		if (oldest == l.frames.end())
			return false;
		if (!may_read || *out || oldest->s.tag != s.tag || is_stale(*oldest)) {
			lose(l, oldest);
			return true;
		}
		*out = *oldest;
		l.frames.erase(oldest);
		return true;
	}

	bool have_room(const Link &l) const
	{
		uint32_t all = pages_;

		for (const Link &each : links_)
			all += each.pages();
		return l.pages() < 16 || all < 1024;
	}

	void read_segment(const Bytes &d, const Came &came)
	{
		std::optional<Frame> out;
		pib_segment s;

		if (d.size() < PIB_SEG_HDR_LEN || !pib_segment_parse(&s, d.data(), d.size()))
			return count(PIB_US_RX_MALFORMED);
		const pib_dg dg = {.version = PIB_DG_VERSION,
				   .type = PIB_DG_SEGMENT,
				   .flags = s.flags,
				   .tag = s.tag,
				   .link_id = s.link_id};
		Link *l = find(dg, came);

		if (!l)
			return;
		if (s.total == 1) { // it takes no place
			add_part(out.emplace(s, now_), s, d, came);
			return read_frame(*l, *out);
		}
		keep_segment(*l, s, d, came, &out);
		if (out)
			read_frame(*l, *out);
	}

	Frames::iterator find_frame(Link &l, const pib_segment &s)
	{
		return std::find_if(l.frames.begin(), l.frames.end(),
				    [&](auto &f) { return f.is(s) && !is_stale(f); });
	}

	void keep_segment(Link &l, const pib_segment &s, const Bytes &d, const Came &came,
			  std::optional<Frame> *out)
	{
		auto f = find_frame(l, s);

		if (f == l.frames.end()) {
			if (l.frames.size() == 20)
				evict(l, s, nullptr, s.total > 1, out);
			l.frames.emplace_back(s, now_);
			f = l.frames.end() - 1;
		}
		if (f->parts[s.index])
			return;
		f->parts[s.index] = Bytes();
		bool completes = f->complete();
		f->parts[s.index].reset();

		if (!get_pages(l, s, d.size() - PIB_SEG_HDR_LEN, !completes, out))
			return;
		f = find_frame(l, s);
		work += d.size() - PIB_SEG_HDR_LEN;
		add_part(*f, s, d, came);
		f->heard = now_;
		if (f->complete()) {
			*out = *f;
			l.frames.erase(f);
		}
	}

	// Pages for the bytes of a segment. Other frames give way, the oldest first.
	bool get_pages(Link &l, const pib_segment &s, uint32_t len, bool may_read,
		       std::optional<Frame> *out)
	{
		uint32_t begin = s.index * s.size;

		for (uint32_t at = begin / 4096; at * 4096 < begin + len; at++) {
			while (!find_frame(l, s)->pages.contains(at) && !have_room(l))
				if (!evict(l, s, &*find_frame(l, s), may_read, out))
					return lose_segment(l, s);
			find_frame(l, s)->pages.insert(at);
		}
		return true;
	}

	bool lose_segment(Link &l, const pib_segment &s)
	{
		auto f = find_frame(l, s);

		count(PIB_US_RX_REASSEMBLY);
		if (std::none_of(f->parts.begin(), f->parts.end(),
				 [](auto &p) { return p.has_value(); }))
			l.frames.erase(f);
		return false;
	}

	// ---- seals ----

	static bool is_new(const Link &l, uint64_t counter)
	{
		uint64_t top = l.taken.empty() ? 0 : *l.taken.rbegin();

		return counter && !l.taken.contains(counter) &&
		       (counter > top || top - counter < 8192);
	}

	// The bytes behind the counter, or nothing if they are not authentic.
	static std::optional<Bytes> decrypt(const Link &l, const Bytes &d, uint64_t counter)
	{
		uint8_t session[PIB_SEAL_KEY_LEN], key[PIB_SEAL_KEY_LEN + PIB_SEAL_TAG_LEN] = {};
		size_t len = d.size() - PIB_SEAL_HEAD_LEN - PIB_SEAL_TAG_LEN;
		const uint8_t *sealed = d.data() + PIB_SEAL_HEAD_LEN;
		Bytes plain(len + PIB_SEAL_TAG_LEN), again(len + PIB_SEAL_TAG_LEN);

		rx_session_key(l.cfg.nonce, l.cfg.peer_nonce, session);
		chacha20poly1305_encrypt(key, key, PIB_SEAL_KEY_LEN, nullptr, 0, counter / 65536,
					 session);
		// The cipher's stand-in is its own inverse, but for the tag.
		chacha20poly1305_encrypt(plain.data(), sealed, len, d.data(), PIB_DG_HDR_LEN,
					 counter, key);
		chacha20poly1305_encrypt(again.data(), plain.data(), len, d.data(), PIB_DG_HDR_LEN,
					 counter, key);
		if (memcmp(again.data() + len, sealed + len, PIB_SEAL_TAG_LEN))
			return {};
		plain.resize(len);
		return plain;
	}

	std::optional<Bytes> drop(uint32_t counter)
	{
		count(counter);
		return {};
	}

	std::optional<Bytes> open(const Bytes &d, const Came &came)
	{
		if (d.size() <= PIB_SEAL_HEAD_LEN + PIB_SEAL_TAG_LEN)
			return drop(PIB_US_RX_SHORT);

		uint64_t counter = pib_get64(d.data() + PIB_DG_HDR_LEN);
		pib_dg dg;

		pib_dg_parse(&dg, d.data());
		Link *l = find_session(dg, came);
		if (!l)
			return {};
		if (!l->cfg.keyed)
			return drop(PIB_US_RX_UNKNOWN_LINK);
		if (!is_new(*l, counter))
			return drop(PIB_US_RX_REPLAYED);
		std::optional<Bytes> plain = decrypt(*l, d, counter);
		if (!plain)
			return drop(PIB_US_RX_BAD_SEAL);
		l->taken.insert(counter);
		plain->insert(plain->begin(), d.begin(), d.begin() + PIB_DG_HDR_LEN);
		return plain;
	}
};

} // namespace rx

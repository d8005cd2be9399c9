// SPDX-License-Identifier: GPL-2.0
#include "model.h"

#include <algorithm>
#include <cstring>

namespace sim {

static constexpr uint32_t kSlots = 6, kCells = 4;

Model::Model(const Params &p, int side, Rng &g) : p_(p), side_(side), g_(g)
{
	data_va_ = g.next() & ~0xFFFULL & 0x7FFFFFFFFFFFFFFFULL;
	cell_va_ = (g.next() & 0x7FFFFFFFFFFFFFF8ULL);
	for (uint32_t i = 0; i < kSlots; i++) {
		slots_.push_back({.now = g.bytes(p.max_len())});
		before_.push_back(slots_[i].now);
	}
	for (uint32_t i = 0; i < kCells; i++)
		cells_.push_back({.now = g.next()});
	read_only_ = g.bytes(64);
	behind_va_ = g.next() & 0x7FFFFFFFFFFFFFFFULL;
	behind_.now = g.bytes(p.max_len());
}

void Model::set_up(Node &peer)
{
	Region data{.va = data_va_, .bytes = {}, .domain = kDataSrq};
	Region cells{.va = cell_va_, .bytes = {}, .domain = kCellSrq};

	peer_ = &peer;

	for (const auto &s : slots_)
		data.bytes.insert(data.bytes.end(), s.now.begin(), s.now.end());
	cells.bytes.resize(kCells * 8);
	for (uint32_t i = 0; i < kCells; i++)
		std::memcpy(&cells.bytes[i * 8], &cells_[i].now, 8);
	peer.mem[kDataKey] = data;
	peer.mem[kCellKey] = cells;
	peer.mem[kReadOnlyKey] = {.va = 0, .bytes = read_only_, .writable = false};
	peer.mem[kBehindKey] = {
		.va = 0, .bytes = behind_.now, .readable = false, .writable = false};
	peer.on_invalidate = [this](uint32_t key) {
		return key == window_key_ && peer_->mem.erase(key);
	};
}

void Model::restart(Node &peer)
{
	const Bytes &data = peer.mem[kDataKey].bytes, &cells = peer.mem[kCellKey].bytes;

	for (uint32_t i = 0; i < kSlots; i++) {
		slots_[i] = {};
		slots_[i].now.assign(data.begin() + i * p_.max_len(),
				     data.begin() + (i + 1) * p_.max_len());
		before_[i] = slots_[i].now;
	}
	for (uint32_t i = 0; i < kCells; i++) {
		cells_[i] = {};
		std::memcpy(&cells_[i].now, &cells[i * 8], 8);
	}
	behind_ = {};
	behind_.now = peer.mem[kBehindKey].bytes;
	peer.mem.erase(window_key_); // a window goes with its QP
	window_ = Window::Unbound;
	last_write_ = -1;
	expect_.clear();
	messages_.clear();
	next_message_ = 0;
	broken_ = may_break = peer_dead = false;
	sound_from_ = ~0ULL;
	first_error = 0;
}

// ---- making work requests ----

uint32_t Model::length()
{
	uint32_t max = p_.max_len();

	switch (g_.below(6)) {
	case 0: return g_.below(2);
	case 1: return g_.below(std::min(max, 64u) + 1);
	case 2: return p_.mtu * g_.range(1, p_.max_packets);
	case 3: return std::min(max, p_.mtu * g_.range(1, p_.max_packets) + 1);
	default: return g_.below(max + 1);
	}
}

uint8_t Model::choose_op()
{
	switch (p_.tp) {
	case PIB_TP_UD: return g_.pick({PIB_WR_SEND, PIB_WR_SEND_IMM});
	case PIB_TP_UC:
		if (p_.locals && g_.percent(10))
			return g_.pick({PIB_WR_LOCAL_INV, PIB_WR_REG_MR, PIB_WR_BIND_MW});
		return g_.pick({PIB_WR_SEND, PIB_WR_SEND_IMM, PIB_WR_WRITE, PIB_WR_WRITE_IMM});
	default:
		if (p_.locals && g_.percent(10))
			return g_.pick({PIB_WR_LOCAL_INV, PIB_WR_REG_MR, PIB_WR_BIND_MW});
		return g_.pick({PIB_WR_SEND, PIB_WR_SEND_IMM, PIB_WR_SEND_INV, PIB_WR_SEND,
				PIB_WR_WRITE, PIB_WR_WRITE, PIB_WR_WRITE_IMM, PIB_WR_READ,
				PIB_WR_READ, PIB_WR_READ, PIB_WR_CAS, PIB_WR_FAA,
				PIB_WR_ATOMIC_WRITE, PIB_WR_FLUSH});
	}
}

void Model::make_send(Work &k, Want &want)
{
	want.consumes = true;
	k.w.len = length();
	k.w.ex = g_.next();
	k.data = g_.bytes(k.w.len);
	if (k.w.opcode == PIB_WR_SEND_INV && want.inject != Inject::BadInv)
		make_closing_send(k);
}

// A SEND that takes the window's key away. A READ through it that has to be asked for again
// would not find it: hence the fence.
void Model::make_closing_send(Work &k)
{
	k.w.ex = window_key_;
	k.w.flags |= PIB_WR_FENCE;
	window_ = Window::Closing;
}

bool Model::make_window_access(Work &k, Want &want)
{
	bool read = k.w.opcode == PIB_WR_READ;
	uint32_t off;

	if (window_ != Window::Bound || (!read && behind_.reads))
		return false;
	k.w.len = g_.range(1, p_.max_len());
	off = g_.below(p_.max_len() - k.w.len + 1);
	k.w.va = behind_va_ + off;
	k.w.rkey = window_key_;
	k.w.srqn = g_.below(kSrqs);
	want.window = true;
	if (read) {
		k.data.assign(k.w.len, 0xEE);
		want.data.assign(behind_.now.begin() + off, behind_.now.begin() + off + k.w.len);
		behind_.reads++;
		return true;
	}
	k.data = g_.bytes(k.w.len);
	std::copy(k.data.begin(), k.data.end(), behind_.now.begin() + off);
	behind_.writing++;
	return true;
}

std::optional<Work> Model::make_window_work(uint64_t id, Model &poster)
{
	bool open = window_ == Window::Unbound;
	uint32_t key = window_key_;
	Want want{.op = 0, .inject = Inject::None, .data = {}};
	Work k;

	if (!open && (window_ != Window::Bound || behind_.reads || behind_.writing))
		return {};
	k.w.opcode = open ? g_.pick({PIB_WR_BIND_MW, PIB_WR_REG_MR}) : uint32_t(PIB_WR_LOCAL_INV);
	k.w.wr_id = id;
	k.w.flags = PIB_WR_SIGNALED;
	window_ = open ? Window::Opening : Window::Closing;
	if (open) {
		key = ++window_key_;
		k.execute = [key, va = behind_va_](Node &n) {
			n.mem[key] = {.va = va, .bytes = {}, .of = kBehindKey};
			return uint32_t(PIB_WC_SUCCESS);
		};
	} else {
		k.execute = [key](Node &n) {
			return uint32_t(n.mem.erase(key) ? PIB_WC_SUCCESS : PIB_WC_LOC_QP_OP_ERR);
		};
	}
	want.op = k.w.opcode;
	want.done = [this, open](bool ok) {
		if (ok)
			window_ = open ? Window::Bound : Window::Unbound;
	};
	poster.expect_[id] = std::move(want);
	return k;
}

bool Model::make_write(Work &k, Want &want)
{
	int i = g_.below(kSlots);
	Slot &s = slots_[i];
	uint32_t off;

	if (k.w.opcode == PIB_WR_WRITE && g_.percent(30) && make_window_access(k, want))
		return true;

	// Over an unreliable service a WRITE may come in part: each slot is written once.
	if (s.reads || (!p_.reliable() && s.writes))
		return false;
	k.w.len = length();
	off = g_.below(p_.max_len() - k.w.len + 1);
	k.data = g_.bytes(k.w.len);
	k.w.ex = g_.next();
	k.w.va = data_va_ + uint64_t(i) * p_.max_len() + off;
	k.w.rkey = k.w.len ? kDataKey : kNoKey;
	k.w.srqn = kDataSrq;
	std::copy(k.data.begin(), k.data.end(), s.now.begin() + off);
	s.writes++;
	last_write_ = i;
	want.slot = i;
	want.consumes = k.w.opcode == PIB_WR_WRITE_IMM;
	return true;
}

void Model::make_read(Work &k, Want &want)
{
	int i = g_.below(kSlots);
	uint32_t off;

	if (want.inject == Inject::None && g_.percent(30) && make_window_access(k, want))
		return;

	k.w.len = length();
	off = g_.below(p_.max_len() - k.w.len + 1);
	k.w.va = data_va_ + uint64_t(i) * p_.max_len() + off;
	k.w.rkey = k.w.len ? kDataKey : kNoKey;
	k.w.srqn = kDataSrq;
	k.data.assign(k.w.len, 0xEE);
	want.data.assign(slots_[i].now.begin() + off, slots_[i].now.begin() + off + k.w.len);
	want.slot = i;
	slots_[i].reads++;
}

void Model::make_cell(Work &k, Want &want)
{
	int i = g_.below(kCells);
	Cell &c = cells_[i];
	uint64_t orig = c.now;

	k.w.len = 8;
	k.w.va = cell_va_ + i * 8;
	k.w.rkey = kCellKey;
	k.w.srqn = kCellSrq;
	k.w.swap = g_.next();
	k.w.compare_add = k.w.opcode == PIB_WR_CAS && g_.percent(60) ? orig : g_.next();
	if (k.w.opcode == PIB_WR_FAA)
		c.now += k.w.compare_add;
	else if (k.w.opcode == PIB_WR_ATOMIC_WRITE || k.w.compare_add == orig)
		c.now = k.w.swap;
	want.cell = i;
	k.data.assign(8, 0xEE);
	if (k.w.opcode == PIB_WR_ATOMIC_WRITE)
		return;
	want.data.resize(8);
	std::memcpy(want.data.data(), &orig, 8);
}

void Model::make_flush(Work &k)
{
	k.w.va = data_va_;
	k.w.rkey = kDataKey;
	k.w.len = p_.max_len();
	k.w.srqn = kDataSrq;
	k.w.flush = g_.range(1, 3);
	if (g_.percent(20)) { // the whole region
		k.w.va = k.w.len = 0;
		k.w.flush |= 1 << 4;
	}
}

static bool is_write(uint8_t op)
{
	return op == PIB_WR_WRITE || op == PIB_WR_WRITE_IMM;
}

static bool is_cell(uint8_t op)
{
	return op == PIB_WR_CAS || op == PIB_WR_FAA || op == PIB_WR_ATOMIC_WRITE;
}

static bool is_local(uint8_t op)
{
	return op == PIB_WR_LOCAL_INV || op == PIB_WR_REG_MR || op == PIB_WR_BIND_MW;
}

void Model::spoil(Work &k, Inject inject)
{
	switch (inject) {
	case Inject::BadKey: k.w.rkey = kNoKey; break;
	case Inject::BadInv: k.w.ex = kNoKey; break;
	case Inject::BadRange:
		k.w.va = data_va_ + uint64_t(kSlots) * p_.max_len() - k.w.len + g_.range(1, 8) * 8;
		k.w.flush &= 3;
		k.w.rkey = kDataKey;
		break;
	case Inject::Misaligned: k.w.va |= g_.range(1, 7); break;
	case Inject::TooLong:
		k.w.len = p_.max_len() + g_.range(1, 3 * p_.mtu);
		k.data = g_.bytes(k.w.len);
		break;
	case Inject::LocalSend:
	case Inject::LocalRead: k.bad_from = g_.below(k.w.len); break;
	case Inject::LocalOp: k.w.swap = 1; break;
	case Inject::BadOpcode: k.w.opcode = g_.pick({13, 10, 255}); break;
	default: break;
	}
}

// An opcode that the fault can befall.
static uint8_t op_for(Inject inject, Rng &g)
{
	switch (inject) {
	case Inject::BadKey:
		return g.pick({PIB_WR_WRITE, PIB_WR_WRITE_IMM, PIB_WR_READ, PIB_WR_CAS, PIB_WR_FAA,
			       PIB_WR_ATOMIC_WRITE, PIB_WR_FLUSH});
	case Inject::BadRange: return g.pick({PIB_WR_WRITE, PIB_WR_READ, PIB_WR_FLUSH});
	case Inject::BadInv: return PIB_WR_SEND_INV;
	case Inject::Misaligned: return g.pick({PIB_WR_CAS, PIB_WR_FAA, PIB_WR_ATOMIC_WRITE});
	case Inject::LocalRead: return PIB_WR_READ;
	case Inject::LocalOp: return g.pick({PIB_WR_LOCAL_INV, PIB_WR_REG_MR, PIB_WR_BIND_MW});
	default: return PIB_WR_SEND;
	}
}

// The flags of the receive completion.
static uint16_t end_flags(const pib_swqe &w)
{
	uint16_t flags = w.flags & PIB_WR_SOLICITED ? PIB_H_SE : 0;

	if (w.opcode == PIB_WR_SEND_IMM || w.opcode == PIB_WR_WRITE_IMM)
		flags |= PIB_H_IMM;
	if (w.opcode == PIB_WR_SEND_INV)
		flags |= PIB_H_INV;
	return flags;
}

Work Model::make(uint64_t id, Inject inject)
{
	bool spoilt = inject != Inject::None;
	Work k;
	Want want{.op = 0, .inject = inject, .data = {}};

	k.w.flags = (g_.percent(p_.unsignalled) ? 0 : PIB_WR_SIGNALED) |
		    (g_.percent(10) ? PIB_WR_FENCE : 0) | (g_.percent(20) ? PIB_WR_SOLICITED : 0);
	k.w.srqn = g_.below(kSrqs);
	do
		k.w.opcode = spoilt ? op_for(inject, g_) : choose_op();
	while ((is_write(k.w.opcode) && !make_write(k, want)) ||
	       (k.w.opcode == PIB_WR_SEND_INV && !spoilt && window_ != Window::Bound));
	k.w.wr_id = id;
	k.w.dqpn = p_.node[side_].req.dqpn;
	k.w.qkey = p_.node[1 - side_].qkey;
	if (k.w.opcode == PIB_WR_READ)
		make_read(k, want);
	else if (is_cell(k.w.opcode))
		make_cell(k, want);
	else if (k.w.opcode == PIB_WR_FLUSH)
		make_flush(k);
	else if (!is_write(k.w.opcode) && !is_local(k.w.opcode))
		make_send(k, want);
	// With no bytes, no key and no memory is looked at.
	if (!k.w.len &&
	    (is_write(k.w.opcode) || k.w.opcode == PIB_WR_READ || inject == Inject::LocalSend))
		want.inject = inject = Inject::None;
	spoil(k, inject);
	want.op = k.w.opcode;
	if (want.consumes)
		messages_.push_back({.id = id,
				     .data = is_write(k.w.opcode) ? Bytes{} : k.data,
				     .len = k.w.len,
				     .ex = k.w.ex,
				     .flags = end_flags(k.w),
				     .slot = last_write_,
				     .writes = last_write_ < 0 ? 0 : slots_[last_write_].writes});
	expect_[id] = std::move(want);
	return k;
}

// ---- judging completions ----

static uint32_t expected_status(Inject inject)
{
	switch (inject) {
	case Inject::BadKey:
	case Inject::BadInv:
	case Inject::BadRange: return PIB_WC_REM_ACCESS_ERR;
	case Inject::Misaligned:
	case Inject::TooLong: return PIB_WC_REM_INV_REQ_ERR;
	case Inject::LocalSend:
	case Inject::LocalRead: return PIB_WC_LOC_PROT_ERR;
	case Inject::LocalOp:
	case Inject::BadOpcode: return PIB_WC_LOC_QP_OP_ERR;
	default: return PIB_WC_SUCCESS;
	}
}

bool Model::status_allowed(const Wc &wc, const Want &want) const
{
	if (broken_) /* executed ahead of what failed: the truth is not a flush */
		return wc.status == PIB_WC_WR_FLUSH_ERR ||
		       (is_local(want.op) && wc.status == PIB_WC_SUCCESS);
	if (wc.status == expected_status(want.inject))
		return true;
	switch (wc.status) {
	case PIB_WC_RETRY_EXC_ERR: return p_.reliable() && (!p_.strict || peer_dead);
	case PIB_WC_RNR_RETRY_EXC_ERR: return p_.node[side_].req.rnr_retry != 7;
	case PIB_WC_WR_FLUSH_ERR: return may_break;
	case PIB_WC_REM_ACCESS_ERR:
		return p_.inject == Inject::MemoryGone && p_.inject_side != uint32_t(side_) &&
		       want.op == PIB_WR_READ;
	default: return false;
	}
}

void Model::sent(const Wc &wc)
{
	auto it = expect_.begin();

	expect(it != expect_.end(), "a completion of nothing");
	expect(it->first == wc.id, "completions out of order");
	if (wc.id >= sound_from_) {
		broken_ = false;
		sound_from_ = ~0ULL;
	}
	const Want &want = it->second;

	if (!status_allowed(wc, want))
		fail("work request " + std::to_string(wc.id) + " (opcode " +
		     std::to_string(want.op) + ") completes with status " +
		     std::to_string(wc.status) + ", expected " +
		     std::to_string(broken_ ? uint32_t(PIB_WC_WR_FLUSH_ERR)
					    : expected_status(want.inject)));
	if (wc.status == PIB_WC_SUCCESS) {
		if (want.data.size() && wc.data != want.data)
			fail("work request " + std::to_string(wc.id) + " brought wrong data");
	} else {
		if (wc.status != PIB_WC_WR_FLUSH_ERR && !broken_)
			first_error = wc.status;
		broken_ = true;
		if (want.slot >= 0 && is_write(want.op))
			slots_[want.slot].dirty = true;
		if (want.cell >= 0)
			cells_[want.cell].dirty = true;
	}
	finish_access(want, wc.status == PIB_WC_SUCCESS);
	if (want.done)
		want.done(wc.status == PIB_WC_SUCCESS);
	expect_.erase(it);
}

void Model::finish_access(const Want &want, bool ok)
{
	if (want.op == PIB_WR_READ && (want.slot >= 0 || want.window))
		(want.window ? behind_ : slots_[want.slot]).reads--;
	if (!want.window || want.op == PIB_WR_READ)
		return;
	behind_.writing--;
	behind_.dirty |= !ok;
	if (ok && !behind_.writing)
		check_behind();
}

void Model::check_behind()
{
	if (!behind_.dirty && !behind_.writing)
		expect(peer_->mem[kBehindKey].bytes == behind_.now,
		       "memory behind a window differs");
}

bool Model::same(const Message &m, const Wc &wc)
{
	bool ex = !(m.flags & (PIB_H_IMM | PIB_H_INV)) || m.ex == wc.ex;

	return wc.len == m.len && ex && wc.flags == m.flags &&
	       (wc.op == PIB_ACT_WRITE || wc.data == m.data);
}

void Model::receive_in_order(const Wc &wc)
{
	expect(next_message_ < messages_.size(), "a message that was not sent, or twice");
	const Message &m = messages_[next_message_++];

	if (!same(m, wc))
		fail("message " + std::to_string(m.id) + " received wrong");
	if (m.flags & PIB_H_INV)
		window_ = Window::Unbound;
	check_before(m);
}

// Order: what was written before the message is there, unless written over since.
void Model::check_before(const Message &m)
{
	if (m.slot >= 0 && slots_[m.slot].writes == m.writes)
		check_written(*peer_, m.slot);
}

void Model::receive_any(const Wc &wc)
{
	bool ordered = !p_.dup_ppm && !p_.reorder_ppm;

	for (size_t i = ordered ? next_message_ : 0; i < messages_.size(); i++) {
		if (!same(messages_[i], wc))
			continue;
		next_message_ = i + 1;
		return;
	}
	fail("a message that was not sent, or out of order");
}

void Model::received(const Wc &wc)
{
	if (wc.status == PIB_WC_WR_FLUSH_ERR)
		return;
	if (wc.status == PIB_WC_LOC_LEN_ERR) {
		expect(p_.inject == Inject::TooLong, "a receive buffer too small");
		return;
	}
	if (wc.status == PIB_WC_REM_INV_REQ_ERR) {
		expect(p_.inject == Inject::BadInv, "an invalidation fails");
		return;
	}
	expect(wc.status == PIB_WC_SUCCESS, "a receive fails");
	got_++;
	if (p_.reliable())
		receive_in_order(wc);
	else
		receive_any(wc);
}

// ---- the end ----

// Unreliable: nothing got lost.
bool Model::lossless(const Node &peer) const
{
	return !p_.faulty() && p_.inject == Inject::None &&
	       !peer.resp.stats.drops[PIB_RESP_DROP_RESOURCES] && !peer.no_recv;
}

void Model::check_written(Node &peer, int i)
{
	const uint8_t *is = peer.mem[kDataKey].bytes.data() + uint64_t(i) * p_.max_len();
	const Slot &s = slots_[i];
	bool whole = p_.reliable() || lossless(peer);

	if (s.dirty)
		return;
	for (uint32_t b = 0; b < p_.max_len(); b++)
		if (is[b] != s.now[b] && (whole || is[b] != before_[i][b]))
			fail("memory differs in slot " + std::to_string(i) + " at " +
			     std::to_string(b));
}

void Model::check_end(Node &peer)
{
	bool clean = !broken_ && expect_.empty();

	for (const auto &[id, want] : expect_) { // given up: see Run::quiet()
		if (want.slot >= 0 && is_write(want.op))
			slots_[want.slot].dirty = true;
		if (want.cell >= 0)
			cells_[want.cell].dirty = true;
	}
	for (uint32_t i = 0; i < kSlots; i++)
		check_written(peer, i);
	check_behind();
	for (uint32_t i = 0; i < kCells; i++)
		expect(cells_[i].dirty ||
			       !std::memcmp(&peer.mem[kCellKey].bytes[i * 8], &cells_[i].now, 8),
		       "an atomic was not executed exactly once");
	expect(peer.mem[kReadOnlyKey].bytes == read_only_, "read-only memory was written");
	if (clean && (p_.reliable() || lossless(peer)))
		expect(next_message_ == messages_.size(), "a message was lost");
}

} // namespace sim

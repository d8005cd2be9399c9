// SPDX-License-Identifier: GPL-2.0
/*
 * RC and XRC. The model executes each request when it is posted. A WRITE is not posted where a
 * READ is under way: a READ that has to be answered again brings what memory holds by then.
 */
#include "traffic.h"

#include <algorithm>

namespace soak {

static constexpr unsigned slot_count = 6;
static constexpr uint32_t window_size = 8192;

static unsigned region_access(const Host &host)
{
	unsigned access = ops::all_access | IBV_ACCESS_MW_BIND;

	if (host.has(IB_UVERBS_DEVICE_FLUSH_GLOBAL))
		access |= IBV_ACCESS_FLUSH_GLOBAL;
	return access;
}

Reliable::Reliable(End &a_, End &b_, std::vector<Target> targets, uint32_t max_length, Rng &rng) :
	Traffic(a_, b_, std::move(targets), max_length, rng),
	slots_mem_(b_.host.pd.get(), size_t(slot_count) * max_length, region_access(b_.host)),
	cells_mem_(b_.host.pd.get(), 64),
	window_mem_(b_.host.pd.get(), window_size, region_access(b_.host)),
	landing_(a_.host.pd.get(), size_t(a_.opt.depth) * max_length), slots_(slot_count)
{
	constexpr uint64_t windows = IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B;

	if (target_has_queue() && b.host.has(windows))
		window_.reset(
			ops::made(ibv_alloc_mw(b.host.pd.get(), IBV_MW_TYPE_2), "ibv_alloc_mw"));
	restart();
}

void Reliable::restart()
{
	if (acknowledged_ > arrived_)
		FAIL("a message was acknowledged and has not arrived");
	acknowledged_ = arrived_ = 0;
	for (unsigned i = 0; i < slots_.size(); i++) {
		slots_[i] = {};
		slots_[i].now.assign(slots_mem_.at(place(i, 0)), slots_mem_.at(place(i + 1, 0)));
	}
	for (unsigned i = 0; i < cells_.size(); i++)
		cells_[i] = {cell_in_memory(i), 0};
	window_slot_ = {};
	window_slot_.now.assign(window_mem_.at(), window_mem_.at(window_size));
	expected_.clear();
	landings_.clear();
	for (unsigned i = 0; i < a.opt.depth; i++)
		landings_.push_back(i);
	/* A window is bound to its QP, and a reset QP has none. */
	if (window_ && window_is_ != Window::Unbound) {
		window_.reset();
		window_.reset(
			ops::made(ibv_alloc_mw(b.host.pd.get(), IBV_MW_TYPE_2), "ibv_alloc_mw"));
	}
	window_is_ = Window::Unbound;
}

uint64_t Reliable::cell_in_memory(unsigned i) const
{
	uint64_t v;

	memcpy(&v, cells_mem_.at(i * 8), 8);
	return v;
}

unsigned Reliable::take_landing()
{
	unsigned i = landings_.back();

	landings_.pop_back();
	return i;
}

void Reliable::check_slot(unsigned i)
{
	const uint8_t *is = slots_mem_.at(place(i, 0));
	const auto &now = slots_[i].now;

	if (memcmp(is, now.data(), now.size()) == 0)
		return;
	size_t at = std::mismatch(now.begin(), now.end(), is).first - now.begin();
	FAIL("memory differs from what was written: slot " + std::to_string(i) + ", byte " +
	     std::to_string(at));
}

/* ---- requests ---- */

void Reliable::post()
{
	if (!a.room())
		return;
	unsigned what = rng_.below(100);

	if (what < 35)
		post_send();
	else if (what < 55)
		post_write();
	else if (what < 75)
		post_read();
	else if (what < 85)
		post_atomic();
	else if (what < 90)
		post_atomic_write();
	else if (what < 94)
		post_flush();
	else
		post_window();
}

void Reliable::post_send()
{
	Message m{IBV_WC_RECV, a.host.payload(rng_, length(), 4)};
	bool imm = rng_.percent(50);
	auto sg = a.host.sges(m.payload);
	ibv_send_wr wr = request(imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND, sg, true);
	const char *name = imm ? "SEND_IMM" : "SEND";

	if (imm)
		m.flags = IBV_WC_WITH_IMM;
	m.ex = wr.imm_data = rng_.next();
	m.target = rng_.below(targets_.size());
	wr.qp_type.xrc.remote_srqn = targets_[m.target].srqn;
	count(name, m.payload.length);
	a.post(wr,
	       {.opcode = IBV_WC_SEND,
		.name = name,
		.done = [this](bool ok) { acknowledged_ += ok; }},
	       rng_);
	expected_.push_back(std::move(m));
}

void Reliable::post_write()
{
	Payload p = a.host.payload(rng_, length(), 4);
	unsigned s = rng_.below(slots_.size());
	Slot &slot = slots_[s];
	uint32_t offset = rng_.below(max_length_ - p.length + 1);
	bool imm = rng_.percent(30);
	auto sg = a.host.sges(p);
	ibv_send_wr wr = request(imm ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE, sg, true);
	const char *name = imm ? "WRITE_IMM" : "WRITE";
	unsigned target = rng_.below(targets_.size());

	if (slot.reads)
		return;
	if (!slot.writes)
		check_slot(s);
	a.host.copy(p, slot.now.data() + offset);
	slot.writes++;
	wr.wr.rdma.remote_addr = slots_mem_.addr(place(s, offset));
	wr.wr.rdma.rkey = slots_mem_.rkey();
	wr.imm_data = rng_.next();
	wr.qp_type.xrc.remote_srqn = targets_[target].srqn;
	if (imm)
		expected_.push_back(
			{IBV_WC_RECV_RDMA_WITH_IMM, p, IBV_WC_WITH_IMM, wr.imm_data, target});
	count(name, p.length);
	a.post(wr,
	       {.opcode = IBV_WC_RDMA_WRITE,
		.name = name,
		.done =
			[this, s, imm](bool ok) {
				slots_[s].writes--;
				acknowledged_ += ok && imm;
				if (ok && !slots_[s].writes)
					check_slot(s);
			}},
	       rng_);
}

void Reliable::post_read()
{
	uint32_t n = length(), offset = rng_.below(max_length_ - n + 1);
	unsigned s = rng_.below(slots_.size()), landing = take_landing();
	size_t to = landing * size_t(max_length_);
	std::vector<ibv_sge> sg;
	std::vector<uint8_t> want(slots_[s].now.begin() + offset,
				  slots_[s].now.begin() + offset + n);

	for (uint32_t at = 0, part; at < n; at += part) {
		part = sg.size() == 3 ? n - at : rng_.range(1, n - at);
		sg.push_back(landing_.sge(to + at, part));
	}
	memset(landing_.at(to), 0xee, n);
	ibv_send_wr wr = request(IBV_WR_RDMA_READ, sg, false);
	wr.wr.rdma.remote_addr = slots_mem_.addr(place(s, offset));
	wr.wr.rdma.rkey = slots_mem_.rkey();
	wr.qp_type.xrc.remote_srqn = targets_[0].srqn;
	slots_[s].reads++;
	count("READ", n);
	a.post(wr,
	       {.opcode = IBV_WC_RDMA_READ,
		.name = "READ",
		.done =
			[this, s, landing, to, want](bool ok) {
				slots_[s].reads--;
				landings_.push_back(landing);
				if (ok && !want.empty() &&
				    memcmp(landing_.at(to), want.data(), want.size()))
					FAIL("a READ brought wrong data");
			}},
	       rng_);
}

void Reliable::post_atomic()
{
	unsigned c = rng_.below(cells_.size()), landing = take_landing();
	size_t to = landing * size_t(max_length_);
	bool cas = rng_.percent(50);
	uint64_t orig = cells_[c].now, operand = cas && rng_.percent(60) ? orig : rng_.next();
	std::vector<ibv_sge> sg{landing_.sge(to, 8)};
	const char *name = cas ? "CAS" : "FETCH_ADD";

	ibv_send_wr wr =
		request(cas ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD, sg, false);
	wr.wr.atomic = {cells_mem_.addr(c * 8), operand, rng_.next(), cells_mem_.rkey()};
	wr.qp_type.xrc.remote_srqn = targets_[0].srqn;
	if (!cas)
		cells_[c].now += operand;
	else if (operand == orig)
		cells_[c].now = wr.wr.atomic.swap;
	cells_[c].pending++;
	memset(landing_.at(to), 0xee, 8);
	count(name, 8);
	a.post(wr,
	       {.opcode = cas ? IBV_WC_COMP_SWAP : IBV_WC_FETCH_ADD,
		.name = name,
		.done =
			[this, c, landing, to, orig](bool ok) {
				uint64_t is;

				cells_[c].pending--;
				landings_.push_back(landing);
				memcpy(&is, landing_.at(to), 8);
				if (ok && is != orig)
					FAIL("an atomic was not executed exactly once, or brought a wrong value");
			}},
	       rng_);
}

void Reliable::post_atomic_write()
{
	unsigned c = rng_.below(cells_.size());
	uint64_t value = rng_.next();

	if (!a.host.has(IB_UVERBS_DEVICE_ATOMIC_WRITE))
		return;
	cells_[c].now = value;
	cells_[c].pending++;
	count("ATOMIC_WRITE", 8);
	a.post_atomic_write(cells_mem_.rkey(), cells_mem_.addr(c * 8), &value, targets_[0].srqn,
			    {.opcode = IBV_WC_ATOMIC_WRITE,
			     .name = "ATOMIC_WRITE",
			     .done = [this, c](bool) { cells_[c].pending--; }},
			    rng_);
}

void Reliable::post_flush()
{
	unsigned s = rng_.below(slots_.size());

	if (!a.host.has(IB_UVERBS_DEVICE_FLUSH_GLOBAL))
		return;
	count("FLUSH", 0);
	a.post_flush(slots_mem_.rkey(), slots_mem_.addr(place(s, 0)), max_length_, targets_[0].srqn,
		     {.opcode = IBV_WC_FLUSH, .name = "FLUSH", .done = [](bool) {}}, rng_);
}

/* ---- memory windows: bound by b, written through by a, closed by either ---- */

void Reliable::post_window()
{
	if (!window_)
		return;
	switch (window_is_) {
	case Window::Unbound: bind_window(); break;
	case Window::Bound:
		if (rng_.percent(70))
			write_window();
		else if (rng_.percent(60))
			close_window();
		else
			invalidate_window();
		break;
	default: break;
	}
}

void Reliable::bind_window()
{
	ibv_send_wr wr{};

	if (!b.room())
		return;
	wr.opcode = IBV_WR_BIND_MW;
	wr.bind_mw = {window_.get(), ibv_inc_rkey(window_->rkey), {}};
	wr.bind_mw.bind_info = {window_mem_.mr(), window_mem_.addr(), window_size,
				IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
	window_is_ = Window::Binding;
	counts.by_name["BIND_MW"]++;
	b.post(wr,
	       {.opcode = IBV_WC_BIND_MW,
		.name = "BIND_MW",
		.local = true,
		.done =
			[this](bool ok) {
				if (ok)
					window_is_ = Window::Bound;
			}},
	       rng_);
	window_->rkey = wr.bind_mw.rkey;
}

void Reliable::write_window()
{
	Payload p = a.host.payload(rng_, rng_.range(1, window_size), 4);
	uint32_t offset = rng_.below(window_size - p.length + 1);
	auto sg = a.host.sges(p);
	ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, sg, true);

	a.host.copy(p, window_slot_.now.data() + offset);
	window_slot_.writes++;
	wr.wr.rdma.remote_addr = window_mem_.addr(offset);
	wr.wr.rdma.rkey = window_->rkey;
	count("WRITE", p.length);
	a.post(wr,
	       {.opcode = IBV_WC_RDMA_WRITE,
		.name = "WRITE through a window",
		.done =
			[this](bool ok) {
				window_slot_.writes--;
				if (ok && !window_slot_.writes &&
				    memcmp(window_mem_.at(), window_slot_.now.data(), window_size))
					FAIL("memory behind a window differs from what was written");
			}},
	       rng_);
}

/* SEND with invalidate, behind the WRITEs that need the key. */
void Reliable::close_window()
{
	Message m{IBV_WC_RECV, a.host.payload(rng_, length(), 4), IBV_WC_WITH_INV, window_->rkey};
	auto sg = a.host.sges(m.payload);
	ibv_send_wr wr = request(IBV_WR_SEND_WITH_INV, sg, true);

	window_is_ = Window::Closing;
	wr.invalidate_rkey = window_->rkey;
	count("SEND_INV", m.payload.length);
	a.post(wr,
	       {.opcode = IBV_WC_SEND,
		.name = "SEND_INV",
		.done = [this](bool ok) { acknowledged_ += ok; }},
	       rng_);
	expected_.push_back(std::move(m));
}

void Reliable::invalidate_window()
{
	ibv_send_wr wr{};

	if (window_slot_.writes || !b.room())
		return;
	wr.opcode = IBV_WR_LOCAL_INV;
	wr.invalidate_rkey = window_->rkey;
	window_is_ = Window::Closing;
	counts.by_name["LOCAL_INV"]++;
	b.post(wr,
	       {.opcode = IBV_WC_LOCAL_INV,
		.name = "LOCAL_INV",
		.local = true,
		.done =
			[this](bool ok) {
				if (ok)
					window_is_ = Window::Unbound;
			}},
	       rng_);
}

/* ---- what arrives ---- */

void Reliable::message(const ibv_wc &wc, const uint8_t *data)
{
	if (expected_.empty())
		FAIL("a message that was not sent, or twice");
	Message m = std::move(expected_.front());
	expected_.pop_front();
	arrived_++;
	CHECK_EQ(int(wc.opcode), int(m.opcode));
	CHECK_EQ(wc.byte_len, m.payload.length);
	CHECK_EQ(wc.wc_flags & (IBV_WC_WITH_IMM | IBV_WC_WITH_INV), m.flags);
	if (m.flags) /* the key stands where immediate data would */
		CHECK_EQ(m.flags & IBV_WC_WITH_INV ? wc.invalidated_rkey : wc.imm_data, m.ex);
	CHECK(targets_[m.target].receives->owns(wc.wr_id));
	if (m.opcode == IBV_WC_RECV && !a.host.same(m.payload, data))
		FAIL("a message was received with wrong data");
	if (m.flags & IBV_WC_WITH_INV)
		window_is_ = Window::Unbound;
}

void Reliable::check_end()
{
	if (!expected_.empty())
		FAIL(std::to_string(expected_.size()) + " messages were lost");
	for (unsigned i = 0; i < slots_.size(); i++)
		check_slot(i);
	for (unsigned i = 0; i < cells_.size(); i++)
		if (cell_in_memory(i) != cells_[i].now)
			FAIL("an atomic was not executed exactly once");
	if (memcmp(window_mem_.at(), window_slot_.now.data(), window_size))
		FAIL("memory behind a window differs from what was written");
}

} // namespace soak

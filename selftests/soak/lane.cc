// SPDX-License-Identifier: GPL-2.0
#include "lane.h"

#include <algorithm>
#include <fcntl.h>

namespace soak {

using std::chrono::milliseconds;
using std::chrono::seconds;

/* Far beyond what eight timeouts in a row take, on a machine that stalls at times. */
static constexpr auto patience = seconds(90);
static constexpr auto straggling = milliseconds(300);

SharedReceives::SharedReceives(Host &host, unsigned count, uint32_t size, unsigned tag) :
	srq([&] {
		ibv_srq_init_attr attr{};
		attr.attr.max_wr = count;
		attr.attr.max_sge = 1;
		return ops::made(ibv_create_srq(host.pd.get(), &attr), "ibv_create_srq");
	}()),
	receives(host, count, size, srq.get(), tag)
{
}

Lane::Lane(Host &a, Host &b, const LaneOptions &options, Rng &rng) : opt_(options), rng_(rng)
{
	auto now = Clock::now();

	opt_.end.mtu =
		std::min({opt_.end.mtu, a.dev.port_attr.active_mtu, b.dev.port_attr.active_mtu});
	last_progress_ = last_received_ = quiet_until_ = now;
	next_break_ = now + milliseconds(rng.range(3000, 20000));
	if (opt_.end.type == IBV_QPT_XRC_SEND)
		make_xrc(a, b);
	else
		make_duplex(a, b);
	connect();
}

void Lane::make_duplex(Host &a, Host &b)
{
	bool reliable = opt_.end.type == IBV_QPT_RC;
	uint32_t size = opt_.max_length + (opt_.end.type == IBV_QPT_UD ? 40 : 0);
	std::vector<Target> targets[2];

	for (int i = 0; i < 2; i++) {
		EndOptions o = opt_.end;
		Host &host = i ? b : a;

		o.srq = opt_.shared[i] ? opt_.shared[i]->srq.get() : nullptr;
		ends_.push_back(std::make_unique<End>(host, o));
		if (opt_.shared[i]) {
			targets[i] = {{&opt_.shared[i]->receives}};
			continue;
		}
		receives_.push_back(std::make_unique<Receives>(host, opt_.receives, size, nullptr));
		receives_.back()->attach(ends_[i]->qp.get());
		targets[i] = {{receives_.back().get()}};
	}
	for (int i = 0; i < 2; i++) {
		End &from = *ends_[i], &to = *ends_[1 - i];

		if (reliable)
			traffic_.push_back(std::make_unique<Reliable>(from, to, targets[1 - i],
								      opt_.max_length, rng_));
		else
			traffic_.push_back(std::make_unique<Unreliable>(from, to, targets[1 - i],
									opt_.max_length, rng_));
	}
}

void Lane::make_xrc(Host &a, Host &b)
{
	ibv_context *ctx = b.dev.ctx.get();
	ibv_xrcd_init_attr xa{};
	EndOptions o = opt_.end;
	std::vector<Target> targets;

	xa.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	xa.fd = -1;
	xa.oflags = O_CREAT;
	xrcd_.reset(ops::made(ibv_open_xrcd(ctx, &xa), "ibv_open_xrcd"));
	ends_.push_back(std::make_unique<End>(a, o));
	o.type = IBV_QPT_XRC_RECV;
	o.xrcd = xrcd_.get();
	ends_.push_back(std::make_unique<End>(b, o));
	for (unsigned tag = 0; tag < 2; tag++) {
		ibv_srq_init_attr_ex sa{};
		uint32_t number = 0;

		sa.attr.max_wr = opt_.receives;
		sa.attr.max_sge = 1;
		sa.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			       IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
		sa.srq_type = IBV_SRQT_XRC;
		sa.pd = b.pd.get();
		sa.xrcd = xrcd_.get();
		sa.cq = ends_[1]->rcq.get();
		srqs_.emplace_back(ops::made(ibv_create_srq_ex(ctx, &sa), "ibv_create_srq"));
		CHECK_EQ(ibv_get_srq_num(srqs_.back().get(), &number), 0);
		receives_.push_back(std::make_unique<Receives>(b, opt_.receives, opt_.max_length,
							       srqs_.back().get(), tag));
		targets.push_back({receives_.back().get(), number});
	}
	traffic_.push_back(
		std::make_unique<Reliable>(*ends_[0], *ends_[1], targets, opt_.max_length, rng_));
}

void Lane::connect()
{
	uint32_t psn[2] = {uint32_t(rng_.next() & 0xffffff), uint32_t(rng_.next() & 0xffffff)};

	for (int i = 0; i < 2; i++)
		ends_[i]->connect(*ends_[1 - i], psn[i], psn[1 - i]);
}

/* ---- traffic ---- */

bool Lane::poll()
{
	bool any = false;

	for (int i = 0; i < 2; i++) {
		End &end = *ends_[i];

		while (auto wc = end.poll_received()) {
			for (auto &t : traffic_)
				if (&t->b == &end)
					t->received(*wc);
			any = true;
			last_received_ = Clock::now();
		}
		any |= end.poll_sent();
	}
	return any;
}

void Lane::post()
{
	auto now = Clock::now();

	for (auto &r : receives_)
		r->refill(rng_, opt_.sparing);
	for (auto *s : opt_.shared)
		if (s)
			s->receives.refill(rng_, opt_.sparing);
	for (auto &t : traffic_) {
		/* A request that is not signalled completes with one behind it that is. */
		t->a.signal_all = finishing_;
		if (finishing_ && !t->a.last_unsignalled())
			continue;
		for (unsigned n = finishing_ ? 1 : now < quiet_until_ ? 0 : rng_.below(6); n; n--)
			t->post();
	}
	if (now >= quiet_until_ && rng_.below(1000) < 5)
		quiet_until_ = now + milliseconds(rng_.below(60));
}

/* ---- breaking ---- */

void Lane::begin_break(const char *why)
{
	breaking_ = true;
	on_purpose_ = !*why;
	break_end_ = Clock::now() + straggling;
	if (on_purpose_) {
		breaks_++;
		ends_[rng_.below(2)]->error();
		if (rng_.percent(50))
			break_further();
		return;
	}
	retries_exceeded_++;
	if (!opt_.may_fail)
		FAIL(why);
}

/*
 * The other end as well; false: both were broken already. A receive that a QP has in hand of a
 * shared receive queue is flushed some time after the QP went to the error state. It would be lost
 * if the QP were reset before.
 */
bool Lane::break_further()
{
	bool any = false;

	for (auto &end : ends_) {
		if (!end->broken() || !end->in_error()) {
			end->error();
			any = true;
		}
		/* A request that was not signalled and has succeeded says nothing by itself. */
		if (end->last_unsignalled())
			end->post_probe();
	}
	return any;
}

void Lane::watch_breaks()
{
	for (auto &end : ends_) {
		if (!end->broken())
			continue;
		if (end->broken_by() != IBV_WC_RETRY_EXC_ERR)
			FAIL(std::string("a work request fails: ") +
			     ibv_wc_status_str(end->broken_by()));
		begin_break(ibv_wc_status_str(end->broken_by()));
		return;
	}
	if (!finishing_ && Clock::now() > next_break_)
		begin_break("");
}

bool Lane::drained() const
{
	for (const auto &end : ends_)
		if (!end->all_sent())
			return false;
	for (const auto &r : receives_)
		if (!r->shared() && !r->all_back())
			return false;
	return true;
}

void Lane::reconnect()
{
	for (auto &end : ends_) {
		auto by = end->broken_by();

		if (by != IBV_WC_SUCCESS && by != IBV_WC_WR_FLUSH_ERR && by != IBV_WC_RETRY_EXC_ERR)
			FAIL(std::string("a work request fails: ") + ibv_wc_status_str(by));
		end->reset();
	}
	for (auto &t : traffic_)
		t->restart();
	connect();
	breaking_ = false;
	next_break_ = Clock::now() + milliseconds(rng_.range(5000, 30000));
}

/* ---- the end ---- */

void Lane::end()
{
	bool reliable = opt_.end.type != IBV_QPT_UC && opt_.end.type != IBV_QPT_UD;

	for (const auto &e : ends_)
		if (!e->all_sent())
			return;
	/* All is acknowledged, so all has arrived; datagrams may still be on their way. */
	if (!reliable && Clock::now() < last_received_ + straggling)
		return;
	poll();
	for (auto &t : traffic_)
		t->check_end();
	finished_ = true;
}

void Lane::check_progress(bool any)
{
	auto now = Clock::now();

	if (any)
		last_progress_ = now;
	else if (now > last_progress_ + patience)
		FAIL("hangs");
}

bool Lane::step()
{
	try {
		return turn();
	} catch (const ops::Failure &failure) {
		throw ops::Failure(opt_.name + ": " + failure.what() + "; " + state() +
				   "; left:" + ends_[0]->rest() + " |" + ends_[1]->rest());
	}
}

bool Lane::turn()
{
	bool any;

	if (finished_)
		return false;
	any = poll();
	if (!breaking_) {
		watch_breaks();
	} else if (Clock::now() > break_end_) {
		if (break_further()) {
			break_end_ = Clock::now() + straggling;
		} else if (drained() && ends_[0]->host.active() && ends_[1]->host.active()) {
			reconnect();
			any = true;
		}
	}
	if (!breaking_) {
		post();
		if (finishing_)
			end();
	}
	check_progress(any || (breaking_ && Clock::now() < break_end_));
	return any;
}

/* ---- for people ---- */

uint64_t Lane::messages() const
{
	uint64_t n = 0;

	for (const auto &t : traffic_)
		n += t->counts.messages;
	return n;
}

std::string Lane::state() const
{
	return ends_[0]->state() + "; " + ends_[1]->state();
}

std::string Lane::summary() const
{
	uint64_t received = 0, bytes = 0, duplicates = 0, completions = 0;

	for (const auto &t : traffic_) {
		received += t->counts.received;
		bytes += t->counts.bytes;
		duplicates += t->counts.duplicates;
	}
	for (const auto &end : ends_)
		completions += end->completions;
	return opt_.name + ": " + std::to_string(messages()) + " work requests, " +
	       std::to_string(bytes >> 20) + " MiB, " + std::to_string(completions) +
	       " completions, " + std::to_string(received) + " messages received" +
	       (duplicates ? ", of these " + std::to_string(duplicates) + " again" : "") + ", " +
	       std::to_string(breaks_) + " times broken on purpose, " +
	       std::to_string(retries_exceeded_) + " times out of retries";
}

} // namespace soak

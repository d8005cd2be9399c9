// SPDX-License-Identifier: GPL-2.0
#include "serve/sampler.h"

#include <algorithm>

namespace pib::ctl {
namespace {

using namespace std::chrono_literals;

constexpr auto kFresh = 200ms;
constexpr auto kSpan = 900ms;
constexpr auto kForgotten = 5s;
/// Of the time no more than this part goes into looks.
constexpr int kShare = 3;

} // namespace

bool Sampler::is_fresh() const
{
	return looks_.size() > 1 &&
	       now_() - looks_.back().when < std::max<Clock::duration>(kFresh, kShare * cost_);
}

/// Keeps one look that is old enough, and those behind it. What is from long ago, since nobody has
/// asked, is no measure.
void Sampler::forget()
{
	while (looks_.size() > 2 && looks_.back().when - looks_[1].when >= kSpan)
		looks_.pop_front();
	if (looks_.back().when - looks_.front().when > kForgotten)
		looks_.pop_front();
}

Status Sampler::refresh()
{
	if (is_fresh())
		return success();
	const auto start = now_();
	auto look = take_();
	if (!look)
		return look.error();
	look->when = start;
	cost_ = now_() - start;
	looks_.push_back(std::move(*look));
	forget();
	// The first one is compared with itself: nothing has moved.
	if (looks_.size() == 1)
		looks_.push_front(looks_.back());
	return success();
}

} // namespace pib::ctl

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
	return tried_ && now_() - *tried_ < std::max<Clock::duration>(kFresh, kShare * cost_);
}

/// Keeps one look that is old enough, and those behind it. A look from long ago, if none was asked
/// for since, is no measure.
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
		return outcome_;
	const auto start = now_();
	auto look = take_();
	tried_ = start;
	cost_ = now_() - start;
	outcome_ = look ? success() : Status(look.error());
	if (!look)
		return outcome_;
	look->when = start;
	looks_.push_back(std::move(*look));
	++number_;
	forget();
	// The first one is compared with itself: nothing has moved.
	if (looks_.size() == 1)
		looks_.push_front(looks_.back());
	return outcome_;
}

} // namespace pib::ctl

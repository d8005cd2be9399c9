// SPDX-License-Identifier: GPL-2.0
// Looks at the fabric, no more often than it can bear, however many ask.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

#include "watch/look.h"

namespace pib::ctl {

using TakeLook = std::function<Result<Look>()>;

class Sampler {
public:
	using Clock = std::chrono::steady_clock;

	explicit Sampler(TakeLook take, std::function<Clock::time_point()> now = Clock::now) :
		take_(std::move(take)), now_(std::move(now))
	{
	}

	/// Takes a new look if the last one is old, be it that it failed. Afterwards there are two,
	/// unless it is refused.
	Status refresh();
	/// Another one for each look.
	std::uint64_t number() const { return number_; }
	const Look &now() const { return looks_.back(); }
	/// The look to compare now() with: about a second older, as far as there is such a one.
	const Look &before() const { return looks_.front(); }

private:
	bool is_fresh() const;
	void forget();

	TakeLook take_;
	std::function<Clock::time_point()> now_;
	/// When the last one began, how long it took, and what came of it.
	std::optional<Clock::time_point> tried_;
	Clock::duration cost_{};
	Status outcome_ = success();
	std::uint64_t number_ = 0;
	/// The oldest first.
	std::deque<Look> looks_;
};

} // namespace pib::ctl

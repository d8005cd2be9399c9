/* SPDX-License-Identifier: GPL-2.0 */
/* Threads that work at the same things until the time is over, or one of them has failed. */
#pragma once

#include <thread>
#include <vector>

#include "common.h"

namespace hostile {

class Crew {
public:
	explicit Crew(Clock::time_point end, uint64_t seed) : end_(end), seed_(seed) {}
	~Crew() { join(); }

	/** @step again and again, with a random generator of the thread's own. */
	template <typename F>
	void add(F step)
	{
		threads_.emplace_back([this, step, seed = seed_ + threads_.size()]() mutable {
			Rng rng(seed);
			try {
				while (!over_ && Clock::now() < end_)
					step(rng);
			} catch (const std::exception &failure) {
				ops::note_failure(failure.what());
				over_ = true;
			}
		});
	}

	void join()
	{
		for (auto &t : threads_)
			t.join();
		threads_.clear();
	}

private:
	Clock::time_point end_;
	uint64_t seed_;
	std::atomic<bool> over_ = false;
	std::vector<std::thread> threads_;
};

} // namespace hostile

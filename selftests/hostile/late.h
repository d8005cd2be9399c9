/* SPDX-License-Identifier: GPL-2.0 */
/* Memory of a file whose server answers late, or never. */
#pragma once

#include "../lib/slow_file.h"
#include "common.h"

namespace hostile {

enum class Answers { None, Late, Never };

/**
 * Made as root, and begun before anything of it is registered: whoever waits for a page may hold the lock on the
 * process's map, and then no thread can be made. It is not unmade: the end of the process has to do.
 */
class LateMemory {
public:
	LateMemory(Answers answers, uint64_t seed, Clock::time_point end, Tally &tally);
	LateMemory(const LateMemory &) = delete;

	/** From now on pages come, or do not. */
	void begin();
	/** Null if there is none. */
	const SlowFile *file() const { return file_; }

private:
	void answer_late();
	void look_on();
	void drop_pages();

	Answers answers_;
	Rng rng_;
	Clock::time_point end_;
	Tally &tally_;
	SlowFile *file_ = nullptr;
};

} // namespace hostile

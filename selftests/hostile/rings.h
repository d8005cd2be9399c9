/* SPDX-License-Identifier: GPL-2.0 */
/* Writes to what the kernel has mapped: heads of rings, and what is in flight in them. */
#pragma once

#include "common.h"

namespace hostile {

/** Until @end. The calling thread's faults are caught: a ring may go while it is written to. */
void scribble(Rng &rng, Tally &tally, Clock::time_point end);

} // namespace hostile

/* SPDX-License-Identifier: GPL-2.0 */
/* Control calls by one thread while others are at work on the same objects. */
#pragma once

#include "../verbs/ops/end.h"
#include "crew.h"

namespace hostile {

struct Contest {
	const char *name;
	void (*run)(const Options &o, Tally &tally);
};

/* contest_regions.cc */
void rereg_against_bind(const Options &o, Tally &tally);
void dereg_against_bind(const Options &o, Tally &tally);
void dereg_against_writes(const Options &o, Tally &tally);
/* contest_queues.cc */
void resize_against_traffic(const Options &o, Tally &tally);
void destroy_against_traffic(const Options &o, Tally &tally);
void modify_against_traffic(const Options &o, Tally &tally);
void addresses_against_datagrams(const Options &o, Tally &tally);
/* contest_xrc.cc */
void srqs_against_xrc(const Options &o, Tally &tally);

/** One device, both ends on it. */
inline ops::Env one_device(const Options &o)
{
	return {.dev_a = o.dev, .dev_b = o.dev};
}
/** Back to where traffic can go on, from whatever state. */
void reconnect(ops::Pair &p);
/** Takes completions away; returns how many of them told of success. */
unsigned drain(ibv_cq *cq, Tally &tally, const char *name);

} // namespace hostile

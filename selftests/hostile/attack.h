/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attacks that one user may try to another one's harm. Each runs as nobody until the time is over.
 */
#pragma once

#include "../verbs/ops/end.h"
#include "common.h"

namespace hostile {

struct Attack {
	const char *name;
	void (*run)(const Options &o, Tally &tally);
	/** It becomes nobody by itself: it has to prepare something as root. */
	bool as_root = false;
};

/* attack_tables.cc */
void attack_tables(const Options &o, Tally &tally);
void attack_memory(const Options &o, Tally &tally);
void attack_groups(const Options &o, Tally &tally);
/* attack_cpu.cc */
void attack_doorbells(const Options &o, Tally &tally);
void attack_local(const Options &o, Tally &tally);
void attack_flood(const Options &o, Tally &tally);
/* attack_pages.cc */
void attack_pages(const Options &o, Tally &tally);
void attack_peer(const Options &o, Tally &tally);
/* attack_smi.cc */
void attack_smi(const Options &o, Tally &tally);

} // namespace hostile

// SPDX-License-Identifier: GPL-2.0
#include "attack.h"

#include <csignal>
#include <cstdio>
#include <sys/resource.h>
#include <unistd.h>

namespace hostile {

static constexpr Attack attacks[] = {
	{"smi", attack_smi},	   {"tables", attack_tables},	  {"memory", attack_memory},
	{"groups", attack_groups}, {"local", attack_local},	  {"doorbells", attack_doorbells},
	{"flood", attack_flood},   {"pages", attack_pages, true}, {"peer", attack_peer, true},
};

int run_attack(const Options &o)
{
	Tally tally;

	for (const Attack &a : attacks) {
		if (o.what != a.name)
			continue;
		rlimit none{};
		setrlimit(RLIMIT_CORE, &none);
		alarm(o.seconds + 120 * ops::slowness());
		if (!a.as_root)
			become_nobody();
		a.run(o, tally);
		tally.print();
		if (std::string names = tally.never("", 1); !names.empty())
			ops::note_failure("never succeeded:" + names);
		return failed();
	}
	for (const Attack &a : attacks)
		puts(a.name);
	return o.what != "list";
}

} // namespace hostile

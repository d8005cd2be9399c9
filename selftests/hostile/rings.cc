// SPDX-License-Identifier: GPL-2.0
#include "rings.h"

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <unistd.h>
#include <vector>

#include "../../kernel/uapi/rdma/pib-abi.h"

namespace hostile {

namespace {

thread_local sigjmp_buf back;
thread_local volatile sig_atomic_t may_fault;

void on_fault(int signal_number)
{
	if (may_fault)
		siglongjmp(back, 1);
	signal(signal_number, SIG_DFL);
}

struct Mapping {
	uint8_t *from;
	size_t length;
};

std::vector<Mapping> mapped_rings()
{
	std::vector<Mapping> found;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long from, to;
		if (strstr(line, "uverbs") && strstr(line, " rw-s ") &&
		    sscanf(line, "%lx-%lx", &from, &to) == 2)
			found.push_back({reinterpret_cast<uint8_t *>(from), to - from});
	}
	if (maps)
		fclose(maps);
	return found;
}

void write_once(Rng &rng, const Mapping &m)
{
	auto *ring = reinterpret_cast<volatile pib_ring_hdr *>(m.from);
	uint32_t word;

	switch (rng.below(10)) {
	case 0: ring->producer = ring->producer + rng.below(4); break;
	case 1: ring->producer = rng.odd(); break;
	case 2: ring->producer = ring->consumer + rng.below(1 << rng.below(15)); break;
	case 3: ring->consumer = rng.odd(); break;
	case 4: ring->consumer = ring->producer - rng.below(1 << rng.below(15)); break;
	case 5: ring->arm = rng.below(4); break;
	case 6: ring->busy = rng.below(2); break;
	default:
		word = rng.one_in(4) ? rng.odd() : rng.below(64);
		size_t offset =
			sizeof(*ring) + rng.below(rng.one_in(2) ? 1024 : m.length - sizeof(*ring));
		*reinterpret_cast<volatile uint32_t *>(m.from + (offset & ~3UL) % (m.length - 3)) =
			word;
	}
}

} // namespace

void scribble(Rng &rng, Tally &tally, Clock::time_point end)
{
	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	while (Clock::now() < end) {
		std::vector<Mapping> rings = mapped_rings();

		may_fault = 1;
		if (!sigsetjmp(back, 1))
			for (unsigned n = rng.below(1 << rng.below(10)); n && !rings.empty(); n--)
				write_once(rng, rings[rng.below(rings.size())]);
		may_fault = 0;
		tally.note("rings written to", !rings.empty());
		usleep(rng.below(20000));
	}
}

} // namespace hostile

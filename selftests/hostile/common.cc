// SPDX-License-Identifier: GPL-2.0
#include "common.h"

#include <cstdio>
#include <grp.h>
#include <iostream>
#include <sys/mman.h>
#include <unistd.h>

namespace ops {

static std::atomic<bool> noted;

void note_failure(const std::string &what)
{
	std::cout << "FAILED: " << what << std::endl;
	noted = true;
}

} // namespace ops

namespace hostile {

uint64_t Rng::next()
{
	uint64_t x = state_ += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

uint64_t Rng::odd()
{
	switch (below(8)) {
	case 0: return 0;
	case 1: return ~0ULL;
	case 2: return 1ULL << below(64);
	case 3: return (1ULL << below(64)) - 1;
	case 4: return next();
	case 5: return below(4097);
	default: return below(64);
	}
}

Tally::Tally()
{
	void *p = mmap(nullptr, slots * sizeof(Slot), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		throw ops::Failure("no memory");
	slot_ = static_cast<Slot *>(p);
}

Tally::Slot *Tally::find(const char *name)
{
	for (size_t i = 0; i < slots; i++) {
		Slot &s = slot_[i];
		int free = 0;

		if (s.state == 2 && !strncmp(s.name, name, sizeof(s.name)))
			return &s;
		if (s.state == 0 && s.state.compare_exchange_strong(free, 1)) {
			strncpy(s.name, name, sizeof(s.name) - 1);
			s.state = 2;
			return &s;
		}
	}
	return &slot_[slots - 1];
}

void Tally::note(const char *name, bool ok)
{
	Slot *s = find(name);
	s->tried++;
	s->ok += ok;
}

void Tally::print() const
{
	for (size_t i = 0; i < slots; i++) {
		const Slot &s = slot_[i];
		if (s.state == 2)
			printf("%-28s %10llu tried %10llu succeeded\n", s.name,
			       (unsigned long long)s.tried.load(), (unsigned long long)s.ok.load());
	}
	fflush(stdout);
}

static bool begins(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

uint64_t Tally::tried(const char *prefix) const
{
	uint64_t n = 0;
	for (size_t i = 0; i < slots; i++)
		if (slot_[i].state == 2 && begins(slot_[i].name, prefix))
			n += slot_[i].tried;
	return n;
}

uint64_t Tally::succeeded(const char *prefix) const
{
	uint64_t n = 0;
	for (size_t i = 0; i < slots; i++)
		if (slot_[i].state == 2 && begins(slot_[i].name, prefix))
			n += slot_[i].ok;
	return n;
}

std::string Tally::never(const char *prefix, uint64_t often) const
{
	std::string names;
	for (size_t i = 0; i < slots; i++) {
		const Slot &s = slot_[i];
		/* Two may have named a slot at the same time: the sum of both counts. */
		if (s.state == 2 && begins(s.name, prefix) && tried(s.name) >= often &&
		    !succeeded(s.name))
			names += std::string(" ") + s.name;
	}
	return names;
}

void become_nobody()
{
	if (setgroups(0, nullptr) || setgid(65534) || setuid(65534))
		throw ops::Failure("cannot become nobody");
}

ibv_context *open_device(const std::string &name)
{
	int n = 0;
	ibv_device **list = ibv_get_device_list(&n);
	ibv_context *ctx = nullptr;

	for (int i = 0; list && i < n && !ctx; i++)
		if (name == ibv_get_device_name(list[i]))
			ctx = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	return ctx;
}

bool failed()
{
	return ops::noted;
}

} // namespace hostile

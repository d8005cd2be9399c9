// SPDX-License-Identifier: GPL-2.0
#include "late.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

#include "world.h"

namespace hostile {

LateMemory::LateMemory(Answers answers, uint64_t seed, Clock::time_point end, Tally &tally) :
	answers_(answers), rng_(seed), end_(end), tally_(tally)
{
	if (answers == Answers::None)
		return;
	file_ = new SlowFile(World::buffer / SlowFile::page);
}

/* Of those that nobody has pinned. */
void LateMemory::drop_pages()
{
	madvise(file_->at(), file_->size(), MADV_DONTNEED);
	posix_fadvise(file_->fd(), 0, 0, POSIX_FADV_DONTNEED);
}

void LateMemory::answer_late()
{
	while (Clock::now() < end_) {
		drop_pages();
		file_->hold();
		usleep(rng_.below(300000));
		tally_.note("page that is late", file_->waiting());
		if (rng_.one_in(4))
			file_->fail();
		else
			file_->release();
		usleep(rng_.below(50000));
	}
	file_->release();
}

void LateMemory::look_on()
{
	while (Clock::now() < end_ && !file_->waiting())
		usleep(10000);
	tally_.note("page that never comes", file_->waiting());
}

void LateMemory::begin()
{
	if (file_)
		std::thread([this] {
			answers_ == Answers::Late ? answer_late() : look_on();
		}).detach();
}

} // namespace hostile

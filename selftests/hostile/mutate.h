/* SPDX-License-Identifier: GPL-2.0 */
/* A thread's commands, each sent a second time with something in it changed. */
#pragma once

#include <memory>
#include <vector>

#include "calls.h"
#include "common.h"

struct ib_uverbs_ioctl_hdr;

namespace hostile {

class Mutator : public CallHook {
public:
	/** @contexts: whether it may ask for contexts that are refused. */
	Mutator(uint64_t seed, Tally &tally, bool contexts) :
		rng_(seed), tally_(tally), contexts_(contexts),
		scratch_(new uint8_t[max_attrs][area])
	{
	}

	int command(int fd, void *ioctl_command) override;
	ssize_t command(int fd, const void *written, size_t length) override;

private:
	static constexpr size_t max_attrs = 40, area = 4096;

	void divert(ib_uverbs_ioctl_hdr *command);
	void change(ib_uverbs_ioctl_hdr *command);
	void change_attr(ib_uverbs_ioctl_hdr *command);
	void legacy(int fd, const ib_uverbs_ioctl_hdr *command);
	void send_changed(int fd, std::vector<uint32_t> words, const char *name);

	Rng rng_;
	Tally &tally_;
	bool contexts_;
	/*
	 * The bytes that an attribute points to are copied here: nothing but the kernel is to be
	 * hurt.
	 */
	std::unique_ptr<uint8_t[][area]> scratch_;
};

} // namespace hostile

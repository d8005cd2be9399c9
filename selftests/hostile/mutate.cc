// SPDX-License-Identifier: GPL-2.0
#include "mutate.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

namespace hostile {

namespace {

bool looks_like_pointer(uint64_t value)
{
	return value >= 1 << 20 && value < 1ULL << 47;
}

bool invokes_write(const ib_uverbs_ioctl_hdr *c)
{
	return c->object_id == UVERBS_OBJECT_DEVICE && c->method_id == UVERBS_METHOD_INVOKE_WRITE;
}

bool gets_context(const ib_uverbs_ioctl_hdr *c)
{
	return c->object_id == UVERBS_OBJECT_DEVICE && c->method_id == UVERBS_METHOD_GET_CONTEXT;
}

const ib_uverbs_attr *attr_of(const ib_uverbs_ioctl_hdr *c, uint16_t id)
{
	for (unsigned i = 0; i < c->num_attrs; i++)
		if (c->attrs[i].attr_id == id)
			return &c->attrs[i];
	return nullptr;
}

std::string name_of(const ib_uverbs_ioctl_hdr *c)
{
	const ib_uverbs_attr *cmd = attr_of(c, UVERBS_ATTR_WRITE_CMD);
	char name[28];

	if (invokes_write(c) && cmd)
		snprintf(name, sizeof(name), "changed ioctl, command %u", (unsigned)cmd->data);
	else
		snprintf(name, sizeof(name), "changed ioctl %u.%u", c->object_id, c->method_id);
	return name;
}

/* Of an attribute's data, small or not: it may be read and written for sure. */
const void *inline_or_far(const ib_uverbs_attr &a)
{
	return a.len > sizeof(a.data) || looks_like_pointer(a.data)
		       ? (const void *)(uintptr_t)a.data
		       : &a.data;
}

} // namespace

/* Lets what @command points to lie in scratch memory. */
void Mutator::divert(ib_uverbs_ioctl_hdr *c)
{
	for (unsigned i = 0; i < c->num_attrs; i++) {
		ib_uverbs_attr &a = c->attrs[i];

		if (!a.len || a.len > area ||
		    (a.len <= sizeof(a.data) && !looks_like_pointer(a.data)))
			continue;
		memcpy(scratch_[i], (const void *)(uintptr_t)a.data, a.len);
		a.data = (uintptr_t)scratch_[i];
		/* A response that is named inside of a request would overwrite what is there. */
		uint64_t *q = (uint64_t *)scratch_[i];
		if (invokes_write(c) && a.attr_id == UVERBS_ATTR_UHW_IN && a.len >= 8 &&
		    looks_like_pointer(*q))
			*q = (uintptr_t)scratch_[max_attrs - 1];
	}
}

void Mutator::change_attr(ib_uverbs_ioctl_hdr *c)
{
	unsigned i = rng_.below(c->num_attrs);
	ib_uverbs_attr &a = c->attrs[i];

	switch (rng_.below(12)) {
	case 0: a.len = rng_.pick({0, 1, 4, 8, a.len + 8, a.len - 8, 4096, 65535}); break;
	case 1: a.attr_id = rng_.one_in(2) ? rng_.below(24) : 0x1000 + rng_.below(4); break;
	case 2: a.flags ^= 1 << rng_.below(16); break;
	case 3: a.data = rng_.odd(); break;
	case 4: a.data = rng_.below(64); break;
	case 5: a.attr_data.reserved = rng_.odd(); break;
	default:
		/* most are requests: a word of it */
		if (a.len >= 4 && a.data == (uintptr_t)scratch_[i]) {
			uint32_t word = rng_.one_in(2) ? rng_.below(64) : rng_.odd();
			memcpy(scratch_[i] + rng_.below(a.len / 4) * 4, &word, 4);
		} else {
			a.data = rng_.one_in(2) ? rng_.below(64) : rng_.odd();
		}
	}
}

void Mutator::change(ib_uverbs_ioctl_hdr *c)
{
	switch (rng_.below(24)) {
	case 0: c->method_id = rng_.one_in(4) ? 0x1000 + rng_.below(4) : rng_.below(12); break;
	case 1: c->object_id = rng_.one_in(4) ? 0x1000 + rng_.below(4) : rng_.below(20); break;
	case 2: c->driver_id = rng_.odd(); break;
	case 3:
		if (c->num_attrs) {
			c->num_attrs--;
			c->length -= sizeof(c->attrs[0]);
		}
		break;
	case 4: c->length = rng_.odd(); break;
	case 5: c->num_attrs = rng_.odd(); break;
	default:
		if (c->num_attrs)
			change_attr(c);
	}
}

int Mutator::command(int fd, void *ioctl_command)
{
	const auto *original = static_cast<const ib_uverbs_ioctl_hdr *>(ioctl_command);
	alignas(8) uint8_t copy[sizeof(*original) + 2 * max_attrs * sizeof(ib_uverbs_attr)] = {};
	auto *c = reinterpret_cast<ib_uverbs_ioctl_hdr *>(copy);

	if (original->num_attrs >= max_attrs || rng_.one_in(2))
		return kernel_ioctl(fd, ioctl_command);
	memcpy(copy, original, sizeof(*original) + original->num_attrs * sizeof(ib_uverbs_attr));
	divert(c);
	std::string name = name_of(c);
	/* One time in eight as it was: so it is known to be one that works. */
	if (!rng_.one_in(8))
		for (unsigned n = 1 + rng_.below(3); n; n--)
			change(c);
	/* A changed one may be refused, and the original after one that is not. */
	if (contexts_ || (!gets_context(original) && !gets_context(c)))
		tally_.note(name.c_str(), kernel_ioctl(fd, c) == 0);
	if (invokes_write(original) && rng_.one_in(2))
		legacy(fd, original);
	return kernel_ioctl(fd, ioctl_command);
}

/* The same as a command of the old kind: a header, the request, the driver's part. */
void Mutator::legacy(int fd, const ib_uverbs_ioctl_hdr *c)
{
	const ib_uverbs_attr *in = attr_of(c, UVERBS_ATTR_CORE_IN),
			     *out = attr_of(c, UVERBS_ATTR_CORE_OUT);
	const ib_uverbs_attr *cmd = attr_of(c, UVERBS_ATTR_WRITE_CMD);
	char name[28];

	if (!in || !cmd || in->len > area || in->len % 8)
		return;
	uint32_t response = out ? 512 : 0, request = in->len;
	std::vector<uint32_t> words(2);
	if (cmd->data >= 50) {
		uint64_t where = response ? (uintptr_t)scratch_[max_attrs - 2] : 0;
		words[0] = (cmd->data & 0xff) | 0x80000000;
		words[1] = (request / 8) | (response / 8) << 16;
		words.insert(words.end(), {(uint32_t)where, (uint32_t)(where >> 32), 0, 0});
	} else {
		words[0] = cmd->data;
		words[1] = (2 + request / 4) | (response / 4) << 16;
	}
	const auto *from = static_cast<const uint32_t *>(inline_or_far(*in));
	words.insert(words.end(), from, from + request / 4);
	snprintf(name, sizeof(name), "changed write, command %u", (unsigned)cmd->data);
	send_changed(fd, words, name);
}

void Mutator::send_changed(int fd, std::vector<uint32_t> words, const char *name)
{
	uint64_t response;

	/* Nearly all requests with a response begin with where it is to go. */
	if (words.size() >= 4) {
		memcpy(&response, &words[2], 8);
		if (looks_like_pointer(response)) {
			response = (uintptr_t)scratch_[max_attrs - 2];
			memcpy(&words[2], &response, 8);
		}
	}
	if (!rng_.one_in(4)) {
		switch (rng_.below(8)) {
		case 0: words[0] = rng_.below(52); break;
		case 1: words[1] = rng_.odd(); break;
		case 2: words.resize(2 + rng_.below(words.size() + 8)); break;
		default:
			words[2 + rng_.below(words.size() - 2)] =
				rng_.one_in(2) ? rng_.below(64) : rng_.odd();
		}
	}
	tally_.note(name, kernel_write(fd, words.data(), words.size() * 4) > 0);
}

ssize_t Mutator::command(int fd, const void *written, size_t length)
{
	const auto *from = static_cast<const uint32_t *>(written);
	char name[28];

	if (length >= 12 && length <= area && rng_.one_in(2)) {
		snprintf(name, sizeof(name), "changed write, command %u", from[0] & 0xff);
		send_changed(fd, {from, from + length / 4}, name);
	}
	return kernel_write(fd, written, length);
}

} // namespace hostile

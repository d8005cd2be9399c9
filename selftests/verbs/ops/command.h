/* SPDX-License-Identifier: GPL-2.0 */
/* A command of the kernel's old interface, as write() takes it: below libibverbs, without what a provider does. */
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <rdma/ib_user_verbs.h>
#include <unistd.h>
#include <vector>

namespace ops {

/** Returns 0 or the errno. */
template <typename Request>
int command(int fd, unsigned number, const Request &request, size_t answer,
	    const std::vector<uint8_t> &more = {})
{
	std::vector<uint8_t> bytes(sizeof(ib_uverbs_cmd_hdr) + sizeof(request) + more.size());
	ib_uverbs_cmd_hdr hdr{};
	hdr.command = number;
	hdr.in_words = bytes.size() / 4;
	hdr.out_words = answer / 4;
	memcpy(bytes.data(), &hdr, sizeof(hdr));
	memcpy(bytes.data() + sizeof(hdr), &request, sizeof(request));
	std::ranges::copy(more, bytes.begin() + sizeof(hdr) + sizeof(request));
	return write(fd, bytes.data(), bytes.size()) == ssize_t(bytes.size()) ? 0 : errno;
}

/** Room for any answer. */
inline uint64_t answer_room[64];

inline uint64_t answer_addr()
{
	return reinterpret_cast<uintptr_t>(answer_room);
}

/** An empty one, whose answer has room. */
template <typename Request>
Request request()
{
	Request r{};
	if constexpr (requires { r.response; })
		r.response = answer_addr();
	return r;
}

} // namespace ops

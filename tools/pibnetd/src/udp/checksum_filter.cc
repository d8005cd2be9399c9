// SPDX-License-Identifier: GPL-2.0
#include "udp/checksum_filter.h"

#include <linux/filter.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>

#include "wire/proto.h"

namespace pib::netd {
namespace {

// Offsets from the UDP header.
constexpr std::uint32_t kChecksum = 6;
constexpr std::uint32_t kType = sizeof(udphdr);
constexpr std::uint32_t kFlags = kType + 1;
constexpr std::uint32_t kHeaders = sizeof(udphdr) + PIB_DG_HDR_LEN;

} // namespace

bool attach_checksum_filter(int fd)
{
	std::array<sock_filter, 10> code = {{
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, kChecksum),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 7),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kType),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PIB_DG_VERSION << 4 | PIB_DG_DATA, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PIB_DG_VERSION << 4 | PIB_DG_SEGMENT, 0, 4),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kFlags),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PIB_DG_NOICRC | PIB_DG_SEALED),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PIB_DG_NOICRC, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, kHeaders),
		BPF_STMT(BPF_RET | BPF_K, ~0u),
	}};
	const sock_fprog program = {code.size(), code.data()};
	return ::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0;
}

} // namespace pib::netd

// SPDX-License-Identifier: GPL-2.0
#include "capture/records.h"

#include <linux/pib_capture.h>

#include <cerrno>
#include <cstring>

namespace pib::ctl {

Result<std::vector<CapturedPacket>> split_records(View bytes)
{
	std::vector<CapturedPacket> packets;
	while (!bytes.empty()) {
		pib_capture_packet head;
		if (bytes.size() >= sizeof(head))
			std::memcpy(&head, bytes.data(), sizeof(head));
		if (bytes.size() < sizeof(head) || head.size > bytes.size() ||
		    head.size < sizeof(head) + head.captured)
			return Error{"the kernel's records of packets are malformed", EBADMSG};
		packets.push_back({head.time, head.port, head.len,
				   bytes.subspan(sizeof(head), head.captured), head.flags,
				   head.reason});
		bytes = bytes.subspan(head.size);
	}
	return packets;
}

} // namespace pib::ctl

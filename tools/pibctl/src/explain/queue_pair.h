// SPDX-License-Identifier: GPL-2.0
// A queue pair as RDMA netlink tells of it, and in words why it does not move.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/bytes.h"
#include "model/objects.h"
#include "model/result.h"

namespace pib::ctl {

/// As struct ib_qp has them (11.2.5 of the IBA's volume 1).
enum class QpState : std::uint8_t { kReset, kInit, kRtr, kRts, kSqd, kSqe, kErr };

/// Of enum ib_qp_type those whose words differ.
enum QpType : std::uint8_t {
	kQpGsi = 1,
	kQpRc = 2,
	kQpUd = 4,
	kQpXrcInitiator = 9,
	kQpXrcTarget = 10
};

struct QueuePair {
	QpState state = QpState::kReset;
	std::uint8_t type = kQpRc;
	std::uint32_t qpn = 0;
	std::optional<std::uint32_t> remote_qpn;
	std::optional<std::uint32_t> pid;
	/// The module's own details: names as "rdma -dd resource show qp" has them.
	std::map<std::string, std::uint64_t> details;

	std::uint64_t detail(const std::string &name) const
	{
		const auto found = details.find(name);
		return found == details.end() ? 0 : found->second;
	}
};

/// Reads the attributes of an answer to RDMA_NLDEV_CMD_RES_QP_GET.
QueuePair read_queue_pair(View attributes);

/// Sentences, the most telling first; never none. port: that of the queue pair, if it is known.
std::vector<std::string> explain(const QueuePair &qp, const std::string &hca,
				 const std::optional<Port> &port);

} // namespace pib::ctl

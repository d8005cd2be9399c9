// SPDX-License-Identifier: GPL-2.0
#include "explain/queue_pair.h"

#include <rdma/rdma_netlink.h>

#include <algorithm>
#include <cstring>

#include "netlink/attributes.h"

namespace pib::ctl {
namespace {

std::string text_of(View payload)
{
	return {payload.begin(), std::ranges::find(payload, std::uint8_t{0})};
}

std::uint64_t number_of(View payload)
{
	std::uint64_t wide = 0;
	std::uint32_t narrow = 0;
	if (payload.size() == sizeof(wide))
		std::memcpy(&wide, payload.data(), sizeof(wide));
	if (payload.size() != sizeof(narrow))
		return wide;
	std::memcpy(&narrow, payload.data(), sizeof(narrow));
	return narrow;
}

/// Names and numbers alternate; a format for the number may stand between them.
std::map<std::string, std::uint64_t> read_details(const Attributes &driver)
{
	std::map<std::string, std::uint64_t> details;
	std::string name;
	for (const Attribute &attribute : driver.all()) {
		if (attribute.type == RDMA_NLDEV_ATTR_DRIVER_STRING)
			name = text_of(attribute.payload);
		else if (attribute.type == RDMA_NLDEV_ATTR_DRIVER_U32 ||
			 attribute.type == RDMA_NLDEV_ATTR_DRIVER_U64)
			details[name] = number_of(attribute.payload);
	}
	return details;
}

} // namespace

QueuePair read_queue_pair(View stream)
{
	const Attributes attributes(stream);
	QueuePair qp;
	qp.state = static_cast<QpState>(
		attributes.number<std::uint8_t>(RDMA_NLDEV_ATTR_RES_STATE).value_or(0));
	qp.type = attributes.number<std::uint8_t>(RDMA_NLDEV_ATTR_RES_TYPE).value_or(0);
	qp.qpn = attributes.number<std::uint32_t>(RDMA_NLDEV_ATTR_RES_LQPN).value_or(0);
	qp.remote_qpn = attributes.number<std::uint32_t>(RDMA_NLDEV_ATTR_RES_RQPN);
	qp.pid = attributes.number<std::uint32_t>(RDMA_NLDEV_ATTR_RES_PID);
	if (const auto driver = attributes.nest(RDMA_NLDEV_ATTR_DRIVER))
		qp.details = read_details(*driver);
	/// Of XRC the kernel says it nowhere else.
	if (!qp.remote_qpn && qp.detail("remote_qpn"))
		qp.remote_qpn = static_cast<std::uint32_t>(qp.detail("remote_qpn"));
	return qp;
}

} // namespace pib::ctl

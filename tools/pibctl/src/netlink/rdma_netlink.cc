// SPDX-License-Identifier: GPL-2.0
#include "netlink/rdma_netlink.h"

#include <fmt/format.h>
#include <libmnl/libmnl.h>
#include <rdma/rdma_netlink.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>

#include "netlink/attributes.h"

namespace pib::ctl {
namespace {

constexpr std::uint32_t kSequence = 1;

class RdmaRequest {
public:
	RdmaRequest(std::uint16_t command, std::uint16_t flags)
		: header_(mnl_nlmsg_put_header(buffer_.data()))
	{
		header_->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
		header_->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
		header_->nlmsg_seq = kSequence;
	}

	void put(std::uint16_t type, std::uint32_t value) { mnl_attr_put_u32(header_, type, value); }
	View bytes() const { return {buffer_.data(), header_->nlmsg_len}; }

private:
	alignas(nlmsghdr) std::array<std::uint8_t, 256> buffer_{};
	nlmsghdr *header_;
};

/// What the kernel says of a request: errors with their number.
Status status_of(const nlmsghdr *header)
{
	std::int32_t error = 0;
	if (mnl_nlmsg_get_payload_len(header) >= sizeof(error))
		std::memcpy(&error, mnl_nlmsg_get_payload(header), sizeof(error));
	if (error < 0)
		return Error{fmt::format("the kernel refuses: {}", std::strerror(-error)), -error};
	return success();
}

using Take = std::function<void(View attributes)>;

/// Hands on the attributes of all answers. A request that is no dump has one answer or an error.
Status exchange(Transport &transport, const RdmaRequest &request, bool dump, const Take &take)
{
	if (auto sent = transport.send(request.bytes()); !sent)
		return sent;
	for (;;) {
		const auto datagram = transport.receive();
		if (!datagram)
			return datagram.error();
		int left = static_cast<int>(datagram->size());
		const auto *header = reinterpret_cast<const nlmsghdr *>(datagram->data());
		for (; mnl_nlmsg_ok(header, left); header = mnl_nlmsg_next(header, &left)) {
			if (header->nlmsg_seq != kSequence)
				continue;
			if (header->nlmsg_type == NLMSG_ERROR || header->nlmsg_type == NLMSG_DONE)
				return status_of(header);
			take({static_cast<const std::uint8_t *>(mnl_nlmsg_get_payload(header)),
			      mnl_nlmsg_get_payload_len(header)});
			if (!dump)
				return success();
		}
	}
}

Result<std::uint32_t> find_device(Transport &transport, const std::string &name)
{
	std::optional<std::uint32_t> index;
	const auto done = exchange(
		transport, RdmaRequest(RDMA_NLDEV_CMD_GET, NLM_F_DUMP), true, [&](View stream) {
			const Attributes device(stream);
			if (device.text(RDMA_NLDEV_ATTR_DEV_NAME) == name)
				index = device.number<std::uint32_t>(RDMA_NLDEV_ATTR_DEV_INDEX);
		});
	if (!done)
		return done.error();
	if (!index)
		return Error{fmt::format("no RDMA device '{}' in this network namespace", name), ENODEV};
	return *index;
}

} // namespace

Result<Bytes> ask_queue_pair(Transport &transport, const std::string &device, std::uint32_t qpn)
{
	const auto index = find_device(transport, device);
	if (!index)
		return index.error();
	RdmaRequest request(RDMA_NLDEV_CMD_RES_QP_GET, 0);
	request.put(RDMA_NLDEV_ATTR_DEV_INDEX, *index);
	request.put(RDMA_NLDEV_ATTR_RES_LQPN, qpn);
	Bytes answer;
	const auto done = exchange(transport, request, false, [&](View stream) {
		answer.assign(stream.begin(), stream.end());
	});
	if (!done && done.error().code == ENOENT)
		return Error{fmt::format("'{}' has no queue pair {}", device, qpn), ENOENT};
	if (!done)
		return done.error();
	return answer;
}

} // namespace pib::ctl

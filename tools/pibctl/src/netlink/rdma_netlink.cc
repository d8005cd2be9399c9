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
	explicit RdmaRequest(std::uint16_t command) : header_(mnl_nlmsg_put_header(buffer_.data()))
	{
		header_->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
		header_->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
		header_->nlmsg_seq = kSequence;
	}

	void put(std::uint16_t type, std::uint32_t value)
	{
		mnl_attr_put_u32(header_, type, value);
	}
	View bytes() const { return {buffer_.data(), header_->nlmsg_len}; }

private:
	alignas(nlmsghdr) std::array<std::uint8_t, 256> buffer_{};
	nlmsghdr *header_;
};

/// The kernel's answer to a request: errors with their number.
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

/// Hands on the attributes of all answers.
Status dump(Transport &transport, const RdmaRequest &request, const Take &take)
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
		}
	}
}

Result<std::uint32_t> find_device(Transport &transport, const std::string &name)
{
	std::optional<std::uint32_t> index;
	const auto done = dump(transport, RdmaRequest(RDMA_NLDEV_CMD_GET), [&](View stream) {
		const Attributes device(stream);
		if (device.text(RDMA_NLDEV_ATTR_DEV_NAME) == name)
			index = device.number<std::uint32_t>(RDMA_NLDEV_ATTR_DEV_INDEX);
	});
	if (!done)
		return done.error();
	if (!index)
		return Error{fmt::format("no RDMA device '{}' in this network namespace", name),
			     ENODEV};
	return *index;
}

} // namespace

// A single queue pair can be asked for by its port alone, which one in RESET has none of.
Result<std::vector<Bytes>> ask_queue_pairs(Transport &transport, const std::string &device,
					   std::uint32_t qpn)
{
	const auto index = find_device(transport, device);
	if (!index)
		return index.error();
	RdmaRequest request(RDMA_NLDEV_CMD_RES_QP_GET);
	request.put(RDMA_NLDEV_ATTR_DEV_INDEX, *index);
	std::vector<Bytes> found;
	const auto take = [&](View stream) {
		const auto table = Attributes(stream).nest(RDMA_NLDEV_ATTR_RES_QP);
		if (!table)
			return;
		for (const Attribute &entry : table->all())
			if (Attributes(entry.payload)
				    .number<std::uint32_t>(RDMA_NLDEV_ATTR_RES_LQPN) == qpn)
				found.emplace_back(entry.payload.begin(), entry.payload.end());
	};
	// A dump goes on by counting: where queue pairs go meanwhile, others are passed over.
	for (int tries = 0; tries < 3 && found.empty(); tries++)
		if (const auto done = dump(transport, request, take); !done)
			return done.error();
	if (found.empty())
		return Error{fmt::format("'{}' has no queue pair {}", device, qpn), ENOENT};
	return found;
}

} // namespace pib::ctl

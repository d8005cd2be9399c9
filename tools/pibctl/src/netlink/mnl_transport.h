// SPDX-License-Identifier: GPL-2.0
// The kernel's generic netlink and RDMA netlink, through libmnl.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "netlink/transport.h"

namespace pib::ctl {

Result<std::unique_ptr<Transport>> open_mnl_transport();
Result<std::unique_ptr<Transport>> open_rdma_transport();

/// Hears groups of generic netlink. receive() does not wait, but fails with EAGAIN where nothing has
/// come. It fails with ENOBUFS where messages were lost, and goes on with those that were not.
class Listener : public Transport {
public:
	/// To be polled.
	virtual int fd() const = 0;
};

Result<std::unique_ptr<Listener>> listen_to(std::initializer_list<std::uint32_t> groups);

} // namespace pib::ctl

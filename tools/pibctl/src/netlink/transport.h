// SPDX-License-Identifier: GPL-2.0
// A netlink socket, as far as a session needs one. Tests put a fake behind it.
#pragma once

#include <functional>
#include <memory>

#include "model/bytes.h"
#include "model/result.h"

namespace pib::ctl {

class Transport {
public:
	virtual ~Transport() = default;

	virtual Status send(View message) = 0;
	/// One whole datagram from the kernel, whatever its size.
	virtual Result<Bytes> receive() = 0;
};

using TransportFactory = std::function<Result<std::unique_ptr<Transport>>()>;

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
// Datagrams that were taken out of sockets. Receive buffers are small where nobody has raised
// net.core.rmem_max. So the sockets are emptied again and again, also in between sending, and the
// datagrams wait here for their turn.
#pragma once

#include <memory>
#include <vector>

#include "wire/wire.h"

namespace pib::netd {

class Intake {
public:
	Intake();
	~Intake();

	/// Moves what the socket has into free places; number becomes Path::socket.
	void fill(int fd, unsigned number);
	bool empty() const { return waiting_.empty(); }
	/// The next datagrams or super-packets, a batch at most, oldest first. They and their bytes
	/// stay until the next call.
	std::span<const Arrival> next();

private:
	struct Place;
	struct Headers;

	std::size_t read(int fd, unsigned number, std::size_t most);

	std::vector<std::unique_ptr<Place>> places_;
	std::vector<Place *> free_;
	std::vector<Place *> waiting_;
	std::vector<Place *> taken_;
	std::vector<Arrival> batch_;
	std::unique_ptr<Headers> headers_;
};

} // namespace pib::netd

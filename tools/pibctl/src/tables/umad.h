// SPDX-License-Identifier: GPL-2.0
// SMPs from a port of this machine, over ib_umad.
#pragma once

#include <memory>
#include <string>

#include "tables/smp.h"

namespace pib::ctl {

class Umad {
public:
	static Result<Umad> open(const std::string &hca, std::uint32_t port);
	~Umad();
	Umad(Umad &&other) noexcept;
	Umad &operator=(Umad &&) = delete;

	/// Sends it and waits for the answer.
	Result<Mad> ask(const Mad &mad) const;

private:
	Result<Mad> hear(const Mad &asked) const;

	Umad(int fd, std::uint32_t agent) : fd_(fd), agent_(agent) {}

	int fd_;
	std::uint32_t agent_;
};

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
// What a user is told when the module says no.
#pragma once

#include <span>
#include <string_view>

#include "netlink/answer.h"
#include "netlink/message.h"

namespace pib::ctl {

/// What an error number means for one command, for kernels that do not say it themselves.
struct Reason {
	int code;
	std::string_view text;
};

/// doing: what was asked, as in "add HCA pib0".
Error describe_refusal(std::string_view doing, const Verdict &verdict, const Request &request,
		       std::span<const Reason> reasons);

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
// Texts for a user whose request the module refuses.
#pragma once

#include <span>
#include <string_view>

#include "netlink/answer.h"
#include "netlink/message.h"

namespace pib::ctl {

/// Meaning of an error number for one command, for kernels that do not say it themselves.
struct Reason {
	int code;
	std::string_view text;
};

/// doing: what was asked, as in "add HCA pib0".
Error describe_refusal(std::string_view doing, const Verdict &verdict, const Request &request,
		       std::span<const Reason> reasons);

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
// Help texts, from the table of commands.
#pragma once

#include <string>
#include <string_view>

#include "commands/commands.h"

namespace pib::ctl {

std::string usage_of(const Command &command);
std::string help_for_all();
std::string help_for(const Group &group);
std::string help_for(const Command &command);

} // namespace pib::ctl

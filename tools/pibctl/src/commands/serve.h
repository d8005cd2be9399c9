// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "commands/commands.h"

namespace pib::ctl {

/// "pibctl fabric serve"
Status serve_fabric(const Context &context, const Arguments &arguments);

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
// "show objects".
#pragma once

#include "commands/commands.h"

namespace pib::ctl {

Status list_objects(const Context &context, const Arguments &arguments);

} // namespace pib::ctl

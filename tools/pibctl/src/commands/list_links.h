// SPDX-License-Identifier: GPL-2.0
// Lists that have a selection by NAME or NAME/PORT; shared by "link show" and "show links".
#pragma once

#include "commands/commands.h"

namespace pib::ctl {

Status list_links(const Context &context, const Arguments &arguments);
Status list_peers(const Context &context, const Arguments &arguments);
Status list_counters(const Context &context, const Arguments &arguments);

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "model/objects.h"
#include "model/show/output.h"

namespace pib::inline model {

/// Prints the faults of a cable, and the fate of the packets in it.
void show_faults(Output &out, const Faults &faults);

} // namespace pib::inline model

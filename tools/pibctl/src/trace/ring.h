// SPDX-License-Identifier: GPL-2.0
// The ring of "trace start": the kernel fills it while no pibctl runs, and the oldest is overwritten.
#pragma once

#include <functional>
#include <string>

#include "model/result.h"
#include "trace/filter.h"
#include "trace/line.h"

namespace pib::ctl {

/// There is one ring. A failure leaves none.
Status start_ring(const std::string &tracefs, const TraceRequest &request);

/// Gives what is in the ring, as far as it has happened before the call, until take() says no. All of
/// it stays there. The count of overwritten events comes first, as kLost for each CPU.
Status show_ring(const std::string &tracefs, const std::function<bool(const TraceRecord &)> &take);

/// With all that is in it.
Status stop_ring(const std::string &tracefs);

} // namespace pib::ctl

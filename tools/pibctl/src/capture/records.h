// SPDX-License-Identifier: GPL-2.0
// What is read from the module: records of packets.
#pragma once

#include <vector>

#include "capture/erf.h"
#include "model/result.h"

namespace pib::ctl {

/// The packets in what one read has returned, which must outlive them.
Result<std::vector<CapturedPacket>> split_records(View bytes);

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
// Records of packets, as they are read from the module.
#pragma once

#include <vector>

#include "capture/erf.h"
#include "model/result.h"

namespace pib::ctl {

/// The packets in what one read has returned, which must outlive them.
Result<std::vector<CapturedPacket>> split_records(View bytes);

} // namespace pib::ctl

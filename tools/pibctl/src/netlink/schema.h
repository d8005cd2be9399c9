// SPDX-License-Identifier: GPL-2.0
// Names of the family's attributes, to tell a user which one was refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "netlink/transport.h"

namespace pib::ctl {

/// The attribute whose header lies at this offset of a request, with the nests
/// around it: "peer/port".
std::optional<std::string> attribute_at(View request, std::size_t offset);

/// The attribute of this type in the nest at an offset of the request, or at top level.
std::string missing_attribute(View request, std::optional<std::size_t> nest, std::uint16_t type);

} // namespace pib::ctl

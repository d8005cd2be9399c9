// SPDX-License-Identifier: GPL-2.0
// What the numbers of an object of verbs mean.
#pragma once

#include <optional>
#include <string>

#include "objects/verbs_object.h"

namespace pib::ctl {

/// A fact in words, as "RC" for the type of a QP; nothing if it is but a number.
std::optional<std::string> fact_words(const VerbsObject &object, const VerbsObject::Fact &fact);
/// What a QP waits for at this moment, as "acknowledgement"; empty: for nothing.
std::string waits_for(const VerbsObject &object);
/// "2026-11-25T17:00:00.123456789Z".
std::string time_words(std::uint64_t nanoseconds);
/// "fe80::1".
std::string gid_words(const std::array<std::uint8_t, 16> &gid);

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
// Words for the numbers of an object of verbs.
#pragma once

#include <optional>
#include <string>

#include "objects/verbs_object.h"

namespace pib::ctl {

/// A fact in words, as "RC" for the type of a QP; nothing if it is but a number.
std::optional<std::string> fact_words(const VerbsObject &object, const VerbsObject::Fact &fact);
/// The thing for which a QP waits at this moment, as "acknowledgement"; empty: it does not wait.
std::string waits_for(const VerbsObject &object);
/// "2026-11-25T17:00:00.123456789Z".
std::string time_words(std::uint64_t nanoseconds);
/// "fe80::1".
std::string gid_words(const std::array<std::uint8_t, 16> &gid);

} // namespace pib::ctl

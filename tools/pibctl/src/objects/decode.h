// SPDX-License-Identifier: GPL-2.0
// Plain data, from the module's answers. An answer that lacks what names the object is an error.
#pragma once

#include <vector>

#include "model/objects.h"
#include "netlink/session.h"
#include "objects/event.h"
#include "objects/requests.h"

namespace pib::ctl {

// A node with many ports may come in several answers that follow each other.
Result<std::vector<Hca>> decode_hcas(const std::vector<Answer> &answers);
Result<std::vector<Switch>> decode_switches(const std::vector<Answer> &answers);
Result<std::vector<Link>> decode_links(const std::vector<Answer> &answers);
Result<std::vector<Uplink>> decode_uplinks(const std::vector<Answer> &answers);

/// Reads the attributes of a notification.
Result<Event> decode_event(View attributes);

/// The file descriptor of a capture.
Result<int> decode_capture(const std::vector<Answer> &answers);

/// The number of a rule; none: it has happened already.
std::optional<std::uint32_t> decode_injection_id(const std::vector<Answer> &answers);
Result<std::vector<Injection>> decode_injections(const std::vector<Answer> &answers);

/// The module's version if an answer carries it.
std::optional<std::string> decode_module_version(const std::vector<Answer> &answers);

} // namespace pib::ctl

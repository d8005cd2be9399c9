// SPDX-License-Identifier: GPL-2.0
// Requests to the module, from plain data.
#pragma once

#include <cstdint>
#include <string_view>

#include "netlink/message.h"
#include "model/objects.h"
#include "objects/requests.h"

namespace pib::ctl {

Request encode_add_hca(const HcaRequest &hca);
Request encode_set_keys(const KeysRequest &keys);
Request encode_set_behavior(const BehaviorRequest &behavior);
Request encode_add_switch(const SwitchRequest &node);
Request encode_add_link(const LinkRequest &link);
/// A command that takes a name only: deletion of, or a question after, one object.
Request encode_named(std::uint8_t command, std::uint16_t name_attribute, std::string_view name);
Request encode_delete_link(const End &end);
Request encode_change_link(const LinkChange &change);
Request encode_inject(const Injection &injection);
/// id: absent for all of the HCA.
Request encode_delete_injection(const std::string &node, bool is_switch,
				std::optional<std::uint32_t> id);
Request encode_capture(const CaptureRequest &capture);
Request encode_dump(std::uint8_t command);
Request encode_change(const Change &change);

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
// An object of verbs as the module tells of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "netlink/session.h"

namespace pib::ctl {

struct VerbsObject {
	std::string hca;
	/// Of enum pib_object_kind.
	std::uint8_t kind = 0;
	std::uint64_t id = 0;
	/// Nanoseconds since 1970.
	std::uint64_t created = 0;
	/// Name of the process, or of the kernel's part.
	std::string owner;
	std::optional<std::uint32_t> pid;
	/// Nothing if the kernel has made it.
	std::optional<std::uint32_t> uid;
	std::optional<std::uint32_t> handle;
	std::optional<std::uint32_t> resource;
	std::optional<std::array<std::uint8_t, 16>> gid;

	struct Fact {
		/// Of enum pib_o_attr.
		std::uint16_t attribute;
		std::uint64_t value;
	};
	/// In the order in which they came.
	std::vector<Fact> facts;

	std::optional<std::uint64_t> fact(std::uint16_t attribute) const;
};

/// "qp"; "kind 99" for one that a newer module has.
std::string kind_name(std::uint8_t kind);
std::span<const char *const> kind_names();
/// "send_cqn": a key of JSON. "fact_99" for what a newer module tells.
std::string fact_name(std::uint16_t attribute);
bool fact_is_hex(std::uint16_t attribute);

Result<std::vector<VerbsObject>> decode_verbs_objects(const std::vector<Answer> &answers);

} // namespace pib::ctl

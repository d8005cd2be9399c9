// SPDX-License-Identifier: GPL-2.0
// Reading of netlink attributes, safe against short and malformed ones.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "netlink/transport.h"

namespace pib::ctl {

struct Attribute {
	std::uint16_t type = 0;
	View payload;
	/// Distance of the attribute's header from the start of the stream.
	std::size_t offset = 0;
};

/// A view: the bytes must outlive it.
class Attributes {
public:
	explicit Attributes(View stream);

	/// False if the stream ended inside an attribute; those before it are kept.
	bool intact() const { return intact_; }
	const std::vector<Attribute> &all() const & { return all_; }
	const std::vector<Attribute> &all() const && = delete;
	const Attribute *find(std::uint16_t type) const;
	bool has(std::uint16_t type) const { return find(type) != nullptr; }

	/// Unsigned numbers of 1, 2, 4 or 8 bytes, whichever was sent.
	template <std::unsigned_integral T>
	std::optional<T> number(std::uint16_t type) const
	{
		const auto wide = wide_number(type);
		if (!wide || *wide > std::numeric_limits<T>::max())
			return std::nullopt;
		return static_cast<T>(*wide);
	}

	/// Up to the first NUL or the attribute's end.
	std::optional<std::string> text(std::uint16_t type) const;
	std::optional<Attributes> nest(std::uint16_t type) const;
	std::vector<Attributes> nests(std::uint16_t type) const;

private:
	std::optional<std::uint64_t> wide_number(std::uint16_t type) const;

	std::vector<Attribute> all_;
	bool intact_ = true;
};

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
#include "netlink/attributes.h"

#include <linux/netlink.h>

#include <algorithm>
#include <cstring>

namespace pib::ctl {
namespace {

template <typename T>
std::uint64_t load(View payload)
{
	T value;
	std::memcpy(&value, payload.data(), sizeof(value));
	return value;
}

} // namespace

Attributes::Attributes(View stream)
{
	std::size_t at = 0;
	while (at < stream.size()) {
		nlattr header;
		const std::size_t left = stream.size() - at;
		if (left < sizeof(header))
			break;
		std::memcpy(&header, stream.data() + at, sizeof(header));
		if (header.nla_len < sizeof(header) || header.nla_len > left)
			break;
		all_.push_back(
			{static_cast<std::uint16_t>(header.nla_type & NLA_TYPE_MASK),
			 stream.subspan(at + sizeof(header), header.nla_len - sizeof(header)), at});
		at += std::min<std::size_t>(NLA_ALIGN(header.nla_len), left);
	}
	intact_ = at == stream.size();
}

const Attribute *Attributes::find(std::uint16_t type) const
{
	const auto found = std::ranges::find(all_, type, &Attribute::type);
	return found == all_.end() ? nullptr : &*found;
}

std::optional<std::uint64_t> Attributes::wide_number(std::uint16_t type) const
{
	const Attribute *attribute = find(type);
	if (!attribute)
		return std::nullopt;
	switch (attribute->payload.size()) {
	case 1: return load<std::uint8_t>(attribute->payload);
	case 2: return load<std::uint16_t>(attribute->payload);
	case 4: return load<std::uint32_t>(attribute->payload);
	case 8: return load<std::uint64_t>(attribute->payload);
	default: return std::nullopt;
	}
}

std::optional<std::string> Attributes::text(std::uint16_t type) const
{
	const Attribute *attribute = find(type);
	if (!attribute)
		return std::nullopt;
	const auto end = std::ranges::find(attribute->payload, std::uint8_t{0});
	return std::string(attribute->payload.begin(), end);
}

std::optional<Attributes> Attributes::nest(std::uint16_t type) const
{
	const Attribute *attribute = find(type);
	if (!attribute)
		return std::nullopt;
	return Attributes(attribute->payload);
}

std::vector<Attributes> Attributes::nests(std::uint16_t type) const
{
	std::vector<Attributes> found;
	for (const Attribute &attribute : all_)
		if (attribute.type == type)
			found.emplace_back(attribute.payload);
	return found;
}

} // namespace pib::ctl

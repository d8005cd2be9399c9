// SPDX-License-Identifier: GPL-2.0
#include "netlink/schema.h"

#include <fmt/format.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/pib.h>

#include <algorithm>
#include <span>

#include "netlink/attributes.h"

namespace pib::ctl {
namespace {

struct Name;
using Names = std::span<const Name>;

struct Name {
	std::uint16_t type;
	const char *text;
	Names nested = {};
};

#include "netlink/attribute_names.inc"

constexpr std::size_t kHeaders = NLMSG_HDRLEN + GENL_HDRLEN;

struct Place {
	std::string path;
	Names nested;
};

Place name_of(Names names, std::uint16_t type)
{
	const auto found = std::ranges::find(names, type, &Name::type);
	if (found == names.end())
		return {fmt::format("number {}", type), {}};
	return {found->text, found->nested};
}

std::optional<Place> place_at(View stream, std::size_t offset, Names names)
{
	const Attributes attributes(stream);
	for (const Attribute &attribute : attributes.all()) {
		const std::size_t end = attribute.offset + NLA_HDRLEN + attribute.payload.size();
		if (offset < attribute.offset || offset >= end)
			continue;
		Place place = name_of(names, attribute.type);
		if (offset == attribute.offset || place.nested.empty())
			return place;
		const std::size_t inside = offset - attribute.offset;
		if (inside < NLA_HDRLEN)
			return place;
		const auto inner = place_at(attribute.payload, inside - NLA_HDRLEN, place.nested);
		if (!inner)
			return place;
		return Place{fmt::format("{}/{}", place.path, inner->path), inner->nested};
	}
	return std::nullopt;
}

std::optional<Place> place_in(View request, std::size_t offset)
{
	if (offset < kHeaders || request.size() < kHeaders)
		return std::nullopt;
	return place_at(request.subspan(kHeaders), offset - kHeaders, kMainNames);
}

} // namespace

std::optional<std::string> attribute_at(View request, std::size_t offset)
{
	const auto place = place_in(request, offset);
	if (!place)
		return std::nullopt;
	return place->path;
}

std::string missing_attribute(View request, std::optional<std::size_t> nest, std::uint16_t type)
{
	if (!nest)
		return name_of(kMainNames, type).path;
	const auto place = place_in(request, *nest);
	if (!place)
		return fmt::format("number {}", type);
	return fmt::format("{}/{}", place->path, name_of(place->nested, type).path);
}

} // namespace pib::ctl

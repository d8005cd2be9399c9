// SPDX-License-Identifier: GPL-2.0
#include "objects/verbs_object.h"

#include <fmt/format.h>
#include <linux/pib.h>

#include <algorithm>

#include "netlink/answer.h"
#include "netlink/attributes.h"

namespace pib::ctl {
namespace {

struct FactName {
	std::uint16_t attribute;
	const char *text;
	bool hex;
};

#include "netlink/object_names.inc"

const FactName *find_name(std::uint16_t attribute)
{
	const auto found = std::ranges::find(kFactNames, attribute, &FactName::attribute);
	return found == std::end(kFactNames) ? nullptr : found;
}

/// Facts are the numbers of 64 bits behind those that every object has.
bool is_fact(const Attribute &attribute)
{
	return attribute.type > PIB_O_GID && attribute.payload.size() == sizeof(std::uint64_t);
}

std::optional<std::array<std::uint8_t, 16>> read_gid(const Attributes &attributes)
{
	const Attribute *gid = attributes.find(PIB_O_GID);
	std::array<std::uint8_t, 16> bytes;
	if (!gid || gid->payload.size() != bytes.size())
		return std::nullopt;
	std::ranges::copy(gid->payload, bytes.begin());
	return bytes;
}

Result<VerbsObject> decode_one(const Attributes &message)
{
	const auto hca = message.text(PIB_A_HCA_NAME);
	const auto attributes = message.nest(PIB_A_OBJECT);
	if (!message.intact() || !hca || !attributes || !attributes->intact())
		return malformed_answer("an object without an HCA, or cut short");
	const auto kind = attributes->number<std::uint8_t>(PIB_O_KIND);
	const auto id = attributes->number<std::uint64_t>(PIB_O_ID);
	if (!kind || !id)
		return malformed_answer("an object without a number");
	VerbsObject object;
	object.hca = *hca;
	object.kind = *kind;
	object.id = *id;
	object.created = attributes->number<std::uint64_t>(PIB_O_CREATED).value_or(0);
	object.owner = attributes->text(PIB_O_OWNER).value_or("");
	object.pid = attributes->number<std::uint32_t>(PIB_O_PID);
	object.uid = attributes->number<std::uint32_t>(PIB_O_UID);
	object.handle = attributes->number<std::uint32_t>(PIB_O_HANDLE);
	object.resource = attributes->number<std::uint32_t>(PIB_O_RESOURCE);
	object.gid = read_gid(*attributes);
	for (const Attribute &attribute : attributes->all())
		if (is_fact(attribute))
			object.facts.push_back(
				{attribute.type,
				 attributes->number<std::uint64_t>(attribute.type).value_or(0)});
	return object;
}

} // namespace

std::optional<std::uint64_t> VerbsObject::fact(std::uint16_t attribute) const
{
	const auto found = std::ranges::find(facts, attribute, &Fact::attribute);
	if (found == facts.end())
		return std::nullopt;
	return found->value;
}

std::span<const char *const> kind_names()
{
	return kKindNames;
}

std::string kind_name(std::uint8_t kind)
{
	return kind < std::size(kKindNames) ? kKindNames[kind] : fmt::format("kind {}", kind);
}

std::string fact_name(std::uint16_t attribute)
{
	const FactName *name = find_name(attribute);
	return name ? name->text : fmt::format("fact_{}", attribute);
}

bool fact_is_hex(std::uint16_t attribute)
{
	const FactName *name = find_name(attribute);
	return name && name->hex;
}

Result<std::vector<VerbsObject>> decode_verbs_objects(const std::vector<Answer> &answers)
{
	std::vector<VerbsObject> objects;
	for (const Answer &answer : answers) {
		auto object = decode_one(Attributes(answer.attributes));
		if (!object)
			return object.error();
		objects.push_back(std::move(*object));
	}
	return objects;
}

} // namespace pib::ctl

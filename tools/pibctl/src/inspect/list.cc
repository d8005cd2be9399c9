// SPDX-License-Identifier: GPL-2.0
#include "inspect/list.h"

#include <fmt/format.h>

#include "inspect/words.h"

namespace pib::ctl {
namespace {

/// Facts of an object that has many of them stand on lines of so many.
constexpr std::size_t kFactsOfLine = 9;

void show_number(Output &out, std::string_view key, std::optional<std::uint32_t> number)
{
	if (number)
		out.field(key, std::uint64_t{*number});
}

void show_owner(Output &out, const VerbsObject &object)
{
	out.key_field("kernel", !object.uid);
	// A process chooses its name.
	if (object.uid)
		out.field("owner", object.owner);
	else
		out.field("owner", object.owner, fmt::format("[{}]", object.owner));
	show_number(out, "pid", object.pid);
	show_number(out, "uid", object.uid);
	show_number(out, "handle", object.handle);
	show_number(out, "resource", object.resource);
	out.key_field("created_ns", object.created);
	out.field("created", time_words(object.created));
}

void show_fact(Output &out, const VerbsObject &object, const VerbsObject::Fact &fact)
{
	const auto key = fact_name(fact.attribute);
	if (const auto words = fact_words(object, fact))
		out.field(key, *words);
	else if (fact_is_hex(fact.attribute))
		out.field(key, fmt::format("{:#x}", fact.value));
	else
		out.field(key, fact.value);
}

void show_facts(Output &out, const VerbsObject &object)
{
	std::size_t shown = 0;
	for (const auto &fact : object.facts) {
		if (shown++ % kFactsOfLine == 0)
			out.line_break();
		show_fact(out, object, fact);
	}
	if (object.gid)
		out.field("gid", gid_words(*object.gid));
	if (const auto waits = waits_for(object); !waits.empty())
		out.field("waits_for", waits);
}

void show_object(Output &out, const VerbsObject &object)
{
	const auto kind = kind_name(object.kind);
	out.begin_item(fmt::format("{} {} {}", object.hca, kind, object.id));
	out.key_field("hca", object.hca);
	out.key_field("kind", kind);
	out.key_field("id", object.id);
	show_owner(out, object);
	show_facts(out, object);
	out.end_item();
}

} // namespace

void show_verbs_objects(Output &out, const std::vector<VerbsObject> &objects)
{
	out.begin_list("objects");
	for (const VerbsObject &object : objects)
		show_object(out, object);
	out.end_list();
}

} // namespace pib::ctl

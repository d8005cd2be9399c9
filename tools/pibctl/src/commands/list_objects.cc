// SPDX-License-Identifier: GPL-2.0
#include "commands/list_objects.h"

#include <fmt/format.h>
#include <linux/pib.h>

#include <algorithm>

#include "inspect/list.h"
#include "model/words/parse.h"

namespace pib::ctl {
namespace {

/// Objects selected by the words.
struct Selection {
	std::optional<std::string> hca;
	std::optional<std::uint64_t> kind;
	std::optional<std::uint64_t> pid;
	std::optional<std::uint64_t> qpn;

	bool has(const VerbsObject &object) const
	{
		return (!hca || object.hca == *hca) && (!kind || object.kind == *kind) &&
		       (!pid || object.pid == *pid) &&
		       (!qpn ||
			(object.kind == PIB_OBJECT_KIND_QP && object.fact(PIB_O_QPN) == *qpn));
	}
};

Result<std::uint64_t> parse_kind(const std::string &word)
{
	const auto names = kind_names();
	const auto found = std::ranges::find(names, word);
	if (found != names.end())
		return static_cast<std::uint64_t>(found - names.begin());
	std::string all;
	for (const char *name : names)
		all += fmt::format("{}{}", all.empty() ? "" : ", ", name);
	return usage_error(fmt::format("no kind '{}' of objects: {}", word, all));
}

/// Sets @value from an optional word.
template <typename Parse, typename Value>
Status read(const std::optional<std::string> &word, const Parse &parse, Value &value)
{
	if (!word)
		return success();
	const auto parsed = parse(*word);
	if (!parsed)
		return parsed.error();
	value = *parsed;
	return success();
}

Result<Selection> read_selection(const Arguments &arguments)
{
	const auto parse_pid = [](const std::string &word) {
		return parse_number("pid", word, 1, 0x7FFFFFFF);
	};
	const auto parse_qpn = [](const std::string &word) {
		return parse_number("qp", word, 0, 0xFFFFFF);
	};
	Selection selection;
	for (const Status &status : {read(arguments.maybe("NAME"), parse_name, selection.hca),
				     read(arguments.maybe("kind"), parse_kind, selection.kind),
				     read(arguments.maybe("pid"), parse_pid, selection.pid),
				     read(arguments.maybe("qp"), parse_qpn, selection.qpn)})
		if (!status)
			return status.error();
	return selection;
}

} // namespace

Status list_objects(const Context &context, const Arguments &arguments)
{
	const auto selection = read_selection(arguments);
	if (!selection)
		return selection.error();
	auto objects = context.client.verbs_objects();
	if (!objects)
		return objects.error();
	std::erase_if(*objects, [&](const VerbsObject &object) { return !selection->has(object); });
	show_verbs_objects(context.out, *objects);
	return success();
}

} // namespace pib::ctl

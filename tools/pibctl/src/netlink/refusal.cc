// SPDX-License-Identifier: GPL-2.0
#include "netlink/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "netlink/schema.h"

namespace pib::ctl {
namespace {

constexpr Reason kCommon[] = {
	{EPERM, "no permission"},
	{EOPNOTSUPP,
	 "the loaded module does not know this command; install module and pibctl of one "
	 "release"},
	{ENOMEM, "the kernel is out of memory"},
	{EBUSY, "it is in use"},
};

constexpr std::string_view kCapability =
	"; it takes CAP_NET_ADMIN in the initial user namespace (run it as the machine's root, as with "
	"sudo)";

std::string_view look_up(std::span<const Reason> reasons, int code)
{
	const auto found = std::ranges::find(reasons, code, &Reason::code);
	return found == reasons.end() ? std::string_view{} : found->text;
}

std::string cause(const Verdict &verdict, std::span<const Reason> reasons)
{
	if (!verdict.text.empty())
		return verdict.text;
	for (const auto table : {reasons, std::span<const Reason>(kCommon)})
		if (const auto text = look_up(table, verdict.code); !text.empty())
			return std::string(text);
	return std::strerror(verdict.code);
}

std::string place(const Verdict &verdict, const Request &request)
{
	if (verdict.bad_offset)
		if (const auto name = attribute_at(request.bytes(), *verdict.bad_offset))
			return fmt::format(" (attribute {})", *name);
	if (verdict.missing_type)
		return fmt::format(
			" (attribute {} is missing)",
			missing_attribute(request.bytes(), verdict.missing_nest,
					  static_cast<std::uint16_t>(*verdict.missing_type)));
	return "";
}

std::string accepted(const Verdict &verdict)
{
	if (!verdict.range)
		return "";
	return fmt::format("; accepted: {} to {}", verdict.range->first, verdict.range->second);
}

} // namespace

Error describe_refusal(std::string_view doing, const Verdict &verdict, const Request &request,
		       std::span<const Reason> reasons)
{
	return Error{fmt::format("cannot {}: {}{}{}{}", doing, cause(verdict, reasons),
				 place(verdict, request), accepted(verdict),
				 verdict.code == EPERM ? kCapability : ""),
		     verdict.code};
}

} // namespace pib::ctl

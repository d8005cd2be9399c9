// SPDX-License-Identifier: GPL-2.0
#include "inject/words.h"

#include <fmt/format.h>
#include <linux/pib.h>

#include <algorithm>
#include <iterator>

namespace pib::ctl {
namespace {

constexpr InjectKind kKinds[] = {
	{PIB_INJECT_KIND_QP_ERROR, "qp", "error", InjectValue::kNone},
	{PIB_INJECT_KIND_QP_MIGRATE, "qp", "migrate", InjectValue::kNone},
	{PIB_INJECT_KIND_QP_MIGRATE_ERROR, "qp", "migrate-error", InjectValue::kNone},
	{PIB_INJECT_KIND_CQ_OVERRUN, "cq", "overrun", InjectValue::kNone},
	{PIB_INJECT_KIND_SRQ_ERROR, "srq", "error", InjectValue::kNone},
	{PIB_INJECT_KIND_SRQ_LIMIT, "srq", "limit", InjectValue::kNone},
	{PIB_INJECT_KIND_DEVICE_FATAL, "", "fatal", InjectValue::kNone},
	{PIB_INJECT_KIND_PORT_ERROR, "port", "error", InjectValue::kNone},
	{PIB_INJECT_KIND_DROP, "qp", "drop", InjectValue::kCount},
	{PIB_INJECT_KIND_DUPLICATE, "qp", "duplicate", InjectValue::kCount},
	{PIB_INJECT_KIND_DAMAGE, "qp", "damage", InjectValue::kCount},
	{PIB_INJECT_KIND_CORRUPT, "qp", "corrupt", InjectValue::kCount},
	{PIB_INJECT_KIND_DELAY, "qp", "delay", InjectValue::kTime},
	{PIB_INJECT_KIND_NAK, "qp", "nak", InjectValue::kNak},
	{PIB_INJECT_KIND_RNR, "qp", "rnr", InjectValue::kCount},
	{PIB_INJECT_KIND_SEND_STATUS, "qp", "send-status", InjectValue::kStatus},
	{PIB_INJECT_KIND_RECV_STATUS, "qp", "recv-status", InjectValue::kStatus},
};

struct Code {
	std::string_view word;
	std::uint32_t code;
};
constexpr Code kNaks[] = {
	{"sequence", 0}, {"invalid-request", 1}, {"remote-access", 2}, {"remote-operational", 3}};
/// As <infiniband/verbs.h> numbers them: IBV_WC_RETRY_EXC_ERR is retry-exc.
constexpr Code kStatuses[] = {
	{"loc-len", 1},	    {"loc-qp-op", 2}, {"loc-prot", 4},	    {"wr-flush", 5},
	{"mw-bind", 6},	    {"bad-resp", 7},  {"loc-access", 8},    {"rem-inv-req", 9},
	{"rem-access", 10}, {"rem-op", 11},   {"retry-exc", 12},    {"rnr-retry-exc", 13},
	{"rem-abort", 16},  {"fatal", 19},    {"resp-timeout", 20}, {"general", 21}};
constexpr Code kEvents[] = {{"none", PIB_INJECT_REASON_NONE},
			    {"fatal", PIB_INJECT_REASON_FATAL},
			    {"access", PIB_INJECT_REASON_ACCESS},
			    {"request", PIB_INJECT_REASON_REQUEST}};

Result<std::uint32_t> parse_code(std::string_view what, std::string_view word,
				 std::span<const Code> codes)
{
	const auto found = std::ranges::find(codes, word, &Code::word);
	if (found != codes.end())
		return found->code;
	std::string list;
	for (const Code &code : codes)
		list += fmt::format("{}{}", list.empty() ? "" : ", ", code.word);
	return usage_error(fmt::format("'{}' is no {}: accepted are {}", word, what, list));
}

std::string code_word(std::uint32_t number, std::span<const Code> codes)
{
	const auto found = std::ranges::find(codes, number, &Code::code);
	return found == codes.end() ? fmt::format("{}", number) : std::string(found->word);
}

} // namespace

std::span<const InjectKind> inject_kinds()
{
	return kKinds;
}

const InjectKind *find_inject_kind(std::uint8_t kind)
{
	const auto found = std::ranges::find(kKinds, kind, &InjectKind::kind);
	return found == std::end(kKinds) ? nullptr : &*found;
}

const InjectKind *find_inject_kind(std::string_view object, std::string_view word)
{
	const auto found = std::ranges::find_if(kKinds, [&](const InjectKind &kind) {
		return kind.object == object && kind.word == word;
	});
	return found == std::end(kKinds) ? nullptr : &*found;
}

Result<std::uint32_t> parse_nak(std::string_view word)
{
	return parse_code("NAK", word, kNaks);
}

Result<std::uint32_t> parse_status(std::string_view word)
{
	return parse_code("status of a completion", word, kStatuses);
}

Result<std::uint32_t> parse_inject_event(std::string_view word)
{
	return parse_code("event of a queue pair that fails", word, kEvents);
}

std::string nak_word(std::uint32_t code)
{
	return code_word(code, kNaks);
}

std::string status_word(std::uint32_t status)
{
	return code_word(status, kStatuses);
}

} // namespace pib::ctl

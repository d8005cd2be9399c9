// SPDX-License-Identifier: GPL-2.0
#include "inject/words.h"

#include <fmt/format.h>
#include <linux/pib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>

#include "model/words/parse.h"

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
	{PIB_INJECT_KIND_MAD_STATUS, "qp", "mad-status", InjectValue::kMadStatus},
	{PIB_INJECT_KIND_MAD_LIE, "qp", "lie", InjectValue::kLie},
	{PIB_INJECT_KIND_VERB_ERROR, "verb", "errno", InjectValue::kError},
	{PIB_INJECT_KIND_TX_NOMEM, "qp", "tx-nomem", InjectValue::kCount},
	{PIB_INJECT_KIND_RX_NOMEM, "qp", "rx-nomem", InjectValue::kCount},
	{PIB_INJECT_KIND_RX_FULL, "qp", "rx-full", InjectValue::kCount},
};
static_assert(std::size(kKinds) == PIB_INJECT_KIND_MAX + 1);

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
static_assert(std::size(kEvents) == PIB_INJECT_REASON_MAX + 1);
/// Subnet management is that with directed routes, too.
constexpr Code kClasses[] = {
	{"sm", 0x01}, {"sa", 0x03}, {"perf", 0x04}, {"cm", 0x07}, {"cc", 0x21}};
constexpr Code kLies[] = {{"node-guid", PIB_INJECT_LIE_NODE_GUID},
			  {"port-guid", PIB_INJECT_LIE_PORT_GUID},
			  {"system-image-guid", PIB_INJECT_LIE_SYSTEM_IMAGE_GUID},
			  {"port-state", PIB_INJECT_LIE_PORT_STATE}};
static_assert(std::size(kLies) == PIB_INJECT_LIE_MAX + 1);
/// PortInfo:PortState.
constexpr Code kStates[] = {{"down", 1}, {"init", 2}, {"armed", 3}, {"active", 4}};
/// The last error number of Linux.
constexpr std::uint32_t kLastError = EHWPOISON;

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

Result<std::uint32_t> parse_any_base(std::string_view what, std::string_view word,
				     std::uint32_t least, std::uint32_t most)
{
	const bool hex = word.starts_with("0x") || word.starts_with("0X");
	const std::string_view digits = word.substr(hex ? 2 : 0);
	std::uint32_t value = 0;
	const auto [end, error] =
		std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
	if (error == std::errc{} && end == digits.data() + digits.size() && value >= least &&
	    value <= most)
		return value;
	return usage_error(fmt::format("{} must be a number from {} to {:#x}, not '{}'", what,
				       least, most, word));
}

Result<std::uint32_t> parse_mgmt_class(std::string_view word)
{
	if (!word.empty() && word.front() >= '0' && word.front() <= '9')
		return parse_any_base("class", word, 1, 0xff);
	return parse_code("class of MADs", word, kClasses);
}

Result<std::uint32_t> parse_lie(std::string_view word)
{
	return parse_code("field that can be told wrong", word, kLies);
}

Result<std::uint32_t> parse_errno(const std::string &word)
{
	for (std::uint32_t error = 1; error <= kLastError; error++)
		if (errno_word(error) == word)
			return error;
	return usage_error(fmt::format("'{}' is no error: ENOMEM, EPERM and so on are", word));
}

Result<std::uint64_t> parse_lie_value(std::uint32_t lie, const std::string &word)
{
	if (lie != PIB_INJECT_LIE_PORT_STATE)
		return parse_guid(word);
	const auto state = parse_code("state of a port", word, kStates);
	if (!state)
		return state.error();
	return std::uint64_t{*state};
}

std::string mgmt_class_word(std::uint32_t mgmt_class)
{
	return code_word(mgmt_class, kClasses);
}

std::string lie_word(std::uint32_t lie)
{
	return code_word(lie, kLies);
}

std::string lie_value_word(std::uint32_t lie, std::uint64_t value)
{
	if (lie == PIB_INJECT_LIE_PORT_STATE && value <= 0xf)
		return code_word(static_cast<std::uint32_t>(value), kStates);
	return fmt::format("{:#018x}", value);
}

std::string errno_word(std::uint32_t error)
{
	const char *name = strerrorname_np(static_cast<int>(error));
	return name ? name : fmt::format("{}", error);
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

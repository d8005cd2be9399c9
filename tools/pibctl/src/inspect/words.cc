// SPDX-License-Identifier: GPL-2.0
#include "inspect/words.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/pib.h>

#include <algorithm>
#include <ctime>
#include <iterator>

namespace pib::ctl {
namespace {

struct Word {
	std::uint8_t kind;
	std::uint16_t attribute;
	std::uint64_t value;
	const char *text;
};

/// States as "rdma resource show qp" spells them.
constexpr Word kWords[] = {
	{PIB_OBJECT_KIND_QP, PIB_O_STATE, 0, "RESET"},
	{PIB_OBJECT_KIND_QP, PIB_O_STATE, 1, "INIT"},
	{PIB_OBJECT_KIND_QP, PIB_O_STATE, 2, "RTR"},
	{PIB_OBJECT_KIND_QP, PIB_O_STATE, 3, "RTS"},
	{PIB_OBJECT_KIND_QP, PIB_O_STATE, 4, "SQD"},
	{PIB_OBJECT_KIND_QP, PIB_O_STATE, 5, "SQE"},
	{PIB_OBJECT_KIND_QP, PIB_O_STATE, 6, "ERR"},
	{PIB_OBJECT_KIND_QP, PIB_O_TYPE, 0, "SMI"},
	{PIB_OBJECT_KIND_QP, PIB_O_TYPE, 1, "GSI"},
	{PIB_OBJECT_KIND_QP, PIB_O_TYPE, 2, "RC"},
	{PIB_OBJECT_KIND_QP, PIB_O_TYPE, 3, "UC"},
	{PIB_OBJECT_KIND_QP, PIB_O_TYPE, 4, "UD"},
	{PIB_OBJECT_KIND_QP, PIB_O_TYPE, 9, "XRC_INI"},
	{PIB_OBJECT_KIND_QP, PIB_O_TYPE, 10, "XRC_TGT"},
	{PIB_OBJECT_KIND_QP, PIB_O_MIGRATION, 0, "MIGRATED"},
	{PIB_OBJECT_KIND_QP, PIB_O_MIGRATION, 1, "REARM"},
	{PIB_OBJECT_KIND_QP, PIB_O_MIGRATION, 2, "ARMED"},
	{PIB_OBJECT_KIND_MR, PIB_O_TYPE, PIB_MR_TYPE_DMA, "DMA"},
	{PIB_OBJECT_KIND_MR, PIB_O_TYPE, PIB_MR_TYPE_USER, "USER"},
	{PIB_OBJECT_KIND_MR, PIB_O_TYPE, PIB_MR_TYPE_FAST, "FAST"},
	{PIB_OBJECT_KIND_MR, PIB_O_TYPE, PIB_MR_TYPE_DM, "DM"},
	{PIB_OBJECT_KIND_MR, PIB_O_TYPE, PIB_MR_TYPE_DMABUF, "DMABUF"},
	{PIB_OBJECT_KIND_SRQ, PIB_O_TYPE, 0, "BASIC"},
	{PIB_OBJECT_KIND_SRQ, PIB_O_TYPE, 1, "XRC"},
	{PIB_OBJECT_KIND_CQ, PIB_O_ARMED, 0, "no"},
	{PIB_OBJECT_KIND_CQ, PIB_O_ARMED, 1, "SOLICITED"},
	{PIB_OBJECT_KIND_CQ, PIB_O_ARMED, 2, "ANY"},
};

static_assert(std::ranges::count_if(kWords, [](const Word &word) {
		      return word.kind == PIB_OBJECT_KIND_MR && word.attribute == PIB_O_TYPE;
	      }) == PIB_MR_TYPE_MAX + 1);

/// As <infiniband/verbs.h> names them, without IBV_ACCESS_.
std::string access_words(std::uint64_t access)
{
	static const char *const kBits[] = {
		"LOCAL_WRITE", "REMOTE_WRITE", "REMOTE_READ", "REMOTE_ATOMIC", "MW_BIND",
		"ZERO_BASED",  "ON_DEMAND",    "HUGETLB",     "FLUSH_GLOBAL",  "FLUSH_PERSISTENT"};
	std::string words;
	for (std::size_t bit = 0; bit < std::size(kBits); ++bit)
		if (access >> bit & 1)
			words += fmt::format("{}{}", words.empty() ? "" : ",", kBits[bit]);
	return words.empty() ? "none" : words;
}

struct Wait {
	bool (*waits)(const VerbsObject &qp);
	const char *text;
};

bool is_state(const VerbsObject &qp, std::initializer_list<std::uint64_t> states)
{
	return std::ranges::find(states, qp.fact(PIB_O_STATE).value_or(3)) != states.end();
}

const Wait kWaits[] = {
	{[](const VerbsObject &qp) { return is_state(qp, {0, 1, 4, 5}); }, "program"},
	{[](const VerbsObject &qp) { return qp.fact(PIB_O_PAGE_WAIT).has_value(); }, "page"},
	{[](const VerbsObject &qp) { return qp.fact(PIB_O_RNR_USEC).has_value(); }, "receiver"},
	{[](const VerbsObject &qp) {
		 return qp.fact(PIB_O_ACK_USEC) && !qp.fact(PIB_O_RNR_USEC) &&
			qp.fact(PIB_O_UNA_PSN) != qp.fact(PIB_O_NEXT_PSN);
	 },
	 "acknowledgement"},
	{[](const VerbsObject &qp) { return qp.fact(PIB_O_PUSHED_BACK).has_value(); }, "room"},
	{[](const VerbsObject &qp) { return qp.fact(PIB_O_CCTI).has_value(); }, "congestion"},
};

} // namespace

std::optional<std::string> fact_words(const VerbsObject &object, const VerbsObject::Fact &fact)
{
	if (fact.attribute == PIB_O_ACCESS)
		return access_words(fact.value);
	for (const Word &word : kWords)
		if (word.kind == object.kind && word.attribute == fact.attribute &&
		    word.value == fact.value)
			return word.text;
	return std::nullopt;
}

std::string waits_for(const VerbsObject &object)
{
	std::string words;
	if (object.kind != PIB_OBJECT_KIND_QP)
		return words;
	for (const Wait &wait : kWaits)
		if (wait.waits(object))
			words += fmt::format("{}{}", words.empty() ? "" : ",", wait.text);
	return words;
}

std::string time_words(std::uint64_t nanoseconds)
{
	const auto seconds = static_cast<std::time_t>(nanoseconds / 1'000'000'000);
	std::tm parts{};
	char text[32] = "";
	if (gmtime_r(&seconds, &parts))
		std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
	return fmt::format("{}.{:09}Z", text, nanoseconds % 1'000'000'000);
}

std::string gid_words(const std::array<std::uint8_t, 16> &gid)
{
	char text[INET6_ADDRSTRLEN] = "";
	inet_ntop(AF_INET6, gid.data(), text, sizeof(text));
	return text;
}

} // namespace pib::ctl

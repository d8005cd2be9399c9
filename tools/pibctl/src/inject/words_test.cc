// SPDX-License-Identifier: GPL-2.0
#include "inject/words.h"

#include <gtest/gtest.h>
#include <linux/pib.h>

#include <set>

namespace pib::ctl {
namespace {

TEST(InjectWords, EachKindOnce)
{
	std::set<std::uint8_t> kinds;
	for (const InjectKind &kind : inject_kinds()) {
		EXPECT_TRUE(kinds.insert(kind.kind).second) << kind.word;
		EXPECT_EQ(find_inject_kind(kind.kind), &kind);
		EXPECT_EQ(find_inject_kind(kind.object, kind.word), &kind);
	}
	EXPECT_EQ(kinds.size(), std::size_t{PIB_INJECT_KIND_RECV_STATUS} + 1);
	EXPECT_EQ(find_inject_kind(200), nullptr);
	EXPECT_EQ(find_inject_kind("cq", "drop"), nullptr);
}

TEST(InjectWords, Codes)
{
	EXPECT_EQ(*parse_nak("remote-access"), 2u);
	EXPECT_EQ(nak_word(2), "remote-access");
	EXPECT_EQ(*parse_status("retry-exc"), 12u);
	EXPECT_EQ(status_word(12), "retry-exc");
	EXPECT_EQ(status_word(99), "99");
	EXPECT_EQ(*parse_inject_event("none"), std::uint32_t{PIB_INJECT_REASON_NONE});
	EXPECT_FALSE(parse_status("success"));
	EXPECT_FALSE(parse_nak("ack"));
}

} // namespace
} // namespace pib::ctl

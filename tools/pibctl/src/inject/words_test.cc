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
	EXPECT_EQ(kinds.size(), std::size_t{PIB_INJECT_KIND_RX_FULL} + 1);
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

TEST(InjectWords, Mads)
{
	EXPECT_EQ(*parse_mgmt_class("cm"), 7u);
	EXPECT_EQ(*parse_mgmt_class("0x0a"), 10u);
	EXPECT_FALSE(parse_mgmt_class("0"));
	EXPECT_FALSE(parse_mgmt_class("256"));
	EXPECT_FALSE(parse_mgmt_class(""));
	EXPECT_EQ(mgmt_class_word(1), "sm");
	EXPECT_EQ(*parse_any_base("status", "0x1c", 0, 0x7fff), 0x1cu);
	EXPECT_FALSE(parse_any_base("status", "0x", 0, 0x7fff));
	EXPECT_FALSE(parse_any_base("status", "0x8000", 0, 0x7fff));
	EXPECT_EQ(*parse_lie("port-state"), std::uint32_t{PIB_INJECT_LIE_PORT_STATE});
	EXPECT_EQ(lie_word(PIB_INJECT_LIE_NODE_GUID), "node-guid");
	EXPECT_EQ(*parse_lie_value(PIB_INJECT_LIE_PORT_STATE, "init"), 2u);
	EXPECT_FALSE(parse_lie_value(PIB_INJECT_LIE_PORT_STATE, "0x1"));
	EXPECT_EQ(*parse_lie_value(PIB_INJECT_LIE_NODE_GUID, "0x0250c2fffe001234"),
		  0x0250c2fffe001234u);
	EXPECT_EQ(lie_value_word(PIB_INJECT_LIE_PORT_STATE, 4), "active");
	EXPECT_EQ(lie_value_word(PIB_INJECT_LIE_NODE_GUID, 1), "0x0000000000000001");
}

TEST(InjectWords, Errors)
{
	EXPECT_EQ(*parse_errno("ENOMEM"), std::uint32_t{ENOMEM});
	EXPECT_EQ(errno_word(ENOMEM), "ENOMEM");
	EXPECT_EQ(errno_word(4000), "4000");
	EXPECT_FALSE(parse_errno("ENONSENSE"));
	EXPECT_FALSE(parse_errno("0"));
}

} // namespace
} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
#include "objects/verbs_object.h"

#include <gtest/gtest.h>
#include <linux/pib.h>

#include "netlink/fake_kernel.h"
#include "objects/fake_objects.h"

namespace pib::ctl {
namespace {

Result<std::vector<VerbsObject>> decode(const Bytes &stream)
{
	return decode_verbs_objects({{PIB_CMD_OBJECT_GET, stream}});
}

TEST(VerbsObject, HasOwnerAndFacts)
{
	const auto objects = decode(fake::queue_pair_answer());
	ASSERT_TRUE(objects);
	ASSERT_EQ(objects->size(), 1U);
	const VerbsObject &qp = objects->front();
	EXPECT_EQ(qp.hca, "pib0");
	EXPECT_EQ(kind_name(qp.kind), "qp");
	EXPECT_EQ(qp.id, 5U);
	EXPECT_EQ(qp.owner, "ib_send_bw");
	EXPECT_EQ(qp.pid, 4711U);
	EXPECT_EQ(qp.uid, 1000U);
	EXPECT_EQ(qp.handle, 3U);
	EXPECT_FALSE(qp.resource);
	EXPECT_EQ(qp.fact(PIB_O_QPN), 17U);
	EXPECT_FALSE(qp.fact(PIB_O_RNR_USEC));
}

TEST(VerbsObject, OfTheKernelHasNoProcess)
{
	const auto objects = decode(fake::attachment_answer());
	ASSERT_TRUE(objects);
	ASSERT_EQ(objects->size(), 1U);
	EXPECT_FALSE(objects->front().pid);
	EXPECT_FALSE(objects->front().uid);
	ASSERT_TRUE(objects->front().gid);
	EXPECT_EQ(objects->front().gid->front(), 0xff);
}

TEST(VerbsObject, WhatANewerModuleTellsHasANumber)
{
	EXPECT_EQ(kind_name(PIB_OBJECT_KIND_MAX + 1), "kind 12");
	EXPECT_EQ(fact_name(PIB_O_MAX + 1), "fact_" + std::to_string(PIB_O_MAX + 1));
	EXPECT_EQ(fact_name(PIB_O_UNA_PSN), "una_psn");
	EXPECT_TRUE(fact_is_hex(PIB_O_UNA_PSN));
	EXPECT_FALSE(fact_is_hex(PIB_O_QPN));
}

TEST(VerbsObject, WithoutHcaOrNumberIsMalformed)
{
	EXPECT_FALSE(decode(fake::text(PIB_A_HCA_NAME, "pib0")));
	EXPECT_FALSE(decode(
		fake::nest(PIB_A_OBJECT, {fake::u8(PIB_O_KIND, 1), fake::u64(PIB_O_ID, 1)})));
	EXPECT_FALSE(decode(fake::join({fake::text(PIB_A_HCA_NAME, "pib0"),
					fake::nest(PIB_A_OBJECT, {fake::u8(PIB_O_KIND, 1)})})));
	Bytes cut = fake::queue_pair_answer();
	cut.resize(cut.size() - 4);
	EXPECT_FALSE(decode(cut));
}

} // namespace
} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
#include "netlink/session.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/pib.h>

#include <cerrno>

#include "netlink/fake_kernel.h"

namespace pib::ctl {
namespace {

Request dump()
{
	return Request(PIB_CMD_HCA_GET, PIB_FAMILY_VERSION, NLM_F_DUMP);
}

TEST(Session, SaysThatTheModuleIsMissing)
{
	fake::Kernel kernel;
	kernel.loaded = false;
	Session session(kernel.factory());
	const auto connected = session.connect();
	ASSERT_FALSE(connected);
	EXPECT_EQ(
		connected.error().text,
		"module pib is not loaded and could not be loaded: the kernel has no generic netlink "
		"family \"pib\". Try 'modprobe pib'; if that finds no module, install pib for this "
		"kernel");
	EXPECT_FALSE(session.connected());
}

TEST(Session, SaysThatVersionsDiffer)
{
	fake::Kernel kernel;
	kernel.version = 2;
	Session session(kernel.factory());
	const auto connected = session.connect();
	ASSERT_FALSE(connected);
	EXPECT_NE(connected.error().text.find(
			  "netlink version mismatch: module pib speaks version 2"),
		  std::string::npos);
}

TEST(Session, KnowsTheGroups)
{
	fake::Kernel kernel;
	Session older(kernel.factory());
	ASSERT_TRUE(older.connect());
	EXPECT_FALSE(older.group(PIB_MCGRP_EVENTS));
	kernel.events = 17;
	Session session(kernel.factory());
	EXPECT_FALSE(session.group(PIB_MCGRP_EVENTS));
	ASSERT_TRUE(session.connect());
	EXPECT_EQ(session.group(PIB_MCGRP_EVENTS), 17U);
	EXPECT_EQ(session.family(), kernel.number);
	EXPECT_FALSE(session.group("others"));
}

TEST(Session, AsksForTheFamilyOnce)
{
	fake::Kernel kernel;
	int opened = 0;
	Session session([&, open = kernel.factory()] {
		++opened;
		return open();
	});
	Request request = dump();
	EXPECT_TRUE(session.call(request));
	EXPECT_TRUE(session.call(request));
	EXPECT_EQ(opened, 1);
}

TEST(Session, FindsAModuleThatWasLoadedAgain)
{
	fake::Kernel kernel;
	Session session(kernel.factory());
	Request request = dump();
	ASSERT_TRUE(session.call(request));
	kernel.number = 0x24;
	kernel.answer({fake::u8(1, 1)});
	const auto outcome = session.call(request);
	ASSERT_TRUE(outcome);
	EXPECT_EQ(outcome->verdict.code, 0);
	EXPECT_EQ(outcome->answers.size(), 1U);
}

TEST(Session, LooksForTheModuleOnceMore)
{
	fake::Kernel kernel;
	Session session(kernel.factory());
	ASSERT_TRUE(session.reconnect());
	kernel.number = 0x24;
	kernel.events = 18;
	ASSERT_TRUE(session.reconnect());
	EXPECT_EQ(session.family(), 0x24);
	EXPECT_EQ(session.group(PIB_MCGRP_EVENTS), 18U);
	kernel.loaded = false;
	EXPECT_FALSE(session.reconnect());
	EXPECT_EQ(kernel.named, 1);
}

TEST(Session, DoesNotLoadAModuleThatWasUnloaded)
{
	fake::Kernel kernel;
	Session session(kernel.factory());
	Request request = dump();
	ASSERT_TRUE(session.call(request));
	kernel.loaded = false;
	for (int i = 0; i < 2; ++i) {
		const auto outcome = session.call(request);
		ASSERT_FALSE(outcome);
		EXPECT_EQ(outcome.error().text, "module pib is not loaded any more");
	}
	EXPECT_EQ(kernel.named, 1);
	kernel.loaded = true;
	kernel.number = 0x25;
	EXPECT_TRUE(session.call(request));
	EXPECT_EQ(kernel.named, 1);
}

TEST(Session, AnObjectThatIsNotThereIsAskedForOnce)
{
	fake::Kernel kernel;
	kernel.refuse({ENOENT, "there is no such HCA"});
	Session session(kernel.factory());
	Request request(PIB_CMD_HCA_DEL, PIB_FAMILY_VERSION);
	const auto outcome = session.call(request);
	ASSERT_TRUE(outcome);
	EXPECT_EQ(outcome->verdict.code, ENOENT);
	EXPECT_EQ(outcome->verdict.text, "there is no such HCA");
	EXPECT_EQ(kernel.requests.size(), 1U);
}

TEST(Session, PassesOnThatNoSocketOpens)
{
	Session session(
		[]() -> Result<std::unique_ptr<Transport>> { return Error{"no socket", EPERM}; });
	Request request = dump();
	EXPECT_EQ(session.call(request).error().text, "no socket");
}

TEST(Session, GathersAllAnswersOfADump)
{
	fake::Kernel kernel;
	kernel.answer({fake::u8(1, 1), fake::u8(1, 2), fake::u8(1, 3)});
	Session session(kernel.factory());
	Request request = dump();
	const auto outcome = session.call(request);
	ASSERT_TRUE(outcome);
	EXPECT_EQ(outcome->answers.size(), 3U);
	EXPECT_EQ(outcome->verdict.code, 0);
	EXPECT_EQ(kernel.requests.front().flags, NLM_F_REQUEST | NLM_F_DUMP);
}

TEST(Session, RequestsThatAreNoDumpsAreAcknowledged)
{
	fake::Kernel kernel;
	Session session(kernel.factory());
	Request request(PIB_CMD_HCA_DEL, PIB_FAMILY_VERSION);
	EXPECT_TRUE(session.call(request));
	EXPECT_EQ(kernel.requests.front().flags, NLM_F_REQUEST | NLM_F_ACK);
}

TEST(Session, RepeatsADumpThatWasInterrupted)
{
	fake::Kernel kernel;
	kernel.answer({fake::u8(1, 1)}, NLM_F_DUMP_INTR);
	kernel.answer({fake::u8(1, 2)});
	Session session(kernel.factory());
	Request request = dump();
	const auto outcome = session.call(request);
	ASSERT_TRUE(outcome);
	ASSERT_EQ(outcome->answers.size(), 1U);
	EXPECT_EQ(outcome->answers.front().attributes, fake::u8(1, 2));
}

TEST(Session, GivesUpOnDumpsThatAreAlwaysInterrupted)
{
	fake::Kernel kernel;
	for (int i = 0; i < 10; ++i)
		kernel.answer({fake::u8(1, 1)}, NLM_F_DUMP_INTR);
	Session session(kernel.factory());
	Request request = dump();
	EXPECT_EQ(session.call(request).error().code, EAGAIN);
}

TEST(Session, PassesOverAnswersToOthers)
{
	fake::Kernel kernel;
	kernel.raw(fake::join({fake::message(0x23, 0, 77, Bytes(4)),
			       fake::message(NLMSG_ERROR, 0, 77, {}),
			       fake::message(0x24, 0, 0, Bytes(4))}));
	Session session(kernel.factory());
	Request request = dump();
	// All is passed over; the fake then has nothing more to say.
	EXPECT_EQ(session.call(request).error().code, EAGAIN);
}

TEST(Session, AnswersTooShortForTheirHeaderAreNoAnswers)
{
	fake::Kernel kernel;
	kernel.raw(fake::message(0x23, 0, 0, Bytes(3)));
	Session session(kernel.factory());
	Request request = dump();
	EXPECT_EQ(session.call(request).error().code, EAGAIN);
}

TEST(Session, ReportsMalformedDatagrams)
{
	fake::Kernel kernel;
	kernel.raw({1, 2, 3});
	Session session(kernel.factory());
	Request request = dump();
	EXPECT_NE(session.call(request).error().text.find("malformed"), std::string::npos);
}

TEST(Session, ReportsOverruns)
{
	fake::Kernel kernel;
	kernel.raw(fake::message(NLMSG_OVERRUN, 0, 0, {}));
	Session session(kernel.factory());
	Request request = dump();
	EXPECT_EQ(session.call(request).error().code, ENOBUFS);
}

TEST(Session, SendsNothingThatDoesNotFit)
{
	fake::Kernel kernel;
	Session session(kernel.factory());
	Request request = dump();
	for (int i = 0; i < 100; ++i)
		request.put_binary(1, Bytes(1000));
	EXPECT_EQ(session.call(request).error().code, EMSGSIZE);
	EXPECT_TRUE(kernel.requests.empty());
}

} // namespace
} // namespace pib::ctl

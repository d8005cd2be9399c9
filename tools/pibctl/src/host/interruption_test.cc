// SPDX-License-Identifier: GPL-2.0
#include "host/interruption.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <sstream>

#include "commands/progress.h"

namespace pib::ctl {
namespace {

TEST(Interruption, IsRememberedUntilAsked)
{
	const Interruption interruption;
	EXPECT_TRUE(interruption.check());
	std::raise(SIGTERM);
	ASSERT_FALSE(interruption.check());
	EXPECT_EQ(interruption.check().error().text, "interrupted by SIGTERM");
}

TEST(Interruption, BeginsAnew)
{
	{
		const Interruption first;
		std::raise(SIGTERM);
		EXPECT_FALSE(first.check());
	}
	const Interruption second;
	EXPECT_TRUE(second.check());
}

TEST(Interruption, WhatIsIgnoredStaysIgnored)
{
	std::signal(SIGINT, SIG_IGN);
	{
		const Interruption interruption;
		std::raise(SIGINT);
		EXPECT_TRUE(interruption.check());
	}
	EXPECT_EQ(std::signal(SIGINT, SIG_DFL), SIG_IGN);
}

TEST(Interruption, ASignalBeforeTheWaitEndsIt)
{
	const Interruption interruption;
	ASSERT_TRUE(interruption.check());
	std::raise(SIGTERM);
	// It would wait for a day.
	EXPECT_EQ(interruption.poll(nullptr, 0, 24 * 3600 * 1000), -1);
	EXPECT_EQ(errno, EINTR);
}

TEST(Interruption, TheWaitLeavesTheMaskAsItWas)
{
	const Interruption interruption;
	sigset_t blocked;
	sigset_t before;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &blocked, &before);
	EXPECT_EQ(interruption.poll(nullptr, 0, 1), 0);
	sigset_t after;
	pthread_sigmask(SIG_SETMASK, &before, &after);
	EXPECT_EQ(sigismember(&after, SIGUSR1), 1);
	EXPECT_EQ(sigismember(&after, SIGTERM), 0);
}

TEST(Progress, OneLineThatGoesAway)
{
	std::ostringstream terminal;
	{
		Progress progress(&terminal, "making");
		progress.show(1, 3);
		progress.show(2, 3);
	}
	EXPECT_EQ(terminal.str(), "\rmaking: 1 of 3\033[K\rmaking: 2 of 3\033[K\r\033[K");
}

TEST(Progress, NothingWithoutTerminal)
{
	Progress progress(nullptr, "making");
	progress.show(1, 3);
}

} // namespace
} // namespace pib::ctl

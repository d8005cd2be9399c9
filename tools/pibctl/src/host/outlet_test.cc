// SPDX-License-Identifier: GPL-2.0
#include "host/outlet.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

namespace pib::ctl {
namespace {

/// Text that no pipe takes at once.
const std::string kMuch(1 << 20, 'x');

class Pipe : public testing::Test {
protected:
	void SetUp() override
	{
		std::signal(SIGPIPE, SIG_IGN);
		ASSERT_EQ(pipe(ends_), 0);
		// A test that never ends must fail.
		alarm(60);
	}
	void TearDown() override
	{
		alarm(0);
		close(ends_[0]);
		close(ends_[1]);
	}

	int ends_[2] = {-1, -1};
	const Interruption interruption_;
};

TEST_F(Pipe, TheStreamGoesBadWhereTheReaderStandsStillAndASignalHasCome)
{
	OutletStream stream(Outlet(ends_[1], interruption_, 10));
	std::raise(SIGTERM);
	stream << "a line\n" << std::flush;
	EXPECT_TRUE(stream.good());
	stream << kMuch << std::flush;
	EXPECT_FALSE(stream.good());
}

TEST_F(Pipe, TheStreamWritesAllToASlowReader)
{
	std::size_t got = 0;
	std::jthread reader([&] {
		char some[1 << 16];
		for (ssize_t n; (n = read(ends_[0], some, sizeof(some))) > 0;) {
			got += static_cast<std::size_t>(n);
			std::this_thread::sleep_for(std::chrono::milliseconds(10));
		}
	});
	std::raise(SIGTERM);
	OutletStream stream(Outlet(ends_[1], interruption_, kReaderPatience));
	stream << kMuch << 'y' << std::flush;
	EXPECT_TRUE(stream.good());
	close(ends_[1]);
	ends_[1] = -1;
	reader.join();
	EXPECT_EQ(got, kMuch.size() + 1);
}

TEST_F(Pipe, TheStreamGoesBadWhereTheReaderGoes)
{
	close(ends_[0]);
	ends_[0] = -1;
	OutletStream stream(Outlet(ends_[1], interruption_));
	stream << 'x' << std::flush;
	EXPECT_FALSE(stream.good());
}

} // namespace
} // namespace pib::ctl

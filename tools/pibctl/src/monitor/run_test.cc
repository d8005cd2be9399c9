// SPDX-License-Identifier: GPL-2.0
#include "monitor/run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/genetlink.h>
#include <linux/pib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <deque>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "netlink/fake_kernel.h"

namespace pib::ctl {
namespace {

using fake::join;

constexpr std::uint16_t kFamily = 0x23;

Bytes genl(std::uint16_t type, std::uint8_t command, const Bytes &attributes)
{
	return fake::message(type, 0, 0, join({Bytes{command, 1, 0, 0}, attributes}));
}

/// The datagram that an HCA of this name was made.
Bytes added(const char *name)
{
	return genl(kFamily, PIB_CMD_EVENT,
		    join({fake::u8(PIB_A_EVENT, PIB_EVENT_KIND_HCA_NEW),
			  fake::text(PIB_A_HCA_NAME, name)}));
}

Bytes farewell(const char *family)
{
	return genl(GENL_ID_CTRL, CTRL_CMD_DELFAMILY, fake::text(CTRL_ATTR_FAMILY_NAME, family));
}

/// Hears what it was told to, one thing after the other.
class FakeListener final : public Listener {
public:
	FakeListener()
	{
		EXPECT_EQ(pipe(pipe_), 0);
		EXPECT_EQ(write(pipe_[1], "", 1), 1);
	}
	~FakeListener() override
	{
		close(pipe_[0]);
		close(pipe_[1]);
	}

	void hear(Bytes datagram)
	{
		script_.push_back([=] { return Result<Bytes>(datagram); });
	}
	void fail(int code)
	{
		script_.push_back([=] { return Result<Bytes>(Error{"", code}); });
	}
	void nothing() { fail(EAGAIN); }
	/// Nothing is heard, but somebody interrupts.
	void interrupted()
	{
		script_.push_back([] {
			std::raise(SIGTERM);
			return Result<Bytes>(Error{"", EAGAIN});
		});
	}

	/// There is nothing to be received.
	void be_quiet()
	{
		char byte;
		EXPECT_EQ(read(pipe_[0], &byte, 1), 1);
	}

	/// Something happens when it is heard.
	void hear(Bytes datagram, std::function<void()> meanwhile)
	{
		script_.push_back([=] {
			meanwhile();
			return Result<Bytes>(datagram);
		});
	}
	Status send(View) override { return Error{"nothing is sent", EPERM}; }
	Result<Bytes> receive() override
	{
		if (script_.empty())
			return Error{"the fake listener hears nothing more", EPROTO};
		const auto next = std::move(script_.front());
		script_.pop_front();
		return next();
	}
	int fd() const override { return pipe_[0]; }

private:
	int pipe_[2] = {-1, -1};
	std::deque<std::function<Result<Bytes>()>> script_;
};

class Monitor : public testing::Test {
protected:
	void SetUp() override
	{
		std::signal(SIGPIPE, SIG_IGN);
		ASSERT_EQ(pipe2(output_, O_NONBLOCK), 0);
		ASSERT_EQ(fcntl(output_[1], F_SETFL, 0), 0);
		// A test that never ends must fail.
		alarm(60);
	}
	void TearDown() override
	{
		alarm(0);
		close(output_[0]);
		close(output_[1]);
	}

	Status run() { return run(output_[1]); }
	Status run(int file) { return run_monitor(listener_, file, interruption_, options_); }

	/// Of each line that was printed what it says behind its time.
	std::vector<std::string> printed()
	{
		std::string text;
		char some[4096];
		for (ssize_t got; (got = read(output_[0], some, sizeof(some))) > 0;)
			text.append(some, static_cast<std::size_t>(got));
		std::vector<std::string> lines;
		std::istringstream stream(text);
		for (std::string line; std::getline(stream, line);)
			lines.push_back(
				line.substr(std::string("1970-01-01 00:00:00.000000 ").size()));
		return lines;
	}

	void ends_for_want_of_a_reader(int file)
	{
		listener_.be_quiet();
		const auto ended = run(file);
		ASSERT_FALSE(ended);
		EXPECT_EQ(ended.error().text, "cannot write the output");
	}

	/// Nothing more goes into the pipe.
	void fill()
	{
		const std::string dots(4096, '.');
		ASSERT_EQ(fcntl(output_[1], F_SETFL, O_NONBLOCK), 0);
		while (write(output_[1], dots.data(), dots.size()) > 0)
			;
		ASSERT_EQ(fcntl(output_[1], F_SETFL, 0), 0);
	}

	/// So many lines, a little at a time.
	std::string read_lines(int count)
	{
		std::string text;
		while (std::count(text.begin(), text.end(), '\n') < count) {
			pollfd file{output_[0], POLLIN, 0};
			char some[999];
			poll(&file, 1, -1);
			const ssize_t got = read(output_[0], some, sizeof(some));
			text.append(some, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
		}
		return text;
	}
	FakeListener listener_;
	int output_[2] = {-1, -1};
	Result<std::uint16_t> family_ = kFamily;
	MonitorOptions options_{false, kFamily, std::nullopt, [this] { return family_; }};
	const Interruption interruption_;
};

using Lines = std::vector<std::string>;

const char kLost[] = "some events were lost: more came than were read";

TEST_F(Monitor, PrintsWhatItHearsUntilItIsInterrupted)
{
	listener_.hear(added("pib0"));
	listener_.hear(join({added("pib1"), added("pib2")}));
	listener_.interrupted();
	EXPECT_TRUE(run());
	EXPECT_EQ(printed(), (Lines{"hca pib0 added", "hca pib1 added", "hca pib2 added"}));
}

TEST_F(Monitor, EndsAfterSoManyEvents)
{
	options_.most = 2;
	listener_.hear(added("pib0"));
	listener_.hear(join({added("pib1"), added("pib2")}));
	EXPECT_TRUE(run());
	EXPECT_EQ(printed(), (Lines{"hca pib0 added", "hca pib1 added"}));
}

TEST_F(Monitor, EndsWithTheModule)
{
	listener_.hear(join({added("pib0"), farewell("nlctrl"), farewell("pib"), added("pib1")}));
	const auto ended = run();
	ASSERT_FALSE(ended);
	EXPECT_EQ(ended.error().text, "module pib is not loaded any more");
	EXPECT_EQ(printed(), Lines{"hca pib0 added"});
}

TEST_F(Monitor, PassesOverWhatIsNotAnEvent)
{
	listener_.hear(genl(kFamily + 1, PIB_CMD_EVENT, {}));
	listener_.hear(genl(kFamily, PIB_CMD_HCA_GET, {}));
	listener_.hear(farewell("nlctrl"));
	listener_.hear(farewell("pib"));
	EXPECT_FALSE(run());
	EXPECT_EQ(printed(), Lines{});
}

// A loss comes behind all messages that are queued when it is told.
TEST_F(Monitor, SaysThatEventsWereLostBehindWhatWasQueued)
{
	listener_.hear(added("pib0"));
	listener_.fail(ENOBUFS);
	listener_.hear(added("pib1"));
	listener_.hear(added("pib2"));
	listener_.nothing();
	listener_.hear(added("pib3"));
	listener_.interrupted();
	EXPECT_TRUE(run());
	EXPECT_EQ(printed(), (Lines{"hca pib0 added", "hca pib1 added", "hca pib2 added", kLost,
				    "hca pib3 added"}));
}

// The kernel says so again only if all was read in between.
TEST_F(Monitor, SaysSoOnceMoreWhereEventsKeepComing)
{
	listener_.fail(ENOBUFS);
	listener_.hear(added("pib0"));
	listener_.fail(ENOBUFS);
	listener_.hear(added("pib1"));
	listener_.interrupted();
	EXPECT_TRUE(run());
	EXPECT_EQ(printed(), (Lines{"hca pib0 added", kLost, "hca pib1 added", kLost}));
}

// However many were queued, it does not wait for another event to say so.
TEST_F(Monitor, SaysSoThoughItReadsInParts)
{
	for (int queued : {62, 63, 64, 127}) {
		listener_.fail(ENOBUFS);
		for (int i = 0; i < queued; ++i)
			listener_.hear(added("pib0"));
		listener_.nothing();
	}
	listener_.fail(ENOBUFS);
	for (int i = 1; i < 63; ++i)
		listener_.hear(added("pib0"));
	listener_.hear(added("pib0"), [this] { listener_.be_quiet(); });
	listener_.interrupted();
	EXPECT_TRUE(run());
	const auto lines = printed();
	EXPECT_EQ(std::count(lines.begin(), lines.end(), kLost), 5);
	EXPECT_EQ(lines.back(), kLost);
}

TEST_F(Monitor, DoesNotCountALoss)
{
	options_.most = 1;
	listener_.fail(ENOBUFS);
	listener_.nothing();
	listener_.fail(ENOBUFS);
	listener_.hear(added("pib0"));
	EXPECT_TRUE(run());
	EXPECT_EQ(printed(), (Lines{kLost, "hca pib0 added", kLost}));
}

TEST_F(Monitor, EndsWhenTheReaderOfAPipeGoes)
{
	close(std::exchange(output_[0], -1));
	ends_for_want_of_a_reader(output_[1]);
}

TEST_F(Monitor, EndsWhenTheOtherEndOfASocketGoes)
{
	int ends[2];
	ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	close(ends[0]);
	ends_for_want_of_a_reader(ends[1]);
	close(ends[1]);
}

TEST_F(Monitor, EndsWhereTheFileIsClosed)
{
	const int closed = dup(output_[1]);
	close(closed);
	ends_for_want_of_a_reader(closed);
}

// A reader that stops reading holds up the output, not the signal.
TEST_F(Monitor, IsInterruptedWhileTheReaderStandsStill)
{
	fill();
	listener_.hear(added("pib0"), [] { std::raise(SIGTERM); });
	EXPECT_TRUE(run());
}

TEST_F(Monitor, PrintsAllToASlowReader)
{
	const std::string name(10000, 'x');
	options_.most = 2;
	fill();
	listener_.hear(added(name.c_str()));
	listener_.hear(added(name.c_str()));
	std::string text;
	{
		const std::jthread reader([&] { text = read_lines(2); });
		EXPECT_TRUE(run());
	}
	const std::string line = fmt::format("1970-01-01 00:00:00.000000 hca {} added\n", name);
	EXPECT_EQ(text.substr(text.find_first_not_of('.')), line + line);
}

// Its farewell may be among what was lost.
TEST_F(Monitor, AsksForTheModuleWhereEventsWereLost)
{
	listener_.fail(ENOBUFS);
	listener_.hear(added("pib0"), [this] { family_ = Error{"it has gone", ENOENT}; });
	listener_.nothing();
	listener_.interrupted();
	const auto ended = run();
	ASSERT_FALSE(ended);
	EXPECT_EQ(ended.error().text, "it has gone");
	EXPECT_EQ(printed(), (Lines{"hca pib0 added", kLost}));
}

TEST_F(Monitor, AsksForTheModuleWhenItBegins)
{
	listener_.hear(added("pib0"));
	listener_.interrupted();
	// It is loaded again, and has another number.
	family_ = kFamily + 1;
	const auto ended = run();
	ASSERT_FALSE(ended);
	EXPECT_EQ(ended.error().text, "module pib is not loaded any more");
	EXPECT_EQ(printed(), Lines{});
}

} // namespace
} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
#include "capture/recorder.h"

#include <gtest/gtest.h>
#include <linux/pib_capture.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <map>

namespace pib::ctl {
namespace {

/// Gives what it was told to, counts as the module does, and is at its end when it was stopped.
class FakeSource final : public CaptureSource {
public:
	/// Packets of these ports, in one read.
	void give(const std::vector<std::uint32_t> &ports)
	{
		Bytes records;
		for (const auto port : ports) {
			const pib_capture_packet packet{.time = 1,
							.size = sizeof(packet),
							.port = port,
							.len = 100,
							.captured = 0,
							.flags = 0,
							.reason = 0,
							.reserved = 0};
			const auto *bytes = reinterpret_cast<const std::uint8_t *>(&packet);
			records.insert(records.end(), bytes, bytes + sizeof(packet));
			++counts_[port].captured;
		}
		reads_.push_back(records);
	}
	void lose(std::uint32_t port, std::uint64_t count) { counts_[port].lost += count; }

	bool wait() override { return true; }
	Result<std::size_t> read(std::span<std::uint8_t> room) override
	{
		if (reads_.empty() && is_stopped_)
			return std::size_t{0};
		if (reads_.empty())
			return Error{"", EAGAIN};
		const Bytes next = reads_.front();
		reads_.pop_front();
		std::memcpy(room.data(), next.data(), next.size());
		return next.size();
	}
	Status stop() override
	{
		is_stopped_ = true;
		return success();
	}
	Result<Counts> counts(std::uint32_t port) override { return counts_[port]; }

private:
	std::deque<Bytes> reads_;
	std::map<std::uint32_t, Counts> counts_;
	bool is_stopped_ = false;
};

class Recording : public testing::Test {
protected:
	Status record(std::uint64_t most)
	{
		int looks = 0;
		return recorder_.record(most, [&] { return ++looks < 10; });
	}
	void expect(std::uint64_t first, std::uint64_t second)
	{
		EXPECT_EQ(recorder_.ports()[0].captured, first);
		EXPECT_EQ(recorder_.ports()[1].captured, second);
		EXPECT_EQ(recorder_.written(), first + second);
	}

	FakeSource source_;
	const Interruption interruption_;
	Recorder recorder_{source_,
			   {{1, {"x/1", "", "", 0}}, {2, {"x/2", "", "", 0}}},
			   {"/dev/null"},
			   interruption_};
};

TEST_F(Recording, AllThatIsCaptured)
{
	source_.give({1, 1, 2});
	source_.give({2});
	source_.lose(2, 7);
	ASSERT_TRUE(record(0));
	expect(2, 2);
	EXPECT_EQ(recorder_.ports()[0].lost, 0U);
	EXPECT_EQ(recorder_.ports()[1].lost, 7U);
}

TEST_F(Recording, WhatIsMoreThanWasAskedForIsNotCaptured)
{
	source_.give({1, 2, 1});
	source_.give({2, 1, 2, 2});
	source_.give({1});
	ASSERT_TRUE(record(4));
	expect(2, 2);
}

} // namespace
} // namespace pib::ctl

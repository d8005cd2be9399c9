// SPDX-License-Identifier: GPL-2.0
#include "capture/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

namespace pib::ctl {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
protected:
	void SetUp() override
	{
		std::string name = fs::temp_directory_path() / "pibctl-files.XXXXXX";
		ASSERT_TRUE(mkdtemp(name.data()));
		folder_ = name;
		std::signal(SIGPIPE, SIG_IGN);
		// A test that never ends must fail.
		alarm(60);
	}
	void TearDown() override
	{
		alarm(0);
		fs::remove_all(folder_);
	}

	std::string content(const std::string &name)
	{
		std::ifstream file(folder_ / name);
		return {std::istreambuf_iterator<char>(file), {}};
	}

	fs::path folder_;
	const Interruption interruption_;
};

TEST_F(Files, TakeTurns)
{
	CaptureFiles files({folder_ / "x", 10, 2}, Bytes(4, 'h'), interruption_);
	ASSERT_TRUE(files.open());
	for (const char c : {'a', 'b', 'c'})
		ASSERT_TRUE(files.write(Bytes(5, c)));
	ASSERT_TRUE(files.finish(Bytes(1, 's')));
	EXPECT_EQ(content("x0"), "hhhhcccccs");
	EXPECT_EQ(content("x1"), "hhhhbbbbb");
}

class Piped : public Files {
protected:
	void SetUp() override
	{
		Files::SetUp();
		const auto name = folder_ / "pipe";
		ASSERT_EQ(mkfifo(name.c_str(), 0600), 0);
		reader_ = ::open(name.c_str(), O_RDONLY | O_NONBLOCK);
		ASSERT_GE(reader_, 0);
		files_.emplace(FilesRequest{name}, Bytes(4), interruption_);
		ASSERT_TRUE(files_->open());
	}
	void TearDown() override
	{
		close(reader_);
		Files::TearDown();
	}

	/// More than the pipe takes.
	Status write_much() { return files_->finish(Bytes(1 << 20, 'x')); }

	std::optional<CaptureFiles> files_;
	int reader_ = -1;
};

TEST_F(Piped, AReaderThatStandsStillDoesNotKeepASignalAway)
{
	const pthread_t self = pthread_self();
	const std::jthread signals([&] {
		std::this_thread::sleep_for(std::chrono::milliseconds(100));
		pthread_kill(self, SIGTERM);
	});
	const auto written = write_much();
	ASSERT_FALSE(written);
	EXPECT_EQ(written.error().code, EINTR);
	EXPECT_EQ(written.error().text,
		  "cannot write " + (folder_ / "pipe").string() + ": interrupted by SIGTERM");
}

TEST_F(Piped, AReaderThatIsSlowStillGetsAllBehindASignal)
{
	std::raise(SIGTERM);
	std::size_t got = 0;
	{
		std::jthread reader([&] {
			char some[1 << 16];
			while (got < 4 + (1 << 20)) {
				std::this_thread::sleep_for(std::chrono::milliseconds(10));
				const ssize_t n = read(reader_, some, sizeof(some));
				got += n > 0 ? static_cast<std::size_t>(n) : 0;
			}
		});
		EXPECT_TRUE(write_much());
	}
	EXPECT_EQ(got, 4U + (1 << 20));
}

TEST_F(Piped, AReaderThatGoesIsTold)
{
	close(reader_);
	const auto written = write_much();
	ASSERT_FALSE(written);
	EXPECT_EQ(written.error().code, EPIPE);
}

} // namespace
} // namespace pib::ctl

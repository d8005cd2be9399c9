// SPDX-License-Identifier: GPL-2.0
#include "model/words/key_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

namespace pib::inline model {
namespace {

class KeyFile : public testing::Test {
protected:
	~KeyFile() override { unlink(path_.c_str()); }

	Result<Bytes> read(const std::string &content)
	{
		std::ofstream(path_, std::ios::binary) << content;
		return read_key_file(path_);
	}

	std::string path_ = testing::TempDir() + "pibctl-key-" + std::to_string(getpid());
};

TEST_F(KeyFile, HoldsSixteenToSixtyFourBytes)
{
	EXPECT_EQ(read(std::string(16, 'k'))->size(), 16U);
	EXPECT_EQ(read(std::string(64, 'k'))->size(), 64U);
	EXPECT_FALSE(read(std::string(15, 'k')));
	EXPECT_FALSE(read(std::string(65, 'k')));
	EXPECT_FALSE(read(std::string(1000, 'k')));
	EXPECT_FALSE(read(""));
}

TEST_F(KeyFile, OneNewlineAtTheEndIsNotKey)
{
	EXPECT_EQ(read(std::string(64, 'k') + "\n")->size(), 64U);
	EXPECT_EQ(read(std::string(16, 'k') + "\n\n")->size(), 17U);
}

TEST_F(KeyFile, RefusalsSayWhy)
{
	EXPECT_NE(read("short").error().text.find("holds 5 bytes; a key has 16 to 64"),
		  std::string::npos);
	unlink(path_.c_str());
	const auto missing = read_key_file(path_);
	EXPECT_EQ(missing.error().code, ENOENT);
	EXPECT_NE(missing.error().text.find("No such file"), std::string::npos);
	EXPECT_FALSE(read_key_file("/"));
}

TEST_F(KeyFile, EverybodyShouldNotReadIt)
{
	for (const mode_t mode : {0644, 0600, 0640}) {
		ASSERT_TRUE(read(std::string(16, 'k')));
		chmod(path_.c_str(), mode);
		testing::internal::CaptureStderr();
		EXPECT_TRUE(read_key_file(path_));
		EXPECT_EQ(testing::internal::GetCapturedStderr().empty(), mode != 0644);
	}
}

} // namespace
} // namespace pib::inline model

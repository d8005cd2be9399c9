// SPDX-License-Identifier: GPL-2.0
#include "trace/instance.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace pib::ctl {
namespace {

namespace fs = std::filesystem;

/// A folder that looks like tracefs where that is enough.
class TraceFolder : public testing::Test {
protected:
	TraceFolder()
	{
		char name[] = "/tmp/tracefs.XXXXXX";
		root = mkdtemp(name);
		fs::create_directory(root + "/instances");
	}
	~TraceFolder() override { fs::remove_all(root); }

	std::string instance(const std::string &name)
	{
		const auto path = root + "/instances/" + name;
		fs::create_directory(path);
		return path;
	}
	std::string root;
};

std::string content(const std::string &path)
{
	std::string line;
	std::getline(std::ifstream(path), line);
	return line;
}

pid_t gone_process()
{
	const pid_t pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, nullptr, 0);
	return pid;
}

TEST_F(TraceFolder, IsFound)
{
	EXPECT_EQ(*find_tracefs({"/nonesuch", root}), root);
}

TEST_F(TraceFolder, SaysHowToMountIt)
{
	const auto none = find_tracefs({"/nonesuch"});
	ASSERT_FALSE(none);
	EXPECT_EQ(none.error().text,
		  "there is no tracefs at /nonesuch: 'mount -t tracefs nodev /nonesuch'");
}

TEST_F(TraceFolder, WhatIsLeftOfTheDeadIsTakenAway)
{
	const auto dead = instance("pib-" + std::to_string(gone_process()));
	const auto own = instance("pib-" + std::to_string(getpid()));
	const auto other = instance("pib-x");
	const auto foreign = instance("trace-cmd");
	sweep_instances(root);
	EXPECT_FALSE(fs::exists(dead));
	EXPECT_TRUE(fs::exists(own) && fs::exists(other) && fs::exists(foreign));
}

TEST_F(TraceFolder, MarksGoToEachOfOurs)
{
	for (const auto *name : {"pib-1", "pib-2", "trace-cmd"})
		std::ofstream(instance(name) + "/trace_marker");
	EXPECT_EQ(*mark_traces(root, "here"), 2U);
	EXPECT_EQ(content(root + "/instances/pib-2/trace_marker"), "here");
	EXPECT_EQ(content(root + "/instances/trace-cmd/trace_marker"), "");
}

TEST_F(TraceFolder, AnInstanceThatCannotBeReadIsNotLeftBehind)
{
	EXPECT_FALSE(TraceInstance::create(root));
	EXPECT_TRUE(fs::is_empty(root + "/instances"));
}

} // namespace
} // namespace pib::ctl

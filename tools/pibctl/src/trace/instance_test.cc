// SPDX-License-Identifier: GPL-2.0
#include "trace/instance.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "trace/fake_tracefs.h"

namespace pib::ctl {
namespace {

namespace fs = std::filesystem;

class TraceFolder : public FakeTracefs {
protected:
	std::string instance(const std::string &name)
	{
		const auto path = root + "/instances/" + name;
		fs::create_directory(path);
		return path;
	}
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
	const auto gone = std::to_string(gone_process());
	const auto dead = instance("pibctl-" + gone);
	const auto own = instance("pibctl-" + std::to_string(getpid()));
	sweep_instances(root);
	EXPECT_FALSE(fs::exists(dead));
	EXPECT_TRUE(fs::exists(own));
}

TEST_F(TraceFolder, WhatOthersHaveMadeStays)
{
	const auto gone = std::to_string(gone_process());
	for (const auto &name :
	     {"pib-" + gone, "pib-run-" + gone, "pibctl-x-" + gone, "pibctl-0" + gone,
	      "pibctl-" + gone + "x", std::string("pibctl-"), std::string("trace-cmd")}) {
		const auto path = instance(name);
		sweep_instances(root);
		EXPECT_TRUE(fs::exists(path)) << name;
	}
}

TEST_F(TraceFolder, MarksGoToEachOfOurs)
{
	for (const auto *name : {"pibctl-1", "pibctl-2", "pib-2024", "pibctl-x", "trace-cmd"})
		std::ofstream(instance(name) + "/trace_marker");
	EXPECT_EQ(*mark_traces(root, "here"), 2U);
	EXPECT_EQ(content(root + "/instances/pibctl-2/trace_marker"), "here");
	for (const auto *name : {"pib-2024", "pibctl-x", "trace-cmd"})
		EXPECT_EQ(content(root + "/instances/" + name + "/trace_marker"), "") << name;
}

/// Marks of the first traces fail with these errors, 0: none.
Result<std::size_t> mark_with(const std::string &root, const std::vector<int> &errors,
			      std::size_t &asked)
{
	asked = 0;
	return mark_traces(root, "here", [&](const std::string &, std::string_view) -> Status {
		const auto at = asked++;
		if (at < errors.size() && errors[at])
			return Error{"error " + std::to_string(errors[at]), errors[at]};
		return success();
	});
}

TEST_F(TraceFolder, MarksPassWhatBeginsOrEnds)
{
	for (const auto *name : {"pibctl-1", "pibctl-2", "pibctl-3", "pibctl-4"})
		instance(name);
	std::size_t asked = 0;
	const auto marked = mark_with(root, {EBADF, ENODEV, ENOENT}, asked);
	ASSERT_TRUE(marked);
	EXPECT_EQ(*marked, 1U);
	EXPECT_EQ(asked, 4U);
}

TEST_F(TraceFolder, OtherErrorsOfMarksAreToldAtTheEnd)
{
	for (const auto *name : {"pibctl-1", "pibctl-2", "pibctl-3"})
		instance(name);
	std::size_t asked = 0;
	const auto marked = mark_with(root, {EIO, EBADF}, asked);
	ASSERT_FALSE(marked);
	EXPECT_EQ(marked.error().code, EIO);
	EXPECT_EQ(asked, 3U);
}

TEST_F(TraceFolder, AnInstanceThatCannotBeReadIsNotLeftBehind)
{
	EXPECT_FALSE(TraceInstance::create(root));
	EXPECT_TRUE(fs::is_empty(root + "/instances"));
}

TEST_F(TraceFolder, WhatIsLeftOfOurOwnNumberIsNotInTheWay)
{
	instance("pibctl-" + std::to_string(getpid()));
	const auto created = TraceInstance::create(root);
	ASSERT_FALSE(created);
	EXPECT_TRUE(created.error().text.ends_with(
		fmt::format("pibctl-{}/trace_pipe: No such file or directory", getpid())))
		<< created.error().text;
}

TEST_F(TraceFolder, AProcessOfOurNumberInAnotherPidNamespaceKeepsItsInstance)
{
	const auto taken = instance("pibctl-" + std::to_string(getpid()));
	std::ofstream(taken + "/trace_pipe");
	const auto created = TraceInstance::create(root);
	ASSERT_FALSE(created);
	EXPECT_TRUE(created.error().text.ends_with(fmt::format(
		"pibctl-{}/trace_pipe: No such file or directory", getpid() + (1 << 22))))
		<< created.error().text;
	EXPECT_TRUE(fs::exists(taken));
}

} // namespace
} // namespace pib::ctl

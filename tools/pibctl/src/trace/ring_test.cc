// SPDX-License-Identifier: GPL-2.0
#include "trace/ring.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "trace/fake_tracefs.h"
#include "trace/instance.h"

namespace pib::ctl {
namespace {

namespace fs = std::filesystem;

class Ring : public FakeTracefs {
protected:
	Ring() : path(root + "/instances/pibctl-ring") {}

	void fill(const std::string &file, const std::string &text)
	{
		fs::create_directories(fs::path(path + file).parent_path());
		std::ofstream(path + file) << text;
	}
	/// The ring's records as text, a line for each.
	std::string told(std::size_t most = 100)
	{
		std::string text;
		const auto shown = show_ring(root, [&](const TraceRecord &record) {
			text += trace_text(record) + "\n";
			return --most > 0;
		});
		return shown ? text : shown.error().text;
	}
	std::string path;
};

TEST_F(Ring, IsThereOnce)
{
	fs::create_directory(path);
	const auto started = start_ring(root, {});
	ASSERT_FALSE(started);
	EXPECT_EQ(started.error().text, "a ring is on already: 'pibctl trace stop' ends it");
	EXPECT_TRUE(fs::exists(path));
}

TEST_F(Ring, IsNotLeftBehindWhenItFails)
{
	EXPECT_FALSE(start_ring(root, {}));
	EXPECT_FALSE(fs::exists(path));
}

TEST_F(Ring, IsNotThere)
{
	EXPECT_EQ(told(), "no ring is on: 'pibctl trace start' begins one");
	const auto stopped = stop_ring(root);
	ASSERT_FALSE(stopped);
	EXPECT_EQ(stopped.error().text, "no ring is on: 'pibctl trace start' begins one");
}

TEST_F(Ring, StaysWhenOthersAreSweptAndHasTheirMarks)
{
	fill("/trace_marker", "");
	sweep_instances(root);
	ASSERT_TRUE(fs::exists(path));
	EXPECT_EQ(*mark_traces(root, "here"), 1U);
}

TEST_F(Ring, TellsWhatIsInItAndWhatWasOverwritten)
{
	fill("/per_cpu/cpu0/stats", "entries: 2\noverrun: 0\ncommit overrun: 7\n");
	fill("/per_cpu/cpu11/stats", "entries: 2\noverrun: 23\ncommit overrun: 0\n");
	fill("/trace", "# tracer: nop\n#\n"
		       "               x-1       [000] ..... 1.0: pib_link: device=a port=1\n"
		       "           a\n# b-1       [000] ..... 1.5: pib_link: device=d port=0\n"
		       "               x-1       [000] ..... 2.0: pib_link: device=b port=2\n"
		       "               x-1       [000] ..... 99999999999.0: pib_link: device=c\n");
	EXPECT_EQ(told(), "23 events were lost on CPU 11\n"
			  "1.0 a/1 link\n"
			  "1.5 d link\n"
			  "2.0 b/2 link\n");
	EXPECT_EQ(told(2), "23 events were lost on CPU 11\n1.0 a/1 link\n");
}

} // namespace
} // namespace pib::ctl

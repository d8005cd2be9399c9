// SPDX-License-Identifier: GPL-2.0
// Runs the unit tests; reports them in TAP, without a plan where another adds them up.
#include <cstdio>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace {

class Tap : public testing::EmptyTestEventListener {
	void OnTestProgramStart(const testing::UnitTest &t) override
	{
		std::printf("TAP version 13\n1..%d\n", t.test_to_run_count());
	}

	void OnTestPartResult(const testing::TestPartResult &r) override
	{
		if (!r.failed())
			return;
		std::printf("# %s:%d\n", r.file_name() ? r.file_name() : "?", r.line_number());
		std::string line;
		for (const char *p = r.message();; p++) {
			if (*p && *p != '\n') {
				line += *p;
				continue;
			}
			std::printf("# %s\n", line.c_str());
			line.clear();
			if (!*p)
				break;
		}
	}

	void OnTestEnd(const testing::TestInfo &t) override
	{
		const auto *r = t.result();

		std::printf("%sok %d %s.%s%s\n", r->Failed() ? "not " : "", ++count_,
			    t.test_suite_name(), t.name(), r->Skipped() ? " # SKIP" : "");
		std::fflush(stdout);
	}

	int count_ = 0;
};

} // namespace

int main(int argc, char **argv)
{
	bool tap = false;

	for (int i = 1; i < argc; i++)
		tap = tap || !std::strcmp(argv[i], "--tap");
	testing::InitGoogleTest(&argc, argv);
	if (tap) {
		auto &listeners = testing::UnitTest::GetInstance()->listeners();

		delete listeners.Release(listeners.default_result_printer());
		listeners.Append(new Tap);
	}
	return RUN_ALL_TESTS();
}

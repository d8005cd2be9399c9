// SPDX-License-Identifier: GPL-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace pib::ctl {

/// A folder that looks like tracefs where that is enough.
class FakeTracefs : public testing::Test {
protected:
	FakeTracefs()
	{
		char name[] = "/tmp/tracefs.XXXXXX";
		root = mkdtemp(name);
		std::filesystem::create_directory(root + "/instances");
	}
	~FakeTracefs() override { std::filesystem::remove_all(root); }

	std::string root;
};

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
#include "util/log.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace pib::netd {
namespace {

using Json = nlohmann::json;

TEST(Logs, AreStructured)
{
	std::ostringstream out;
	Log text(out, LogFormat::text, LogLevel::info);
	text.info("link up",
		  {{"port", "sw0/1"}, {"description", "a \"b\" c"}, {"n", std::uint64_t{4}}});
	text.debug("not shown");
	EXPECT_EQ(out.str(), "info: link up port=sw0/1 description=\"a \\\"b\\\" c\" n=4\n");
	out.str("");
	Log(out, LogFormat::json, LogLevel::info).error("x", {{"y", "\xff"}});
	const Json line = Json::parse(out.str());
	EXPECT_EQ(line.at("level"), "error");
	EXPECT_EQ(line.at("event"), "x");
}

} // namespace
} // namespace pib::netd

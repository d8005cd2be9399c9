// SPDX-License-Identifier: GPL-2.0
#include "cli/version.h"

#include <fmt/format.h>
#include <linux/pib.h>

#include <filesystem>
#include <fstream>

namespace pib::ctl {
namespace {

constexpr const char *kModule = "/sys/module/pib";

std::string module_version()
{
	std::error_code ignored;
	if (!std::filesystem::exists(kModule, ignored))
		return "not loaded";
	std::string version;
	std::getline(std::ifstream(fmt::format("{}/version", kModule)), version);
	return version.empty() ? "loaded, of unknown version" : version;
}

} // namespace

std::string version_text()
{
	return fmt::format("pibctl {} (netlink version {})\nmodule pib {}\n", PIBCTL_VERSION,
			   PIB_FAMILY_VERSION, module_version());
}

} // namespace pib::ctl

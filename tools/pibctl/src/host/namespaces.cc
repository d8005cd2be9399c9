// SPDX-License-Identifier: GPL-2.0
#include "host/namespaces.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace pib::ctl {
namespace {

namespace fs = std::filesystem;

/// One empty file for each namespace that is ours to delete.
const fs::path kOurs = "/run/pibctl/netns";

/// ip(8) reads its commands from a pipe: one process for all namespaces.
Status run_ip(const std::string &commands)
{
	if (commands.empty())
		return success();
	FILE *ip = popen("ip -batch -", "we");
	if (!ip)
		return errno_error("cannot run ip");
	const bool written =
		std::fwrite(commands.data(), 1, commands.size(), ip) == commands.size();
	const int status = pclose(ip);
	if (!written || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return Error{"ip failed (see above; iproute2 must be installed)"};
	return success();
}

/// Netdevs of IPoIB: they hang under the device that is the parent of the HCA.
std::vector<std::string> netdevs_of(const std::string &hca)
{
	std::vector<std::string> names;
	std::error_code error;
	const fs::path under = fs::path("/sys/class/infiniband") / hca / "device" / "net";
	for (const auto &entry : fs::directory_iterator(under, error))
		names.push_back(entry.path().filename());
	return names;
}

} // namespace

Status make_namespaces(const std::vector<std::string> &hcas)
{
	std::error_code error;
	fs::create_directories(kOurs, error);
	if (error)
		return Error{fmt::format("cannot make {}: {}", kOurs.string(), error.message())};
	std::string commands;
	for (const std::string &hca : hcas) {
		if (fs::exists(fs::path("/run/netns") / hca))
			return Error{fmt::format("there is a network namespace '{}' already", hca),
				     EEXIST};
		commands += fmt::format("netns add {}\n", hca);
		for (const std::string &netdev : netdevs_of(hca))
			commands += fmt::format("link set dev {} netns {}\n", netdev, hca);
	}
	for (const std::string &hca : hcas)
		std::ofstream(kOurs / hca);
	auto made = run_ip(commands);
	if (!made)
		(void)delete_namespaces(hcas);
	return made;
}

Status delete_namespaces(const std::vector<std::string> &hcas)
{
	std::string commands;
	std::error_code error;
	for (const std::string &hca : hcas) {
		if (!fs::remove(kOurs / hca, error))
			continue;
		if (fs::exists(fs::path("/run/netns") / hca))
			commands += fmt::format("netns del {}\n", hca);
	}
	return run_ip(commands);
}

} // namespace pib::ctl

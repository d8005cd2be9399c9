// SPDX-License-Identifier: GPL-2.0
#include "trace/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace pib::ctl {

Error trace_error(std::string_view doing, const std::string &path)
{
	const int code = errno;
	if (code == EACCES || code == EPERM)
		return Error{fmt::format("cannot {} {}: tracing needs root", doing, path), code};
	return errno_error("cannot {} {}", doing, path);
}

Status write_file(const std::string &path, std::string_view text)
{
	const int fd = open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return trace_error("open", path);
	const auto written = ::write(fd, text.data(), text.size());
	const Error error = trace_error("write to", path);
	close(fd);
	if (written < 0)
		return error;
	return success();
}

std::string read_file(const std::string &path)
{
	std::ifstream stream(path);
	return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::string> names_in(const std::string &path)
{
	std::vector<std::string> names;
	std::error_code error;
	for (const auto &entry : std::filesystem::directory_iterator(path, error))
		names.push_back(entry.path().filename());
	std::ranges::sort(names);
	return names;
}

} // namespace pib::ctl

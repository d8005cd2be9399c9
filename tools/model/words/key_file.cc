// SPDX-License-Identifier: GPL-2.0
#include "model/words/key_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdio>
#include <memory>

namespace pib::inline model {
namespace {

constexpr std::size_t kLeast = 16;
constexpr std::size_t kMost = 64;

struct Closer {
	void operator()(std::FILE *file) const { std::fclose(file); }
};

void warn_if_open(std::FILE *file, const std::string &path)
{
	struct stat status;
	if (!fstat(fileno(file), &status) && S_ISREG(status.st_mode) && status.st_mode & S_IROTH)
		fmt::print(stderr, "warning: everybody can read the key file '{}'\n", path);
}

} // namespace

Result<Bytes> read_key_file(const std::string &path)
{
	const std::unique_ptr<std::FILE, Closer> file(std::fopen(path.c_str(), "rbe"));
	if (!file)
		return errno_error("cannot read key file '{}'", path);
	warn_if_open(file.get(), path);
	// No buffer of the library keeps the key.
	std::setvbuf(file.get(), nullptr, _IONBF, 0);
	// Room for the newline and for one byte that shows the file to be too long.
	Bytes key(kMost + 2);
	key.resize(std::fread(key.data(), 1, key.size(), file.get()));
	if (std::ferror(file.get()))
		return errno_error("cannot read key file '{}'", path);
	if (!key.empty() && key.back() == '\n')
		key.pop_back();
	if (key.size() < kLeast || key.size() > kMost)
		return Error{fmt::format(
			"key file '{}' holds {} bytes; a key has {} to {} ('head -c 32 "
			"/dev/urandom > FILE' makes one)",
			path, key.size() > kMost ? "too many" : std::to_string(key.size()), kLeast,
			kMost)};
	return key;
}

} // namespace pib::inline model

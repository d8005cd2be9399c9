// SPDX-License-Identifier: GPL-2.0
#include "host/preload.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace pib::ctl {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLibrary = "libpibmanners.so";

/// As it is installed, or beside the program that was built.
std::optional<std::string> find_library()
{
	std::error_code error;
	const auto here = fs::read_symlink("/proc/self/exe", error).parent_path();
	for (const fs::path &place :
	     {here.parent_path() / "lib" / "pib" / kLibrary, here / kLibrary})
		if (fs::exists(place, error))
			return place.string();
	return std::nullopt;
}

/// Puts a value before those that a variable has.
void set_first(const char *name, const std::string &value)
{
	const char *others = std::getenv(name);
	setenv(name, (others && *others ? value + ":" + others : value).c_str(), 1);
}

/// Memory with a number, 0, that keeps its size. -1: it cannot be made.
int make_number()
{
	const int fd = memfd_create("pib-manners", MFD_ALLOW_SEALING);
	if (fd >= 0 && !ftruncate(fd, sizeof(std::uint64_t)) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	close(fd);
	return -1;
}

void set_environment(const std::string &library, int fd, int number)
{
	set_first("LD_PRELOAD", library);
	/// Programs with it refuse to start behind another library, though this one has nothing of theirs.
	set_first("ASAN_OPTIONS", "verify_asan_link_order=0");
	setenv("PIB_MANNERS_FD", std::to_string(fd).c_str(), 1);
	setenv("PIB_MANNERS_UNHEARD_FD", std::to_string(number).c_str(), 1);
}

} // namespace

std::optional<Preload> Preload::arm()
{
	const auto library = find_library();
	std::array<int, 2> ends{};
	if (!library || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()))
		return std::nullopt;
	fcntl(ends[1], F_SETFD, 0);
	Preload preload(ends[0], ends[1], make_number());
	if (preload.unheard_ < 0)
		return std::nullopt;
	set_environment(*library, ends[1], preload.unheard_);
	return preload;
}

Preload::Preload(Preload &&other) noexcept :
	here_(std::exchange(other.here_, -1)), there_(std::exchange(other.there_, -1)),
	unheard_(std::exchange(other.unheard_, -1))
{
}

Preload::~Preload()
{
	for (const int fd : {here_, there_, unheard_})
		if (fd >= 0)
			close(fd);
}

std::vector<std::string> Preload::read()
{
	std::vector<std::string> lines;
	std::array<char, 4096> buffer;
	for (;;) {
		const auto length = recv(here_, buffer.data(), buffer.size(), MSG_DONTWAIT);
		if (length <= 0)
			return lines;
		lines.emplace_back(buffer.data(), static_cast<std::size_t>(length));
	}
}

std::uint64_t Preload::unheard() const
{
	std::uint64_t number = 0;
	const auto length = pread(unheard_, &number, sizeof(number), 0);
	return length == sizeof(number) ? number : 0;
}

} // namespace pib::ctl

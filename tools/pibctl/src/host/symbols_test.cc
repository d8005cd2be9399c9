// SPDX-License-Identifier: GPL-2.0
#include "host/symbols.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

extern "C" [[gnu::noinline]] int pib_test_function(int value)
{
	return value + 1;
}

namespace pib::ctl {
namespace {

/// Where a function is in its file.
std::uint64_t offset_of(const void *function)
{
	Dl_info info;
	link_map *map = nullptr;
	EXPECT_TRUE(dladdr1(function, &info, reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP));
	return reinterpret_cast<std::uintptr_t>(function) - map->l_addr;
}

TEST(Symbols, OfThisProgram)
{
	const auto *function = reinterpret_cast<const void *>(&pib_test_function);
	EXPECT_EQ(function_at("/proc/self/exe", offset_of(function)), "pib_test_function");
	EXPECT_EQ(function_at("/proc/self/exe", 0), "");
}

TEST(Symbols, OfAStrippedLibrary)
{
	const auto *function = dlsym(RTLD_DEFAULT, "getpid");
	Dl_info info;
	ASSERT_TRUE(dladdr(function, &info));
	const auto name = function_at(info.dli_fname, offset_of(function));
	EXPECT_TRUE(name.ends_with("getpid")) << name;
}

TEST(Symbols, OfWhatIsNoProgram)
{
	char path[] = "/tmp/symbols.XXXXXX";
	close(mkstemp(path));
	EXPECT_EQ(function_at(path, 1), "");
	std::ifstream program("/proc/self/exe", std::ios::binary);
	std::string beginning(4096, 0);
	program.read(beginning.data(), 4096);
	std::ofstream(path) << beginning;
	EXPECT_EQ(function_at(path, 1), "");
	std::ofstream(path) << "\177ELF" << std::string(100, '\377');
	EXPECT_EQ(function_at(path, 1), "");
	unlink(path);
	ASSERT_EQ(mkfifo(path, 0600), 0);
	EXPECT_EQ(function_at(path, 1), "") << "nobody writes into it";
	unlink(path);
	EXPECT_EQ(function_at("/nonesuch", 1), "");
	EXPECT_EQ(function_at("/", 1), "");
}

} // namespace
} // namespace pib::ctl

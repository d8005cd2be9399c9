// SPDX-License-Identifier: GPL-2.0
// The daemon with its sockets, in a process of its own.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "daemon/daemon.h"

namespace pib::netd {
namespace {

class DaemonTest : public ::testing::Test {
protected:
	void SetUp() override
	{
		taken_ = bound(taken_port);
		// The port is free again at once.
		bound(free_port);
	}
	void TearDown() override
	{
		for (const std::string &path : {config, control, other_control})
			::unlink(path.c_str());
	}
	static Fd bound(unsigned &port)
	{
		Fd fd(::socket(AF_INET, SOCK_DGRAM, 0));
		sockaddr_in name{};
		name.sin_family = AF_INET;
		name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		socklen_t length = sizeof(name);
		EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr *>(&name), length), 0);
		EXPECT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr *>(&name), &length), 0);
		port = ntohs(name.sin_port);
		return fd;
	}
	void write(const std::string &control_path, unsigned port)
	{
		std::ofstream(config) << R"({"threads": 1, "control": ")" << control_path
				      << R"(", "listen": ["127.0.0.1:)" << port << R"("]})";
	}
	static bool listens(const std::string &path)
	{
		const Fd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
		sockaddr_un name{};
		name.sun_family = AF_UNIX;
		std::copy(path.begin(), path.end(), name.sun_path);
		return ::connect(fd.get(), reinterpret_cast<sockaddr *>(&name), sizeof(name)) == 0;
	}
	/// Exits with 0 if the daemon did not reload, but goes on at its old control socket.
	[[noreturn]] void reload_in_vain()
	{
		std::ostringstream logged;
		Log log(logged, LogFormat::text, LogLevel::debug);
		Options options;
		options.config = config;
		Daemon daemon(options, log);
		if (!daemon.start())
			::_exit(2);
		write(other_control, taken_port);
		::raise(SIGHUP);
		::raise(SIGTERM);
		if (!daemon.run() ||
		    logged.str().find("configuration not reloaded") == std::string::npos)
			::_exit(3);
		::_exit(listens(control) && !listens(other_control) ? 0 : 1);
	}

	const std::string config = ::testing::TempDir() + "pibnetd_daemon.json";
	const std::string control = ::testing::TempDir() + "pibnetd_daemon.a";
	const std::string other_control = ::testing::TempDir() + "pibnetd_daemon.b";
	unsigned taken_port = 0;
	unsigned free_port = 0;

private:
	Fd taken_;
};

TEST_F(DaemonTest, AReloadThatCannotListenLeavesTheControlSocket)
{
	write(control, free_port);
	EXPECT_EXIT(reload_in_vain(), ::testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace pib::netd

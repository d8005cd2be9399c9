// SPDX-License-Identifier: GPL-2.0
// The server over real sockets of this machine's loopback.
#include "serve/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

#include "model/words/parse.h"
#include "serve/listener.h"

namespace pib::ctl {
namespace {

constexpr int kPatience = 20000;

/// A client's connection.
class Connection {
public:
	explicit Connection(std::uint16_t port) :
		fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
	{
		sockaddr_in address{};
		address.sin_family = AF_INET;
		address.sin_port = htons(port);
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr *>(&address), sizeof(address)), 0);
	}
	~Connection() { close(fd_); }
	Connection(const Connection &) = delete;
	Connection &operator=(const Connection &) = delete;

	void say(const std::string &text)
	{
		(void)!send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
	}
	/// True if something has come, which is left unread.
	bool could_hear() const
	{
		pollfd events{fd_, POLLIN, 0};
		return poll(&events, 1, kPatience) == 1;
	}
	/// All until the other end closes.
	std::string hear()
	{
		std::string all;
		char part[4096];
		pollfd events{fd_, POLLIN, 0};
		while (poll(&events, 1, kPatience) == 1) {
			const ssize_t got = recv(fd_, part, sizeof(part), 0);
			if (got <= 0)
				return all;
			all.append(part, static_cast<std::size_t>(got));
		}
		return all + "(nothing comes)";
	}

private:
	int fd_;
};

class Server : public testing::Test {
protected:
	Server()
	{
		std::signal(SIGPIPE, SIG_IGN);
		auto created = HttpServer::create(
			*parse_endpoint("127.0.0.1"),
			[this](const auto &request) -> std::optional<HttpResponse> {
				++asked;
				last = request;
				if (const auto refused = check_request(request))
					return *refused;
				if (request.path == "/later" && !known)
					return std::nullopt;
				return HttpResponse{200, "text/plain", body, ""};
			},
			bell);
		EXPECT_TRUE(created);
		server = std::move(*created);
		thread = std::thread([this] { (void)server->run(interruption); });
	}
	~Server() override
	{
		std::raise(SIGTERM);
		thread.join();
	}

	std::uint16_t port() const { return server->where().port; }
	std::string exchange(const std::string &text)
	{
		Connection connection(port());
		connection.say(text);
		return connection.hear();
	}

	bool wait_for(const std::function<bool()> &holds) const
	{
		for (int i = 0; i < kPatience && !holds(); ++i)
			poll(nullptr, 0, 1);
		return holds();
	}

	SharedText body = share("xxx");
	std::atomic<bool> known = false;
	Bell bell;
	std::atomic<int> asked = 0;
	HttpRequest last;
	Interruption interruption;
	std::unique_ptr<HttpServer> server;
	std::thread thread;
};

const std::string kGood = "GET /a/../b%2f?name=sw0%2F1 HTTP/1.1\r\nHost: localhost\r\n\r\n";

TEST_F(Server, Answers)
{
	const std::string answer = exchange(kGood);
	EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
	EXPECT_TRUE(answer.ends_with("\r\n\r\nxxx")) << answer;
	for (const char *header :
	     {"Content-Security-Policy: default-src 'none'", "Cache-Control: no-store",
	      "X-Content-Type-Options: nosniff", "Connection: close"})
		EXPECT_NE(answer.find(header), std::string::npos) << answer;
	EXPECT_EQ(last.path, "/a/../b/");
	EXPECT_EQ(last.name, "sw0/1");
	EXPECT_EQ(last.host, "localhost");
}

TEST_F(Server, AHeadHasNoBody)
{
	const std::string answer = exchange("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
	EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
	EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
}

TEST_F(Server, OtherMethodsAndHosts)
{
	EXPECT_TRUE(exchange("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nab")
			    .starts_with("HTTP/1.1 405"));
	EXPECT_TRUE(exchange("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
			    .starts_with("HTTP/1.1 403"));
	EXPECT_TRUE(exchange("GET / HTTP/1.0\r\n\r\n").starts_with("HTTP/1.0 400") ||
		    exchange("GET / HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 400"));
}

TEST_F(Server, ALongHeaderIsRefused)
{
	const int before = asked;
	const std::string answer = exchange(
		"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(100000, 'a') + "\r\n\r\n");
	// A client that goes on sending may be disconnected before it has heard why.
	EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 4")) << answer;
	EXPECT_EQ(asked, before);
}

TEST_F(Server, NonsenseIsRefused)
{
	for (const char *text :
	     {"\r\n\r\n\r\n\r\n", "GET\r\n\r\n", "\x16\x03\x01\x02\x01\x01\r\n\r\n",
	      "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n"}) {
		Connection connection(port());
		connection.say(text);
		connection.say("\r\n\r\n");
	}
	EXPECT_TRUE(exchange(kGood).starts_with("HTTP/1.1 200"));
}

TEST_F(Server, NobodyWaitsForThoseWhoSayNothing)
{
	std::list<Connection> silent;
	for (int i = 0; i < 200; ++i) {
		silent.emplace_back(port());
		if (i % 2)
			silent.back().say("GET / HTTP/1.1\r\nHost: ");
	}
	EXPECT_TRUE(exchange(kGood).starts_with("HTTP/1.1 200"));
	// The oldest has had to go.
	EXPECT_EQ(silent.front().hear(), "");
}

TEST_F(Server, NobodyWaitsForThoseWhoDoNotListen)
{
	// More than the kernel keeps for a socket.
	body = share(std::string(16 << 20, 'x'));
	std::list<Connection> deaf;
	for (int i = 0; i < 5; ++i) {
		deaf.emplace_back(port());
		deaf.back().say(kGood);
		EXPECT_TRUE(deaf.back().could_hear());
	}
	EXPECT_EQ(exchange("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n").substr(0, 12),
		  "HTTP/1.1 200");
	// All are sent the same one, which goes with the last of them.
	EXPECT_GE(body.use_count(), 6);
	deaf.clear();
	EXPECT_TRUE(wait_for([&] { return body.use_count() == 1; }));
}

const std::string kLater = "GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n";

TEST_F(Server, WhatIsNotKnownYetIsAnsweredLater)
{
	Connection patient(port());
	patient.say(kLater);
	ASSERT_TRUE(wait_for([&] { return asked == 1; }));
	EXPECT_TRUE(exchange(kGood).starts_with("HTTP/1.1 200"));
	// A bell that rings too early makes it ask again, and a client that has gone does no harm.
	{
		Connection gone(port());
		gone.say(kLater);
		ASSERT_TRUE(wait_for([&] { return asked == 3; }));
	}
	bell.ring();
	ASSERT_TRUE(wait_for([&] { return asked >= 4; }));
	known = true;
	bell.ring();
	EXPECT_TRUE(patient.hear().ends_with("\r\n\r\nxxx"));
}

TEST_F(Server, ItEndsWhileSomebodyWaits)
{
	Connection patient(port());
	patient.say(kLater);
	EXPECT_TRUE(wait_for([&] { return asked == 1; }));
}

TEST_F(Server, ACrowdThatWaitsHasToGo)
{
	std::list<Connection> crowd;
	for (int i = 0; i < 100; ++i) {
		crowd.emplace_back(port());
		crowd.back().say(kLater);
	}
	EXPECT_TRUE(exchange(kGood).starts_with("HTTP/1.1 200"));
	EXPECT_EQ(crowd.front().hear(), "");
}

TEST(Listener, APortThatIsTaken)
{
	Endpoint where = *parse_listen("127.0.0.1");
	const auto first = listen_at(where);
	ASSERT_TRUE(first);
	EXPECT_NE(where.port, 0);
	const auto second = listen_at(where);
	ASSERT_FALSE(second);
	EXPECT_NE(second.error().text.find("cannot listen on 127.0.0.1:"), std::string::npos);
	close(*first);
}

TEST(Listener, Loopback)
{
	EXPECT_TRUE(is_loopback(*parse_listen("127.0.0.1")));
	EXPECT_TRUE(is_loopback(*parse_listen("127.9.9.9")));
	EXPECT_TRUE(is_loopback(*parse_listen("::1")));
	EXPECT_FALSE(is_loopback(*parse_listen("0.0.0.0")));
	EXPECT_FALSE(is_loopback(*parse_listen("::")));
	EXPECT_FALSE(is_loopback(*parse_listen("192.0.2.7")));
}

TEST(Listener, Addresses)
{
	EXPECT_EQ(parse_listen("fe80::1%eth0")->scope, "eth0");
	for (const char *word :
	     {"", "localhost", "127.0.0.1:80", "[::1]", "127.0.0.1%eth0", "1.2.3"})
		EXPECT_FALSE(parse_listen(word)) << word;
}

} // namespace
} // namespace pib::ctl

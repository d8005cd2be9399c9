// SPDX-License-Identifier: GPL-2.0
// The control socket: a unix socket, requests and answers a line each.
#pragma once

#include <functional>
#include <list>
#include <string>

#include "wire/address.h"
#include "util/fd.h"

namespace pib::netd {

class Server {
public:
	/// answer: of one request line, without its line feed.
	using Answer = std::function<std::string(std::string_view line)>;

	explicit Server(int epoll) : epoll_(epoll) {}
	~Server();

	/// Replaces a socket on which no process listens any more.
	Status open(const std::string &path);
	/// Takes no new clients. Those that are connected stay: one may have asked for this.
	void close();
	const std::string &path() const { return path_; }
	/// Handles events of a descriptor. False if it is none of this server's.
	bool handle(int fd, std::uint32_t events, const Answer &answer);

private:
	struct Client {
		Fd fd;
		std::string in;
		std::string out;
	};

	void accept();
	/// False if the client must go.
	bool read(Client &client, const Answer &answer);
	bool write(Client &client);

	int epoll_;
	std::string path_;
	Fd listener_;
	std::list<Client> clients_;
};

} // namespace pib::netd

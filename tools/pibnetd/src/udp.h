// SPDX-License-Identifier: GPL-2.0
// UDP sockets: many datagrams to a system call, by recvmmsg and sendmmsg, GRO and GSO.
#pragma once

#include <netinet/in.h>

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "fd.h"
#include "stats.h"
#include "wire.h"

namespace pibnetd {

class Udp final : public Wire {
 public:
  /// stats: errors of sending are counted there.
  explicit Udp(Stats& stats);
  ~Udp() override;

  /// Opens a socket; its number is that of Path::socket.
  Result<unsigned> open(const Address& listen);
  void close(unsigned socket) { sockets_[socket] = {}; }
  int descriptor(unsigned socket) const { return sockets_[socket].fd.get(); }
  Address local(unsigned socket) const;

  /// Takes in what a socket has, up to a batch; returns how many super-packets that were. The
  /// bytes stay as they are until the next call.
  std::size_t receive(unsigned socket, const std::function<void(const Arrival&)>& take);

  void send(const Path& path, std::span<const iovec> parts, std::size_t segment) override;
  void flush() override;
  std::size_t room(const Path& path) override;

 private:
  struct Socket {
    Fd fd;
    int family = 0;
  };
  struct Message {
    Path path;
    std::size_t first;
    std::size_t count;
    std::size_t segment;
  };
  struct Buffers;
  struct Room {
    std::size_t bytes;
    std::uint64_t until;
  };
  struct Outgoing;

  Arrival arrival(unsigned socket, const msghdr& header, std::size_t length) const;
  const Socket* socket_for(const Path& path) const;
  void prepare(const Message& message, Outgoing& out);
  void send_run(const Socket& socket, std::span<const Message> run);
  bool wait_writable(const Socket& socket) const;
  void send_apart(const Socket& socket, const Message& message);
  std::size_t ask_room(const Path& path) const;

  Stats& stats_;
  std::vector<Socket> sockets_;
  std::unique_ptr<Buffers> buffers_;
  std::vector<iovec> parts_;
  std::vector<Message> messages_;
  std::map<std::pair<int, std::array<std::uint8_t, 16>>, Room> rooms_;
};

}  // namespace pibnetd

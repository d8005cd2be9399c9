// SPDX-License-Identifier: GPL-2.0
// The daemon: one loop that waits for datagrams, signals, the control socket and time.
#pragma once

#include <optional>

#include "control.h"
#include "server.h"
#include "udp.h"

namespace pibnetd {

/// What the command line asks for; it goes before the configuration file.
struct Options {
  std::string config;
  std::vector<Address> listen;
  std::string control;
  std::string state;
  std::optional<std::uint8_t> ports;
  std::optional<std::uint32_t> fabric;
  std::string key_file;
};

/// The configuration as file, command line and defaults make it.
Result<Config> load_config(const Options& options);

class Daemon {
 public:
  Daemon(const Options& options, Log& log);

  Status start();
  /// Until SIGTERM or SIGINT.
  Status run();

 private:
  Status apply(Config config);
  Status listen_anew(const std::vector<Address>& addresses);
  Status reload();
  void reload_and_tell();
  void signals();
  void datagrams();
  void own_losses(std::uint64_t now);
  void event(int fd, std::uint32_t events);
  void save_state();
  int wait_ms(std::uint64_t now);

  Options options_;
  Log& log_;
  Fd epoll_;
  Fd signals_;
  /// Goes off when something is due before a wait in milliseconds would end.
  Fd alarm_;
  Stats stats_;
  Udp udp_;
  Core core_;
  Server server_;
  ControlHooks hooks_;
  Config config_;
  struct Listening {
    Address address;
    unsigned socket;
  };
  std::vector<Listening> listening_;
  std::vector<Reservation> saved_;
  /// When the sockets' losses are to be looked at.
  std::uint64_t losses_due_ = 0;
  /// When no socket had more than was taken out of it.
  std::uint64_t caught_up_ = 0;
  std::uint64_t watchdog_ = 0;
  std::uint64_t watchdog_due_ = 0;
  bool running_ = true;
};

}  // namespace pibnetd

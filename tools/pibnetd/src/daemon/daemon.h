// SPDX-License-Identifier: GPL-2.0
// The daemon: a loop that waits for datagrams, signals, the control socket and time. Other threads
// help with the datagrams.
#pragma once

#include <optional>

#include "control/control.h"
#include "control/server.h"
#include "daemon/worker.h"

namespace pib::netd {

/// Options of the command line, which override the configuration file.
struct Options {
	std::string config;
	std::vector<Address> listen;
	std::string control;
	std::string state;
	std::optional<std::uint8_t> ports;
	std::optional<std::uint32_t> fabric;
	std::string key_file;
	std::string second_key_file;
	std::optional<model::DscpTable> dscp;
	std::optional<bool> ecn;
	std::optional<bool> windows;
	std::optional<bool> icrc;
};

/// The configuration as file, command line and defaults make it.
Result<Config> load_config(const Options &options);

class Daemon {
public:
	Daemon(const Options &options, Log &log);

	Status start();
	/// Until SIGTERM or SIGINT.
	Status run();

private:
	Status keys_may_change(const Config &config, Drop drop);
	Status apply(Config config, Drop drop);
	Status move_control(const std::string &path);
	Status listen_anew(const std::vector<Address> &addresses);
	void set_workers(unsigned number);
	void join(Worker &worker, unsigned socket, const Address &address);
	void start_workers();
	void stop_workers();
	Status reload(Drop drop);
	void reload_and_tell();
	void signals();
	int look();
	void alarm(std::uint64_t at);
	void own_losses(std::uint64_t now);
	void event(int fd, std::uint32_t events);
	bool is_unsaved() const;
	std::optional<std::vector<Reservation>> unsaved(std::uint64_t now);
	void save_state(const std::optional<std::vector<Reservation>> &all);
	int wait_ms(std::uint64_t now);

	Options options_;
	Log &log_;
	Fd epoll_;
	Fd signals_;
	/// Goes off when something is due before a wait in milliseconds would end.
	Fd alarm_;
	Io io_;
	Shared shared_;
	Core &core_;
	/// Owns the lock of shared_ while this thread uses core_.
	std::unique_lock<std::mutex> held_;
	Server server_;
	ControlHooks hooks_;
	Config config_;
	struct Listening {
		Address address;
		unsigned socket;
	};
	std::vector<Listening> listening_;
	std::vector<std::unique_ptr<Worker>> workers_;
	/// PortFinder::reservations_version() of what was written down last.
	std::uint64_t saved_ = 0;
	/// When that may be done again.
	std::uint64_t save_due_ = 0;
	/// Time of the next look at the sockets' losses.
	std::uint64_t losses_due_ = 0;
	std::uint64_t watchdog_ = 0;
	std::uint64_t watchdog_due_ = 0;
	bool running_ = true;
};

} // namespace pib::netd

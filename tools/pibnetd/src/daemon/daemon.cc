// SPDX-License-Identifier: GPL-2.0
#include "daemon/daemon.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "util/clock.h"
#include "daemon/notify.h"
#include "model/words/key_file.h"
#include "daemon/privileges.h"
#include "daemon/state.h"

namespace pib::netd {
namespace {

/// Least time between two saves of which peer has which port.
constexpr std::uint64_t kSaveNs = PIB_NSEC_PER_SEC;
/// Time between two looks at what the sockets have dropped.
constexpr std::uint64_t kLossesNs = 20 * PIB_NSEC_PER_MSEC;
/// An event that is due sooner gets a timer of its own.
constexpr std::uint64_t kAlarmNs = 2 * PIB_NSEC_PER_MSEC;

std::uint64_t random64()
{
	std::uint64_t drawn = 0;
	while (::getrandom(&drawn, sizeof(drawn), 0) != sizeof(drawn)) {
	}
	return drawn;
}

void watch(int epoll, int fd)
{
	epoll_event event{};
	event.events = EPOLLIN;
	event.data.fd = fd;
	::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

std::string state_directory()
{
	const char *directory = std::getenv("STATE_DIRECTORY");
	return directory ? std::string(directory) + "/ports" : std::string();
}

} // namespace

Result<Config> load_config(const Options &options)
{
	Config config;
	if (!options.config.empty()) {
		auto read = read_config(options.config);
		if (!read)
			return read.error();
		config = std::move(*read);
	}
	const bool single = options.ports || options.fabric || !options.key_file.empty() ||
			    !options.second_key_file.empty();
	if (single && !config.switches.empty())
		return Error{
			"--ports, --fabric, --key-file and --second-key-file are for the switch "
			"that there is without a configuration file; the file says it for each of "
			"its switches"};
	if (!options.listen.empty())
		config.listen = options.listen;
	if (!options.control.empty())
		config.control = options.control;
	if (!options.state.empty())
		config.state = options.state;
	if (config.state.empty())
		config.state = state_directory();
	if (options.dscp)
		config.data_class.dscp = *options.dscp;
	if (options.ecn)
		config.data_class.ecn = *options.ecn;
	if (options.windows)
		config.windows = *options.windows;
	if (options.icrc)
		config.icrc = *options.icrc;
	complete_config(config);
	if (!single)
		return config;
	SwitchConfig &node = config.switches.front();
	if (options.ports)
		node.ports = *options.ports;
	if (options.fabric)
		node.fabric = *options.fabric;
	for (const auto &[path, key] : {std::pair{&options.key_file, &node.key},
					std::pair{&options.second_key_file, &node.second_key}}) {
		if (path->empty())
			continue;
		auto read = model::read_key_file(*path);
		if (!read)
			return read.error();
		*key = take_key(*read);
	}
	if (auto ok = check_second_key(node); !ok)
		return Error{fmt::format("--second-key-file: {}", ok.error().text)};
	return config;
}

Daemon::Daemon(const Options &options, Log &log) :
	options_(options), log_(log), epoll_(::epoll_create1(EPOLL_CLOEXEC)),
	shared_(log, random64), core_(shared_.core), server_(epoll_.get())
{
	hooks_.reload = [this](Drop drop) { return reload(drop); };
	hooks_.listen = [this] { return config_.listen; };
}

Status Daemon::start()
{
	if (!epoll_)
		return errno_error("cannot make an epoll instance");
	sigset_t set;
	sigemptyset(&set);
	for (const int signal : {SIGTERM, SIGINT, SIGHUP})
		sigaddset(&set, signal);
	::sigprocmask(SIG_BLOCK, &set, nullptr);
	signals_ = Fd(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
	if (!signals_)
		return errno_error("cannot receive signals");
	watch(epoll_.get(), signals_.get());
	alarm_ = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
	if (!alarm_)
		return errno_error("cannot make a timer");
	watch(epoll_.get(), alarm_.get());

	auto config = load_config(options_);
	if (!config)
		return config.error();
	if (!config->state.empty()) {
		auto had = read_state(config->state);
		if (had)
			core_.set_reservations(*had);
		else
			log_.warning("state not read", {{"error", had.error().text}});
	}
	saved_ = core_.ports().reservations_version();
	if (auto applied = apply(std::move(*config), Drop::unused); !applied)
		return applied;
	// The sockets have their buffers. Threads have capabilities of their own, so they come
	// later.
	drop_capabilities();
	start_workers();
	watchdog_ = watchdog_interval();
	notify_manager("READY=1");
	log_.info("ready",
		  {{"version", std::string(PIBNETD_VERSION)}, {"threads", workers_.size() + 1}});
	return success();
}

Status Daemon::listen_anew(const std::vector<Address> &addresses)
{
	std::vector<Listening> opened;
	for (const Address &address : addresses) {
		const bool have =
			std::any_of(listening_.begin(), listening_.end(),
				    [&](const Listening &l) { return l.address == address; });
		if (have)
			continue;
		const auto socket = io_.udp.open(address);
		if (!socket) {
			// A host without IPv6 is no reason not to serve IPv4.
			const bool optional =
				socket.error().code == EAFNOSUPPORT && addresses.size() > 1;
			if (optional)
				continue;
			for (const Listening &l : opened)
				io_.udp.close(l.socket);
			return socket.error();
		}
		opened.push_back({address, *socket});
	}
	std::erase_if(listening_, [&](const Listening &l) {
		const bool gone =
			std::find(addresses.begin(), addresses.end(), l.address) == addresses.end();
		if (!gone)
			return false;
		io_.udp.close(l.socket);
		for (auto &worker : workers_)
			worker->close(l.socket);
		return true;
	});
	for (const Listening &l : opened) {
		watch(epoll_.get(), io_.udp.descriptor(l.socket));
		for (auto &worker : workers_)
			join(*worker, l.socket, l.address);
		log_.info("listening", {{"address", format_address(l.address)},
					{"receive_buffer", io_.udp.receive_buffer(l.socket)}});
	}
	listening_.insert(listening_.end(), opened.begin(), opened.end());
	return success();
}

void Daemon::join(Worker &worker, unsigned socket, const Address &address)
{
	if (const auto joined = worker.join(socket, address, io_.udp); !joined)
		log_.warning("a thread has no socket", {{"error", joined.error().text}});
}

void Daemon::set_workers(unsigned number)
{
	if (workers_.size() > number)
		workers_.resize(number);
	while (workers_.size() < number) {
		workers_.push_back(std::make_unique<Worker>(shared_, [this] { alarm(1); }));
		for (const Listening &l : listening_)
			join(*workers_.back(), l.socket, l.address);
	}
}

/// Starts the workers. One that does not start goes: nobody would look into its sockets.
void Daemon::start_workers()
{
	std::erase_if(workers_, [this](const auto &worker) {
		const auto started = worker->start();
		if (!started)
			log_.warning("a thread does not start", {{"error", started.error().text}});
		return !started;
	});
}

void Daemon::stop_workers()
{
	for (auto &worker : workers_)
		worker->stop();
}

/// Before anything else changes.
Status Daemon::keys_may_change(const Config &config, Drop drop)
{
	const auto held = shared_.hold(io_);
	return core_.check_keys(config, clock_ns(), drop);
}

Status Daemon::move_control(const std::string &path)
{
	const std::string before = server_.path();
	if (path == before)
		return success();
	server_.close();
	if (path.empty())
		return success();
	if (auto opened = server_.open(path); !opened) {
		if (!before.empty())
			(void)server_.open(before);
		return opened;
	}
	log_.info("control socket", {{"path", path}});
	return success();
}

/// Applies a configuration, while no worker runs. A refusal leaves everything as it was.
Status Daemon::apply(Config config, Drop drop)
{
	if (auto ok = keys_may_change(config, drop); !ok)
		return ok;
	const std::string before = server_.path();
	if (auto opened = move_control(config.control); !opened)
		return opened;
	if (auto opened = listen_anew(config.listen); !opened) {
		(void)move_control(before);
		return opened;
	}
	set_workers(config.threads - 1);
	const auto held = shared_.hold(io_);
	if (auto done = core_.configure(config, clock_ns(), drop); !done)
		return done;
	config_ = std::move(config);
	return success();
}

Status Daemon::reload(Drop drop)
{
	auto config = load_config(options_);
	if (!config)
		return config.error();
	const bool held = held_.owns_lock();
	if (held)
		held_.unlock();
	stop_workers();
	auto applied = apply(std::move(*config), drop);
	start_workers();
	if (held)
		held_ = shared_.hold(io_);
	return applied;
}

void Daemon::reload_and_tell()
{
	notify_manager(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", clock_ns() / 1000));
	if (const auto done = reload(Drop::unused); done)
		log_.info("configuration reloaded");
	else
		log_.error("configuration not reloaded", {{"error", done.error().text}});
	notify_manager("READY=1");
}

void Daemon::signals()
{
	signalfd_siginfo info;
	while (::read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			reload_and_tell();
		else
			running_ = false;
	}
}

/// Tells the core of datagrams that the sockets have dropped: peers that seem silent may have sent
/// them.
void Daemon::own_losses(std::uint64_t now)
{
	if (now < losses_due_)
		return;
	losses_due_ = now + kLossesNs;
	std::uint64_t lost = io_.udp.overruns();
	for (auto &worker : workers_)
		lost += worker->overruns();
	if (lost)
		core_.deaf(now);
}

void Daemon::event(int fd, std::uint32_t events)
{
	if (fd == signals_.get()) {
		signals();
		return;
	}
	if (fd == alarm_.get()) {
		std::uint64_t times = 0;
		(void)!::read(fd, &times, sizeof(times));
		return;
	}
	for (const Listening &l : listening_) {
		if (io_.udp.descriptor(l.socket) != fd)
			continue;
		io_.udp.readable(l.socket);
		return;
	}
	server_.handle(fd, events, [this](std::string_view line) {
		held_ = shared_.hold(io_);
		auto answer = control_answer(core_, hooks_, line, clock_ns());
		held_.unlock();
		return answer;
	});
}

/// True if reservations have changed since they were saved.
bool Daemon::is_unsaved() const
{
	return !config_.state.empty() && core_.ports().reservations_version() != saved_;
}

/// The reservations to save at this time, if any. The caller saves them without the lock.
std::optional<std::vector<Reservation>> Daemon::unsaved(std::uint64_t now)
{
	if (!is_unsaved() || now < save_due_)
		return {};
	save_due_ = now + kSaveNs;
	saved_ = core_.ports().reservations_version();
	return core_.ports().reservations();
}

void Daemon::save_state(const std::optional<std::vector<Reservation>> &all)
{
	if (!all)
		return;
	if (const auto written = write_state(config_.state, *all); !written)
		log_.warning("state not saved", {{"error", written.error().text}});
}

/// At a time for which waiting in milliseconds is too coarse. Any thread.
void Daemon::alarm(std::uint64_t at)
{
	itimerspec timer{};
	timer.it_value.tv_sec = static_cast<time_t>(at / PIB_NSEC_PER_SEC);
	timer.it_value.tv_nsec = static_cast<long>(at % PIB_NSEC_PER_SEC);
	::timerfd_settime(alarm_.get(), TFD_TIMER_ABSTIME, &timer, nullptr);
}

/// Time to wait for events. Latencies of bad cables are finer than milliseconds.
int Daemon::wait_ms(std::uint64_t now)
{
	std::uint64_t due = core_.deadline();
	if (watchdog_)
		due = std::min(due, watchdog_due_);
	if (is_unsaved())
		due = std::min(due, save_due_);
	shared_.looks_at = due;
	if (due <= now || io_.udp.waiting())
		return 0;
	if (due - now < kAlarmNs)
		alarm(due);
	return static_cast<int>(std::min<std::uint64_t>((due - now) / 1'000'000 + 1, 60'000));
}

/// Does all that is due besides events. Returns the time to wait for these.
int Daemon::look()
{
	auto held = shared_.hold(io_);
	const std::uint64_t now = clock_ns();
	own_losses(now);
	if (now >= core_.deadline())
		core_.timers(now);
	if (watchdog_ && now >= watchdog_due_) {
		notify_manager("WATCHDOG=1");
		watchdog_due_ = now + watchdog_;
	}
	const auto all = unsaved(now);
	const int wait = wait_ms(now);
	held.unlock();
	save_state(all);
	return wait;
}

Status Daemon::run()
{
	std::array<epoll_event, 32> events;
	int wait = look();
	while (running_) {
		const int n = ::epoll_wait(epoll_.get(), events.data(),
					   static_cast<int>(events.size()), wait);
		if (n < 0 && errno != EINTR)
			return errno_error("cannot wait for events");
		if (wait)
			io_.caught_up = clock_ns();
		for (int i = 0; i < n; i++)
			event(events[static_cast<std::size_t>(i)].data.fd,
			      events[static_cast<std::size_t>(i)].events);
		shared_.turns(io_);
		wait = look();
	}
	stop_workers();
	notify_manager("STOPPING=1");
	const auto held = shared_.hold(io_);
	save_state(unsaved(~std::uint64_t{0}));
	core_.close(clock_ns());
	log_.info("stopped");
	return success();
}

} // namespace pib::netd

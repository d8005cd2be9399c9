// SPDX-License-Identifier: GPL-2.0
#include "daemon/client.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "daemon/decode.h"
#include "model/words/parse.h"

namespace pib::ctl {
namespace {

using Json = nlohmann::json;

/// A daemon that does not answer is not waited for for ever.
constexpr timeval kPatience = {10, 0};

Error socket_error(const std::string &path, int code)
{
	const char *hint =
		code == ENOENT || code == ECONNREFUSED ? ": no pibnetd listens there" : "";
	return Error{fmt::format("control socket '{}': {}{}", path, std::strerror(code), hint),
		     code};
}

/// A connected socket that closes itself.
class Connection {
public:
	Connection() : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
	~Connection()
	{
		if (fd_ >= 0)
			::close(fd_);
	}
	Connection(const Connection &) = delete;
	Connection &operator=(const Connection &) = delete;

	bool open(const std::string &path)
	{
		sockaddr_un name{};
		name.sun_family = AF_UNIX;
		errno = ENAMETOOLONG;
		if (path.size() >= sizeof(name.sun_path))
			return false;
		std::copy(path.begin(), path.end(), name.sun_path);
		::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
		return ::connect(fd_, reinterpret_cast<sockaddr *>(&name), sizeof(name)) == 0;
	}

	bool send(std::string_view bytes)
	{
		while (!bytes.empty()) {
			const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
			if (n < 0)
				return false;
			bytes.remove_prefix(static_cast<std::size_t>(n));
		}
		return true;
	}

	/// Up to a line feed, which is left out.
	bool receive(std::string &line)
	{
		char bytes[16384];
		for (;;) {
			const ssize_t n = ::recv(fd_, bytes, sizeof(bytes), 0);
			if (n == 0)
				errno = ECONNRESET;
			if (n <= 0)
				return false;
			line.append(bytes, static_cast<std::size_t>(n));
			if (line.back() != '\n')
				continue;
			line.pop_back();
			return true;
		}
	}

private:
	int fd_;
};

Result<Json> ask_daemon(const LineExchange &exchange, const Json &request)
{
	const auto line = exchange(request.dump());
	if (!line)
		return line.error();
	const Json answer = Json::parse(*line, nullptr, false);
	if (!answer.is_object() || !answer.contains("ok") || !answer["ok"].is_boolean())
		return Error{"the daemon's answer makes no sense", EBADMSG};
	if (answer["ok"].get<bool>())
		return answer;
	const auto error = answer.find("error");
	return Error{error != answer.end() && error->is_string() ? error->get<std::string>()
								 : "the daemon refuses"};
}

/// Shares of packets and bits are fractions of one there.
Json faults_request(const LinkChange &change)
{
	Json request = Json::object();
	const auto share = [&](const char *key, const auto &value, double scale) {
		if (value)
			request[key] = static_cast<double>(*value) / scale;
	};
	const auto count = [&](const char *key, const std::optional<std::uint64_t> &value) {
		if (value)
			request[key] = *value;
	};
	if (change.healthy)
		request["healthy"] = true;
	share("loss", change.loss, 1e9);
	share("duplicate", change.duplicate, 1e9);
	share("reorder", change.reorder, 1e9);
	share("bit_errors", change.bit_errors, 1e15);
	count("seed", change.seed);
	count("latency_ns", change.latency);
	count("rate_bps", change.rate);
	if (change.flap)
		request.update({{"flap_up_ms", change.flap->first},
				{"flap_down_ms", change.flap->second}});
	return request;
}

Error not_here(std::string_view what)
{
	return Error{
		fmt::format(
			"pibnetd {} by its configuration file: change it and reload ('kill -HUP' "
			"or 'systemctl reload pibnetd')",
			what),
		EOPNOTSUPP};
}

TransportFactory no_kernel()
{
	return []() -> Result<std::unique_ptr<Transport>> {
		return Error{"a daemon is asked, not the kernel", EOPNOTSUPP};
	};
}

} // namespace

LineExchange exchange_lines_at(std::string path)
{
	return [path = std::move(path)](const std::string &line) -> Result<std::string> {
		Connection connection;
		std::string answer;
		if (!connection.open(path) || !connection.send(line + "\n") ||
		    !connection.receive(answer))
			return socket_error(path, errno);
		return answer;
	};
}

DaemonClient::DaemonClient(LineExchange exchange) :
	Client(no_kernel()), exchange_(std::move(exchange))
{
}

Status DaemonClient::add_hca(const HcaRequest &)
{
	return Error{
		"pibnetd has switches only; HCAs are made by pib on the hosts ('pibctl add NAME netdev "
		"DEV peer ADDRESS' joins one to this daemon)",
		EOPNOTSUPP};
}
Result<int> DaemonClient::capture(const CaptureRequest &)
{
	return Error{"pibnetd captures nothing; captures are made in the kernel", EOPNOTSUPP};
}
Result<EventSource> DaemonClient::events()
{
	return Error{"pibnetd tells of no events; 'pibctl monitor' asks the kernel", EOPNOTSUPP};
}
Result<std::optional<std::uint32_t>> DaemonClient::inject(const Injection &)
{
	return not_here("injects");
}
Status DaemonClient::remove_injection(const std::string &, std::optional<std::uint32_t>)
{
	return not_here("injects");
}
Result<std::vector<Injection>> DaemonClient::injections()
{
	return std::vector<Injection>{};
}
Status DaemonClient::set_keys(const KeysRequest &)
{
	return not_here("changes keys");
}
Status DaemonClient::set_behavior(const BehaviorRequest &)
{
	return not_here("has behaviors");
}
Status DaemonClient::add_switch(const SwitchRequest &)
{
	return not_here("makes switches");
}
Status DaemonClient::add_link(const LinkRequest &)
{
	return not_here("makes cables");
}
Status DaemonClient::remove(const std::string &)
{
	return not_here("removes switches");
}
Status DaemonClient::remove_switch(const std::string &)
{
	return not_here("removes switches");
}
Status DaemonClient::remove_link(const End &)
{
	return not_here("removes cables");
}

Status DaemonClient::change_link(const LinkChange &change)
{
	const std::string port = format_end(change.end);
	if (change.width || change.speed)
		return Error{
			"width and speed of a daemon's link are for a subnet manager to set, see ibportstate(8)",
			EOPNOTSUPP};
	if (change.buffer)
		return Error{
			"the cables of a daemon have no buffers and credits, those in a kernel have",
			EOPNOTSUPP};
	if (change.plugged) {
		const auto answer = ask_daemon(
			exchange_,
			{{"command", "plug"}, {"port", port}, {"plugged", *change.plugged}});
		if (!answer)
			return answer.error();
	}
	Json faults = faults_request(change);
	if (faults.empty())
		return success();
	faults.update({{"command", "faults"}, {"port", port}});
	if (const auto answer = ask_daemon(exchange_, faults); !answer)
		return answer.error();
	return success();
}

Result<std::vector<Hca>> DaemonClient::hcas()
{
	return std::vector<Hca>{};
}

Result<std::vector<Switch>> DaemonClient::switches()
{
	const auto answer = ask_daemon(exchange_, {{"command", "show"}});
	if (!answer)
		return answer.error();
	const auto counted = ask_daemon(exchange_, {{"command", "counters"}});
	if (!counted)
		return counted.error();
	auto switches = decode_json_switches(*answer);
	decode_json_counters(*counted, switches);
	return switches;
}

Result<std::vector<Link>> DaemonClient::links()
{
	const auto answer = ask_daemon(exchange_, {{"command", "links"}});
	if (!answer)
		return answer.error();
	return decode_json_links(*answer);
}

Result<std::vector<Uplink>> DaemonClient::uplinks()
{
	const auto answer = ask_daemon(exchange_, {{"command", "uplinks"}});
	if (!answer)
		return answer.error();
	return decode_json_uplinks(*answer);
}

Result<std::vector<VerbsObject>> DaemonClient::verbs_objects()
{
	return std::vector<VerbsObject>{};
}

Result<std::optional<Hca>> DaemonClient::hca(const std::string &)
{
	return std::optional<Hca>{};
}

Result<std::optional<Switch>> DaemonClient::find_switch(const std::string &name)
{
	auto all = switches();
	if (!all)
		return all.error();
	const auto found =
		std::ranges::find_if(*all, [&](const Switch &each) { return each.name == name; });
	if (found == all->end())
		return std::optional<Switch>{};
	return std::optional(std::move(*found));
}

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
#include "serve/http_server.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>

#include "serve/listener.h"

namespace pib::ctl {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// Connections that there may be, and of how many on the oldest has to go for a new one.
constexpr unsigned int kLimit = 64;
constexpr std::size_t kCrowd = 48;
/// For the header of a request and what is sent at a time.
constexpr std::size_t kMemory = 32 * 1024;
/// Seconds in which something must move, and for all of a request and its answer.
constexpr unsigned int kIdle = 5;
constexpr auto kWhole = 15s;
/// Milliseconds between two checks for an interruption.
constexpr int kTick = 200;

struct ResponseCloser {
	void operator()(MHD_Response *response) const { microhttpd().destroy_response(response); }
};
using OwnedResponse = std::unique_ptr<MHD_Response, ResponseCloser>;

void add_headers(MHD_Response *response, const HttpResponse &answer)
{
	const std::pair<const char *, std::string> headers[] = {
		{"Content-Type", answer.type},
		{"Content-Security-Policy",
		 answer.policy.empty() ? "default-src 'none'" : answer.policy},
		{"Cache-Control", "no-store"},
		{"X-Content-Type-Options", "nosniff"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Referrer-Policy", "no-referrer"},
		// A connection that is kept would count against others.
		{"Connection", "close"},
	};
	for (const auto &[name, value] : headers)
		microhttpd().add_response_header(response, name, value.c_str());
	if (answer.status == 405)
		microhttpd().add_response_header(response, "Allow", "GET, HEAD");
}

/// The text lives until it is sent, and is not copied.
OwnedResponse make_response(const SharedText &body)
{
	auto *share = new SharedText(body);
	const auto let_go = [](void *shared) { delete static_cast<SharedText *>(shared); };
	OwnedResponse response(microhttpd().create_response_from_buffer_with_free_callback_cls(
		body->size(), const_cast<char *>(body->data()), let_go, share));
	if (!response)
		let_go(share);
	return response;
}

HttpRequest read_request(MHD_Connection *connection, const char *path, const char *method)
{
	HttpRequest request;
	request.method = method;
	request.path = path;
	if (const char *host =
		    microhttpd().lookup_connection_value(connection, MHD_HEADER_KIND, "Host"))
		request.host = host;
	if (const char *name =
		    microhttpd().lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "name"))
		request.name = name;
	if (const char *from = microhttpd().lookup_connection_value(connection, MHD_HEADER_KIND,
								    "Sec-Fetch-Site"))
		request.from = from;
	return request;
}

} // namespace

/// A connection, from its beginning on.
struct HttpServer::Visit {
	MHD_Connection *connection;
	Clock::time_point since;
	bool ended = false;
	/// For an answer that is not known yet; the library does not look at it meanwhile.
	bool waits = false;

	void go_on()
	{
		if (waits)
			microhttpd().resume_connection(connection);
		waits = false;
	}
	/// The library sees that the other end is gone, as it seems, and clears up.
	void end()
	{
		const auto *info = microhttpd().get_connection_info(
			connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		if (info && !ended)
			shutdown(info->connect_fd, SHUT_RDWR);
		ended = true;
	}
};

HttpServer::HttpServer(Endpoint where, HttpHandler handler, const Bell &bell) :
	where_(std::move(where)), handler_(std::move(handler)), bell_(bell)
{
}

HttpServer::~HttpServer()
{
	if (!daemon_)
		return;
	// The library does not end while a client waits.
	for (Visit &visit : visits_)
		visit.go_on();
	microhttpd().stop_daemon(daemon_);
}

Result<std::unique_ptr<HttpServer>> HttpServer::create(const Endpoint &where, HttpHandler handler,
						       const Bell &bell)
{
	if (auto there = load_microhttpd(); !there)
		return there.error();
	Endpoint bound = where;
	const auto listener = listen_at(bound);
	if (!listener)
		return listener.error();
	std::unique_ptr<HttpServer> server(new HttpServer(bound, std::move(handler), bell));
	if (auto started = server->start(*listener); !started)
		return started.error();
	return server;
}

Status HttpServer::start(int listener)
{
	daemon_ = microhttpd().start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr, nullptr, on_request, this,
		MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_CONNECTION_LIMIT, kLimit,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, kMemory, MHD_OPTION_CONNECTION_TIMEOUT, kIdle,
		MHD_OPTION_NOTIFY_CONNECTION, on_visit, this, MHD_OPTION_END);
	if (!daemon_)
		return errno_error("cannot start the HTTP server");
	return success();
}

Status HttpServer::run(const Interruption &interruption)
{
	const auto *info = microhttpd().get_daemon_info(daemon_, MHD_DAEMON_INFO_EPOLL_FD);
	pollfd events[] = {{info->epoll_fd, POLLIN, 0}, {bell_.file(), POLLIN, 0}};
	while (interruption.check()) {
		unsigned long long left = kTick;
		if (microhttpd().get_timeout(daemon_, &left) != MHD_YES)
			left = kTick;
		interruption.poll(events, std::size(events),
				  static_cast<int>(std::min<unsigned long long>(left, kTick)));
		if (bell_.has_rung())
			ask_again();
		if (microhttpd().run(daemon_) != MHD_YES)
			return Error{"the HTTP server has failed"};
		end_overdue();
	}
	return success();
}

MHD_Result HttpServer::answer(MHD_Connection *connection, const char *path, const char *method)
{
	const auto answer = handler_(read_request(connection, path, method));
	if (!answer)
		return wait(connection);
	const OwnedResponse response = make_response(answer->body);
	if (!response)
		return MHD_NO;
	add_headers(response.get(), *answer);
	return microhttpd().queue_response(connection, answer->status, response.get());
}

MHD_Result HttpServer::wait(MHD_Connection *connection)
{
	const auto visit = std::ranges::find(visits_, connection, &Visit::connection);
	if (visit == visits_.end() || visit->ended)
		return MHD_NO;
	visit->waits = true;
	microhttpd().suspend_connection(connection);
	return MHD_YES;
}

/// The library brings their requests to the handler once more.
void HttpServer::ask_again()
{
	for (Visit &visit : visits_)
		visit.go_on();
}

void HttpServer::begin_visit(MHD_Connection *connection)
{
	if (visits_.size() >= kCrowd)
		if (const auto oldest = std::ranges::find(visits_, false, &Visit::ended);
		    oldest != visits_.end())
			oldest->end();
	visits_.push_back({connection, Clock::now()});
}

void HttpServer::end_visit(MHD_Connection *connection)
{
	visits_.remove_if([&](const Visit &visit) { return visit.connection == connection; });
}

/// Ends visits that take too long in all: a client that sends or takes a byte now and then is never
/// idle, nor is one that waits.
void HttpServer::end_overdue()
{
	for (Visit &visit : visits_) {
		if (Clock::now() - visit.since > kWhole)
			visit.end();
		// The library sees the end of one that waits when it looks at it again.
		if (visit.ended)
			visit.go_on();
	}
}

MHD_Result HttpServer::on_request(void *self, MHD_Connection *connection, const char *path,
				  const char *method, const char *, const char *, std::size_t *,
				  void **)
{
	// Nothing may be thrown through the library.
	try {
		return static_cast<HttpServer *>(self)->answer(connection, path, method);
	} catch (const std::exception &) {
		return MHD_NO;
	}
}

void HttpServer::on_visit(void *self, MHD_Connection *connection, void **,
			  MHD_ConnectionNotificationCode code)
{
	auto *server = static_cast<HttpServer *>(self);
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		server->begin_visit(connection);
	else
		server->end_visit(connection);
}

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
// HTTP for few clients and against many: one thread, in which no client waits for another. Answers
// that take long are found out elsewhere: until then the client waits, and no other.
#pragma once

#include <list>
#include <memory>

#include "host/bell.h"
#include "host/interruption.h"
#include "model/objects.h"
#include "serve/http.h"
#include "serve/microhttpd.h"

namespace pib::ctl {

class HttpServer {
public:
	/// Listens at once. Port 0: one that the kernel chooses. bell: rings when the handler may know
	/// what it did not.
	static Result<std::unique_ptr<HttpServer>> create(const Endpoint &where,
							  HttpHandler handler, const Bell &bell);
	~HttpServer();
	HttpServer(const HttpServer &) = delete;
	HttpServer &operator=(const HttpServer &) = delete;

	/// The address and port on which it listens.
	const Endpoint &where() const { return where_; }
	/// Answers until it is interrupted.
	Status run(const Interruption &interruption);

private:
	struct Visit;
	using Visits = std::list<Visit>;

	HttpServer(Endpoint where, HttpHandler handler, const Bell &bell);
	Status start(int listener);
	MHD_Result answer(MHD_Connection *connection, const char *path, const char *method);
	MHD_Result wait(MHD_Connection *connection);
	void ask_again();
	void begin_visit(MHD_Connection *connection);
	void end_visit(MHD_Connection *connection);
	void end_overdue();

	static MHD_Result on_request(void *self, MHD_Connection *connection, const char *path,
				     const char *method, const char *version, const char *data,
				     std::size_t *data_size, void **state);
	static void on_visit(void *self, MHD_Connection *connection, void **state,
			     MHD_ConnectionNotificationCode code);

	Endpoint where_;
	HttpHandler handler_;
	const Bell &bell_;
	MHD_Daemon *daemon_ = nullptr;
	/// The oldest first.
	Visits visits_;
};

} // namespace pib::ctl

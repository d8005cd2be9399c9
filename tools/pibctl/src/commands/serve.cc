// SPDX-License-Identifier: GPL-2.0
#include "commands/serve.h"

#include <fmt/format.h>

#include <csignal>
#include <ostream>

#include "commands/numbers.h"
#include "host/interruption.h"
#include "serve/http_server.h"
#include "serve/listener.h"
#include "serve/site.h"

namespace pib::ctl {
namespace {

constexpr std::uint16_t kPort = 8514;

Result<Endpoint> read_where(const Arguments &arguments)
{
	std::optional<std::uint16_t> port;
	if (auto read = read_optional(arguments, "--port", 0, 0xFFFF, port); !read)
		return read.error();
	auto where = parse_listen(arguments.maybe("--listen").value_or("127.0.0.1"));
	if (!where)
		return where.error();
	where->port = port.value_or(kPort);
	return where;
}

void say_where(const Context &context, const Endpoint &where)
{
	context.text << fmt::format("http://{}/ shows the fabric until Ctrl-C\n",
				    format_endpoint(where))
		     << std::flush;
	if (!is_loopback(where))
		context.notes << "everybody who reaches this address sees the fabric\n";
}

} // namespace

Status serve_fabric(const Context &context, const Arguments &arguments)
{
	const auto where = read_where(arguments);
	if (!where)
		return where.error();
	// Fails at once if the fabric cannot be seen.
	if (const auto look = look_at_fabric(context.client); !look)
		return look.error();
	const Bell bell;
	Site site([&] { return look_at_fabric(context.client); }, ask_tables, bell);
	const Interruption interruption;
	std::signal(SIGPIPE, SIG_IGN);
	const auto server = HttpServer::create(
		*where, [&](const HttpRequest &request) { return site.answer(request); }, bell);
	if (!server)
		return server.error();
	say_where(context, (*server)->where());
	return (*server)->run(interruption);
}

} // namespace pib::ctl

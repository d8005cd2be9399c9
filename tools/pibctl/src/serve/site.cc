// SPDX-License-Identifier: GPL-2.0
#include "serve/site.h"

#include <cerrno>

#include "fabric/picture.h"
#include "model/words/parse.h"
#include "serve/documents.h"
#include "serve/page.h"

namespace pib::ctl {
namespace {

constexpr std::chrono::seconds kRemembered{2};

HttpResponse json(std::string body)
{
	return {200, "application/json", std::move(body), ""};
}

HttpResponse json_or_missing(std::optional<std::string> body)
{
	return body ? json(std::move(*body)) : refuse(404, "there is nothing of this name");
}

} // namespace

HttpResponse Site::page() const
{
	const Page made = make_page();
	return {200, "text/html; charset=utf-8", made.text, made.policy};
}

HttpResponse Site::picture() const
{
	return {200, "image/svg+xml", format_svg(draw(sampler_.now().fabric)), ""};
}

HttpResponse Site::fabric() const
{
	return json(fabric_document(sampler_.before(), sampler_.now()));
}

HttpResponse Site::node(const std::string &name) const
{
	return json_or_missing(node_document(sampler_.now(), name));
}

HttpResponse Site::port(const std::string &name) const
{
	const auto end = parse_end(name);
	if (!end)
		return refuse(404, "there is nothing of this name");
	return json_or_missing(port_document(sampler_.before(), sampler_.now(), *end));
}

HttpResponse Site::ask_tables(const std::string &name) const
{
	const auto tables = tables_(sampler_.now().fabric, name);
	if (!tables)
		return refuse(tables.error().code == ENOENT ? 404 : 503, tables.error().text);
	return json(tables_document(*tables));
}

HttpResponse Site::tables(const std::string &name)
{
	const auto now = Sampler::Clock::now();
	std::erase_if(remembered_,
		      [&](const auto &entry) { return now - entry.second.when > kRemembered; });
	if (const auto found = remembered_.find(name); found != remembered_.end())
		return found->second.answer;
	HttpResponse answer = ask_tables(name);
	if (answer.status != 404)
		remembered_[name] = {now, answer};
	return answer;
}

HttpResponse Site::document(const HttpRequest &request)
{
	if (request.path == "/fabric.svg")
		return picture();
	if (request.path == "/api/fabric")
		return fabric();
	if (request.path == "/api/node")
		return node(request.name);
	if (request.path == "/api/port")
		return port(request.name);
	if (request.path == "/api/tables")
		return tables(request.name);
	return refuse(404, "there is nothing here");
}

HttpResponse Site::answer(const HttpRequest &request)
{
	if (const auto refused = check_request(request))
		return *refused;
	if (request.path == "/")
		return page();
	if (const auto fresh = sampler_.refresh(); !fresh)
		return refuse(503, fresh.error().text);
	return document(request);
}

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
#include "serve/site.h"

#include <cerrno>

#include "fabric/picture.h"
#include "model/words/parse.h"
#include "serve/documents.h"
#include "serve/page.h"

namespace pib::ctl {
namespace {

HttpResponse json(std::string body)
{
	return {200, "application/json", share(std::move(body)), ""};
}

HttpResponse refusal(const Error &error)
{
	return refuse(error.code == ENOENT ? 404 : 503, error.text);
}

HttpResponse json_or_missing(std::optional<std::string> body)
{
	return body ? json(std::move(*body)) : refuse(404, "there is nothing of this name");
}

} // namespace

HttpResponse Site::page() const
{
	const Page made = make_page();
	return {200, "text/html; charset=utf-8", share(made.text), made.policy};
}

HttpResponse Site::picture()
{
	if (picture_.look != sampler_.number())
		picture_ = {
			sampler_.number(),
			{200, "image/svg+xml", share(format_svg(draw(sampler_.now().fabric))), ""}};
	return picture_.response;
}

HttpResponse Site::fabric()
{
	if (fabric_.look != sampler_.number())
		fabric_ = {sampler_.number(),
			   json(fabric_document(sampler_.before(), sampler_.now()))};
	return fabric_.response;
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

std::optional<HttpResponse> Site::tables(const std::string &name)
{
	auto question = plan_tables(sampler_.now().fabric, name);
	if (!question)
		return refusal(question.error());
	const auto answer = asker_.ask(std::move(*question));
	if (!answer)
		return std::nullopt;
	return *answer ? json(tables_document(**answer)) : refusal(answer->error());
}

std::optional<HttpResponse> Site::document(const HttpRequest &request)
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

std::optional<HttpResponse> Site::answer(const HttpRequest &request)
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

// SPDX-License-Identifier: GPL-2.0
#include "serve/http.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <strings.h>

#include <algorithm>

namespace pib::ctl {
namespace {

bool is_address(int family, const std::string &text)
{
	in6_addr address;
	return inet_pton(family, text.c_str(), &address) == 1;
}

bool is_port(std::string_view text)
{
	return text.empty() ||
	       (text.size() > 1 && text.size() <= 6 && text.front() == ':' &&
		std::ranges::all_of(text.substr(1), [](char c) { return c >= '0' && c <= '9'; }));
}

} // namespace

HttpResponse refuse(unsigned int status, std::string_view why)
{
	return {status, "text/plain; charset=utf-8", share(fmt::format("{}\n", why)), ""};
}

SharedText share(std::string text)
{
	return std::make_shared<const std::string>(std::move(text));
}

bool is_from_elsewhere(const HttpRequest &request)
{
	return request.path != "/" && request.from && *request.from != "same-origin" &&
	       *request.from != "none";
}

bool host_is_allowed(std::string_view host)
{
	if (host.starts_with('[')) {
		const auto end = host.find(']');
		return end != host.npos && is_port(host.substr(end + 1)) &&
		       is_address(AF_INET6, std::string(host.substr(1, end - 1)));
	}
	const auto colon = std::min(host.find(':'), host.size());
	const std::string name(host.substr(0, colon));
	return is_port(host.substr(colon)) &&
	       (is_address(AF_INET, name) || strcasecmp(name.c_str(), "localhost") == 0);
}

std::optional<HttpResponse> check_request(const HttpRequest &request)
{
	if (!request.host)
		return refuse(400, "the header Host is missing");
	if (!host_is_allowed(*request.host))
		return refuse(403, "ask for localhost or for an address, not for another name");
	if (is_from_elsewhere(request))
		return refuse(403, "pages of other sites may not ask this");
	if (request.method != "GET" && request.method != "HEAD")
		return refuse(405, "there is nothing here but to look at");
	return std::nullopt;
}

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
// A request of a browser and what it is answered.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pib::ctl {

struct HttpRequest {
	std::string method;
	/// The path, decoded, without its query.
	std::string path;
	/// The header Host.
	std::optional<std::string> host;
	/// The argument "name" of the query.
	std::string name;
	/// The header Sec-Fetch-Site: whose page makes a browser ask.
	std::optional<std::string> from = {};
};

/// Shared by all responses that send it.
using SharedText = std::shared_ptr<const std::string>;

struct HttpResponse {
	unsigned int status = 200;
	std::string type;
	SharedText body;
	/// Content-Security-Policy of the body, if it is a page: what it may load and run.
	std::string policy;
};

/// Nothing: it is not known yet, and to be asked for again.
using HttpHandler = std::function<std::optional<HttpResponse>(const HttpRequest &)>;

SharedText share(std::string text);

/// The answer with this status that says why.
HttpResponse refuse(unsigned int status, std::string_view why);

/// True if such a Host means this machine: "localhost" or an address. A name is not allowed, since
/// its owner may let it mean his own machine first and this one then (DNS rebinding).
bool host_is_allowed(std::string_view host);

/// True if a page of another site makes a browser ask this, as for an <img> of it. False for the
/// page of the fabric, to which any site may link.
bool is_from_elsewhere(const HttpRequest &request);

/// Nothing if the request may be answered.
std::optional<HttpResponse> check_request(const HttpRequest &request);

} // namespace pib::ctl

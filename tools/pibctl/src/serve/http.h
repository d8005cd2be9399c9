// SPDX-License-Identifier: GPL-2.0
// A request of a browser and what it is answered.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace pib::ctl {

struct HttpRequest {
	std::string method;
	/// Decoded, without what follows a '?'.
	std::string path;
	/// What the header Host says.
	std::optional<std::string> host;
	/// The argument "name" behind the '?'.
	std::string name;
};

struct HttpResponse {
	unsigned int status = 200;
	std::string type;
	std::string body;
	/// What the body may load and run, if it is a page.
	std::string policy;
};

using HttpHandler = std::function<HttpResponse(const HttpRequest &)>;

/// The answer with this status that says why.
HttpResponse refuse(unsigned int status, std::string_view why);

/// Whether such a Host means this machine: "localhost" or an address. A name that somebody else
/// gives his own machine first and this one then (DNS rebinding) does not.
bool host_is_allowed(std::string_view host);

/// Nothing if the request may be answered.
std::optional<HttpResponse> check_request(const HttpRequest &request);

} // namespace pib::ctl

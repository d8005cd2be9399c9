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
	/// Decoded, without what follows a '?'.
	std::string path;
	/// What the header Host says.
	std::optional<std::string> host;
	/// The argument "name" behind the '?'.
	std::string name;
	/// What the header Sec-Fetch-Site says: whose page has a browser ask.
	std::optional<std::string> from = {};
};

/// Those who are sent it share it.
using SharedText = std::shared_ptr<const std::string>;

struct HttpResponse {
	unsigned int status = 200;
	std::string type;
	SharedText body;
	/// What the body may load and run, if it is a page.
	std::string policy;
};

/// Nothing: it is not known yet, and to be asked for again.
using HttpHandler = std::function<std::optional<HttpResponse>(const HttpRequest &)>;

SharedText share(std::string text);

/// The answer with this status that says why.
HttpResponse refuse(unsigned int status, std::string_view why);

/// Whether such a Host means this machine: "localhost" or an address. A name that somebody else
/// gives his own machine first and this one then (DNS rebinding) does not.
bool host_is_allowed(std::string_view host);

/// Whether a page of another site has a browser ask this, as what an <img> of it shows. The page of the
/// fabric is for all: it may stand behind a link.
bool is_from_elsewhere(const HttpRequest &request);

/// Nothing if the request may be answered.
std::optional<HttpResponse> check_request(const HttpRequest &request);

} // namespace pib::ctl

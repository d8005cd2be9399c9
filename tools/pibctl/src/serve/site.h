// SPDX-License-Identifier: GPL-2.0
// The documents by path.
#pragma once

#include <optional>
#include <string>

#include "serve/asker.h"
#include "serve/http.h"
#include "serve/sampler.h"

namespace pib::ctl {

class Site {
public:
	using Now = std::function<Sampler::Clock::time_point()>;

	/// bell: rings when it makes sense to ask again what was not known yet.
	Site(TakeLook take, AskTables ask, const Bell &bell, const Now &now = Sampler::Clock::now) :
		sampler_(std::move(take), now), asker_(std::move(ask), bell, now)
	{
	}

	/// Nothing: it is not known yet.
	std::optional<HttpResponse> answer(const HttpRequest &request);

private:
	/// A document that is the same for all clients until there is a new look.
	struct Document {
		std::uint64_t look = 0;
		HttpResponse response;
	};

	HttpResponse page() const;
	HttpResponse picture();
	HttpResponse fabric();
	HttpResponse node(const std::string &name) const;
	HttpResponse port(const std::string &name) const;
	std::optional<HttpResponse> tables(const std::string &name);
	std::optional<HttpResponse> document(const HttpRequest &request);

	Sampler sampler_;
	Document picture_;
	Document fabric_;
	Asker asker_;
};

} // namespace pib::ctl

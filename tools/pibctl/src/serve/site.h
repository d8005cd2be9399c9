// SPDX-License-Identifier: GPL-2.0
// What stands under which path.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "serve/http.h"
#include "serve/sampler.h"
#include "tables/tables.h"

namespace pib::ctl {

/// Code ENOENT: there is no such switch.
using AskTables =
	std::function<Result<Tables>(const FabricSnapshot &fabric, const std::string &node)>;

class Site {
public:
	Site(TakeLook take, AskTables tables) :
		sampler_(std::move(take)), tables_(std::move(tables))
	{
	}

	HttpResponse answer(const HttpRequest &request);

private:
	HttpResponse page() const;
	HttpResponse picture() const;
	HttpResponse fabric() const;
	HttpResponse node(const std::string &name) const;
	HttpResponse port(const std::string &name) const;
	HttpResponse tables(const std::string &name);
	HttpResponse ask_tables(const std::string &name) const;
	HttpResponse document(const HttpRequest &request);

	Sampler sampler_;
	AskTables tables_;
	/// Answers of switches stay for a while: each takes many questions, or long, if there is none.
	struct Remembered {
		Sampler::Clock::time_point when;
		HttpResponse answer;
	};
	std::map<std::string, Remembered> remembered_;
};

} // namespace pib::ctl

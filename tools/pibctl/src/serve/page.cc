// SPDX-License-Identifier: GPL-2.0
#include "serve/page.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <stdexcept>
#include <string_view>

namespace pib::ctl {
namespace {

constexpr std::string_view kPage =
#include "page.inc"
	;

constexpr std::string_view kPlace = "NONCE";

std::string make_nonce()
{
	std::array<unsigned char, 16> bytes;
	if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
		throw std::runtime_error("the kernel has no random numbers");
	return fmt::format("{:02x}", fmt::join(bytes, ""));
}

} // namespace

Page make_page()
{
	const std::string nonce = make_nonce();
	Page page;
	page.text = kPage;
	for (std::size_t at = 0; (at = page.text.find(kPlace, at)) != std::string::npos;)
		page.text.replace(at, kPlace.size(), nonce);
	page.policy = fmt::format(
		"default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; connect-src "
		"'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		nonce);
	return page;
}

} // namespace pib::ctl

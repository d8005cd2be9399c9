// SPDX-License-Identifier: GPL-2.0
// libpibinject: the functions of pib_inject.h. No exception leaves them.
#include "library/pib_inject.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <exception>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "commands/inject.h"
#include "netlink/mnl_transport.h"
#include "objects/client.h"

namespace pib::ctl {
namespace {

thread_local std::string last_error;

int refused(const Error &error)
{
	last_error = error.text;
	errno = error.code ? error.code : EINVAL;
	return -1;
}

/// Calls ask() with a client and returns its result; -1 if it throws.
template <typename Ask>
auto with_client(Ask ask) -> decltype(ask(std::declval<Client &>()))
try {
	Client client(open_mnl_transport);
	last_error.clear();
	return ask(client);
} catch (const std::exception &error) {
	return refused({error.what(), ENOMEM});
}

std::string text_of(const char *format, va_list values)
{
	va_list again;
	va_copy(again, values);
	const int length = std::vsnprintf(nullptr, 0, format, again);
	va_end(again);
	std::string text(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
	std::vsnprintf(text.data(), text.size() + 1, format, values);
	return text;
}

std::vector<std::string> words_of(const std::string &text)
{
	std::istringstream in(text);
	return {std::istream_iterator<std::string>(in), {}};
}

int inject(Client &client, const std::string &text)
{
	const auto injection = parse_injection(words_of(text));
	if (!injection)
		return refused(injection.error());
	const auto rule = client.inject(*injection);
	if (!rule)
		return refused(rule.error());
	return static_cast<int>(rule->value_or(0));
}

int remove(Client &client, const char *node, int rule)
{
	if (!node)
		return refused({"no HCA or switch is named", EINVAL});
	std::optional<std::uint32_t> id;
	if (rule)
		id = static_cast<std::uint32_t>(rule);
	const auto removed = client.remove_injection(node, id);
	return removed ? 0 : refused(removed.error());
}

/// True if there is an HCA or a switch of this name.
Result<bool> is_there(Client &client, const std::string &node)
{
	const auto hca = client.hca(node);
	if (!hca)
		return hca.error();
	if (*hca)
		return true;
	const auto found = client.find_switch(node);
	if (!found)
		return found.error();
	return found->has_value();
}

long long done(Client &client, const char *name, int rule)
{
	if (!name)
		return refused({"no HCA or switch is named", EINVAL});
	const std::string node = name;
	const auto found = is_there(client, node);
	if (!found)
		return refused(found.error());
	if (!*found)
		return refused({"there is no HCA or switch " + node, ENODEV});
	const auto injections = client.injections();
	if (!injections)
		return refused(injections.error());
	for (const Injection &injection : *injections)
		if (injection.node == node && injection.id == static_cast<std::uint32_t>(rule))
			return static_cast<long long>(injection.done);
	return refused({node + " has no injection " + std::to_string(rule), ENOENT});
}

} // namespace
} // namespace pib::ctl

using namespace pib::ctl;

int pib_inject(const char *format, ...)
{
	va_list values;
	va_start(values, format);
	const int rule = with_client(
		[&](Client &client) { return inject(client, text_of(format, values)); });
	va_end(values);
	return rule;
}

int pib_inject_del(const char *node, int rule)
{
	return with_client([&](Client &client) { return remove(client, node, rule); });
}

long long pib_inject_done(const char *node, int rule)
{
	return with_client([&](Client &client) { return done(client, node, rule); });
}

const char *pib_inject_error(void)
{
	return last_error.c_str();
}

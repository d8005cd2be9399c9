// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <ostream>

#include "commands/commands.h"
#include "commands/live_output.h"
#include "commands/numbers.h"
#include "host/interruption.h"
#include "host/screen.h"
#include "top/json.h"
#include "top/select.h"
#include "top/table.h"

namespace pib::ctl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kShortest = 0.05;
constexpr double kLongest = 3600;

struct TopRequest {
	Selection selection;
	double interval = 1;
	/// Absent: without end.
	std::optional<std::uint64_t> count;
	bool once = false;
};

Status read_where(const Arguments &arguments, Selection &selection)
{
	const auto word = arguments.maybe("NAME[/PORT]");
	if (!word)
		return success();
	if (word->find('/') == std::string::npos) {
		const auto name = parse_name(*word);
		if (!name)
			return name.error();
		selection.node = *name;
		return success();
	}
	const auto end = parse_end(*word);
	if (!end)
		return end.error();
	selection.node = end->node;
	selection.port = end->port;
	return success();
}

Status read_kinds(const Arguments &arguments, Selection &selection)
{
	const auto kinds = arguments.all("kind");
	if (kinds.empty())
		return success();
	selection.ports = selection.cables = selection.queue_pairs = false;
	for (const std::string &kind : kinds) {
		if (kind == "port")
			selection.ports = true;
		else if (kind == "cable")
			selection.cables = true;
		else if (kind == "qp")
			selection.queue_pairs = true;
		else
			return usage_error(fmt::format(
				"'{}' is no kind of what is shown; accepted: port, cable, qp",
				kind));
	}
	return success();
}

Status read_sort(const Arguments &arguments, Selection &selection)
{
	const auto word = arguments.maybe("sort");
	if (!word)
		return success();
	const auto key = parse_sort(*word);
	if (!key)
		return key.error();
	selection.sort = *key;
	return success();
}

Status read_interval(const Arguments &arguments, double &interval)
{
	const auto word = arguments.maybe("--interval");
	if (!word)
		return success();
	std::size_t read = 0;
	try {
		interval = std::stod(*word, &read);
	} catch (const std::exception &) {
		read = 0;
	}
	if (read != word->size() || !(interval >= kShortest && interval <= kLongest))
		return usage_error(fmt::format("--interval must be {} to {} seconds, not '{}'",
					       kShortest, kLongest, *word));
	return success();
}

Result<TopRequest> read_request(const Arguments &arguments)
{
	TopRequest request;
	Selection &selection = request.selection;
	selection.busy = arguments.has("busy");
	request.once = arguments.has("--once");
	for (const Status &status :
	     {read_where(arguments, selection), read_kinds(arguments, selection),
	      read_sort(arguments, selection), read_interval(arguments, request.interval),
	      read_optional(arguments, "pid", 1, 0x7FFFFFFF, selection.pid),
	      read_optional(arguments, "qp", 0, 0xFFFFFF, selection.qpn),
	      read_optional(arguments, "-c", 1, std::uint64_t{1} << 62, request.count)})
		if (!status)
			return status.error();
	if (request.once)
		request.count = 1;
	return request;
}

/// Looks again and again, and compares each look with the one before.
class Watch {
public:
	explicit Watch(Client &client) : client_(client) {}

	/// Takes the first look. Refuses if the selection names something that does not exist.
	Status begin(const Selection &selection)
	{
		auto look = look_at_all(client_);
		if (!look)
			return look.error();
		last_ = std::move(*look);
		return check_names(last_.fabric, selection);
	}
	Result<Rates> next()
	{
		auto look = look_at_all(client_);
		if (!look)
			return look.error();
		Rates rates = compare(last_, *look);
		last_ = std::move(*look);
		return rates;
	}
	Clock::time_point last() const { return last_.when; }

private:
	Client &client_;
	Look last_;
};

int milliseconds_until(Clock::time_point when)
{
	const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - Clock::now());
	return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

Clock::time_point next_look(const Watch &watch, double interval)
{
	return watch.last() +
	       std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(interval));
}

/// Changes the selection as the key says. False: the user ends the program.
bool obey(char key, Selection &selection)
{
	if (key == 'i')
		selection.busy = !selection.busy;
	if (const auto sort = sort_of_letter(key))
		selection.sort = *sort;
	return key != 'q';
}

void show(Screen &screen, const Rates &rates, const Selection &selection)
{
	constexpr const char *kKeys =
		"q ends; by: b bytes, p packets, w waits, r retries, e errors, n name; i idle ones";
	const auto [columns, lines] = screen.size();
	auto table = format_rates(select(rates, selection), selection,
				  {columns, lines > 2 ? lines - 2 : 0});
	table.insert(table.begin(), std::string(kKeys).substr(0, columns));
	screen.draw(table);
}

Status run_on_screen(Watch &watch, TopRequest request, const Interruption &interruption)
{
	Screen screen;
	Rates rates;
	std::uint64_t shown = 0;
	while (interruption.check()) {
		const int wait = milliseconds_until(next_look(watch, request.interval));
		if (const auto key = screen.key(wait, interruption)) {
			if (!obey(*key, request.selection))
				break;
		} else if (!milliseconds_until(next_look(watch, request.interval))) {
			auto next = watch.next();
			if (!next)
				return next.error();
			rates = std::move(*next);
			if (shown++ == request.count)
				break;
		}
		show(screen, rates, request.selection);
	}
	return success();
}

/// Waits until then; false if interrupted.
bool sleep_until(Clock::time_point when, const Interruption &interruption)
{
	while (interruption.check()) {
		const int left = milliseconds_until(when);
		if (!left)
			return true;
		interruption.poll(nullptr, 0, left);
	}
	return false;
}

void print(const Context &context, const Rates &rates, const Selection &selection)
{
	const std::chrono::duration<double> now =
		std::chrono::system_clock::now().time_since_epoch();
	const Rates chosen = select(rates, selection);
	if (context.json) {
		context.text << rates_json(chosen, now.count()) << '\n';
	} else {
		for (const std::string &line : format_rates(chosen, selection, {}))
			context.text << line << '\n';
	}
	context.text.flush();
}

Status run_on_paper(LiveOutput &output, Watch &watch, const TopRequest &request)
{
	const Context &context = output.context();
	// Without an end it goes on as JSON only.
	const std::uint64_t count =
		request.count.value_or(context.json ? ~std::uint64_t{0} : std::uint64_t{1});
	for (std::uint64_t i = 0; i < count && context.text.good(); ++i) {
		if (!sleep_until(next_look(watch, request.interval), output.interruption()))
			break;
		const auto rates = watch.next();
		if (!rates)
			return rates.error();
		print(context, *rates, request.selection);
	}
	return output.finish();
}

Status top(const Context &context, const Arguments &arguments)
{
	const auto request = read_request(arguments);
	if (!request)
		return request.error();
	LiveOutput output(context);
	Watch watch(context.client);
	if (auto begun = watch.begin(request->selection); !begun)
		return begun;
	if (!request->once && !context.json && Screen::possible())
		return run_on_screen(watch, *request, output.interruption());
	return run_on_paper(output, watch, *request);
}

const Command kCommands[] = {
	{"",
	 "top",
	 "show what moves: ports, cables and queue pairs by rate",
	 "Shows the ports, cables and queue pairs with the most traffic, and what waits, is lost and is\n"
	 "sent again, once a second, until 'q' or Ctrl-C; keys change the order. Without a terminal, and\n"
	 "with --once, it prints one interval and ends. With -j it prints a line of JSON for each\n"
	 "interval, without end unless told.",
	 {{"NAME[/PORT]", "only of this HCA, switch or port", false}},
	 {{"kind", "port|cable|qp", "only these", false, true},
	  {"pid", "PID", "only the queue pairs of this process"},
	  {"qp", "N", "only the queue pair of this number"},
	  {"sort", "KEY", "the most first of: bytes, packets, waits, retries, errors; or by name"},
	  {"busy", "", "leave out what does not move"},
	  {"--interval", "S", "seconds between two looks, 1 by default"},
	  {"--once", "", "one interval"},
	  {"-c", "N", "so many intervals"}},
	 {{"pibctl top", "on a terminal, until 'q'"},
	  {"pibctl top kind qp sort retries --once", "queue pairs that send again"},
	  {"pibctl -j top pib0 -c 10", "ten lines of JSON for a script"}},
	 top},
};

} // namespace

std::span<const Command> top_commands()
{
	return kCommands;
}

} // namespace pib::ctl

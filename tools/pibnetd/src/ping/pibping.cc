// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <iostream>

#include "model/words/key_file.h"
#include "model/words/parse.h"
#include "ping/prober.h"
#include "udp/udp.h"

#include <poll.h>

namespace pib::netd {
namespace {

struct CommandLine {
	ProbeOptions options;
	std::vector<Address> serve;
	bool json = false;
};

constexpr const char *kUsage = R"(Usage: pibping [OPTION]... ADDRESS[:PORT]
       pibping --serve [OPTION]... [ADDRESS[:PORT]]...

Tells whether pib's UDP passes to a host, with which round-trip time, loss and MTU, and who
answers: pibnetd, another pibping, or pib itself.

  -s, --serve          answer others (at all addresses, port 18514)
  -c, --count N        round trips (20)
  -i, --interval MS    between them (20)
  -w, --timeout MS     how long to wait for the last answer (1000)
  -f, --fabric N       fabric id to ask for (0)
  -k, --key-file FILE  pre-shared key of the fabric
  -j, --json
  -V, --version
  -h, --help

Exit status: 0 all is well, 1 not, 2 wrong usage.
)";

int refuse(const std::string &text)
{
	std::cerr << "pibping: " << text << "\n'pibping --help' explains the options.\n";
	return 2;
}

Status read_words(const std::vector<std::string> &words, bool serve, CommandLine &line)
{
	if (!serve && words.size() != 1)
		return Error{"one address is wanted"};
	for (const std::string &word : words) {
		const auto address = serve ? parse_listen_address(word) : parse_address(word);
		if (!address)
			return address.error();
		if (serve)
			line.serve.push_back(*address);
		else
			line.options.peer = *address;
	}
	if (!serve || !words.empty())
		return success();
	for (const char *any : {"0.0.0.0", "[::]"})
		line.serve.push_back(*parse_listen_address(any));
	return success();
}

/// -1: go on; else the status to exit with.
int parse(int argc, char **argv, CommandLine &line, bool &serve)
{
	CLI::App app("", "pibping");
	std::vector<std::string> words;
	std::string key_file;
	bool help = false, version = false;
	app.set_help_flag();
	app.add_flag("-h,--help", help);
	app.add_flag("-V,--version", version);
	app.add_flag("-s,--serve", serve);
	app.add_flag("-j,--json", line.json);
	app.add_option("-c,--count", line.options.count)->check(CLI::Range(1, 100000));
	app.add_option("-i,--interval", line.options.interval_ms)->check(CLI::Range(1, 10000));
	app.add_option("-w,--timeout", line.options.timeout_ms)->check(CLI::Range(1, 60000));
	app.add_option("-f,--fabric", line.options.fabric);
	app.add_option("-k,--key-file", key_file);
	app.add_option("words", words);
	try {
		app.parse(argc, argv);
	} catch (const CLI::ParseError &error) {
		return refuse(error.what());
	}
	if (help || version) {
		std::cout << (help ? kUsage : "pibping " PIBNETD_VERSION "\n");
		return 0;
	}
	if (!key_file.empty()) {
		auto key = model::read_key_file(key_file);
		if (!key)
			return refuse(key.error().text);
		line.options.key = take_key(*key);
	}
	if (auto read = read_words(words, serve, line); !read)
		return refuse(read.error().text);
	return -1;
}

int report(const Error &error)
{
	std::cerr << "pibping: " << error.text << '\n';
	return 1;
}

/// Until it is killed.
int respond(const CommandLine &line)
{
	Stats stats;
	Udp udp(stats);
	std::vector<pollfd> waits;
	for (const Address &address : line.serve) {
		const auto socket = udp.open(address);
		if (!socket && socket.error().code == EAFNOSUPPORT && line.serve.size() > 1)
			continue;
		if (!socket)
			return report(socket.error());
		waits.push_back({udp.descriptor(*socket), POLLIN, 0});
	}
	const PingResponder responder = {
		PingSoftware::pibping, [&](std::uint32_t fabric) -> std::optional<Key> {
			return fabric == line.options.fabric ? std::optional(line.options.key)
							     : std::nullopt;
		}};
	std::cerr << "pibping: answering\n";
	for (;;) {
		if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR)
			return report({"cannot wait for datagrams"});
		std::vector<std::vector<std::uint8_t>> answers;
		const auto take = [&](const Arrival &arrival) {
			auto rest = arrival.bytes;
			while (!rest.empty()) {
				const auto one = rest.first(std::min(arrival.step, rest.size()));
				rest = rest.subspan(one.size());
				auto &answer = answers.emplace_back(answer_ping(one, responder));
				const iovec part = {answer.data(), answer.size()};
				if (!answer.empty())
					udp.send(arrival.path, {&part, 1}, 0, 0, Rank::management);
			}
		};
		for (unsigned i = 0; i < waits.size(); i++)
			if (waits[i].revents)
				udp.readable(i);
		while (udp.receive(take)) {
			udp.flush();
			answers.clear();
		}
	}
}

int ask(const CommandLine &line)
{
	const auto found = Prober(line.options).run();
	if (!found)
		return report(found.error());
	std::cout << (line.json ? report_json(line.options, *found)
				: report_text(line.options, *found));
	return found->all_is_well(line.options) ? 0 : 1;
}

int run(int argc, char **argv)
{
	CommandLine line;
	bool serve = false;
	if (const int status = parse(argc, argv, line, serve); status >= 0)
		return status;
	return serve ? respond(line) : ask(line);
}

} // namespace
} // namespace pib::netd

int main(int argc, char **argv)
{
	try {
		return pib::netd::run(argc, argv);
	} catch (const std::exception &error) {
		std::fprintf(stderr, "pibping: internal error: %s\n", error.what());
		return 1;
	}
}

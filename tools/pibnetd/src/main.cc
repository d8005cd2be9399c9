// SPDX-License-Identifier: GPL-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>

#include "daemon/daemon.h"
#include "model/words/dscp.h"
#include "model/words/parse.h"

namespace pib::netd {
namespace {

struct CommandLine {
	Options options;
	std::string log_format;
	bool verbose = false;
	bool check = false;
};

constexpr const char *kUsage = R"(Usage: pibnetd [OPTION]...

An InfiniBand switch in user space: pib hosts join it over UDP.

  -l, --listen ADDRESS[:PORT]  where peers say hello; may repeat (all addresses, port 18514)
  -c, --config FILE            several switches and their cables, see pibnetd(8)
  -n, --ports N                ports of the switch, 1 to 254 (36)
  -f, --fabric N               fabric id of the switch (0)
  -k, --key-file FILE          pre-shared key of the fabric
      --second-key-file FILE   another key of the fabric, while keys are exchanged
  -s, --control PATH           unix socket to control it by
      --dscp LIST              DSCP of data by service level, as 3=46,4=34 (none)
      --ecn on|off             routers may mark data (off)
      --windows on|off         a virtual lane of a link does not hold up the others (off)
      --icrc on|off            a packet has its ICRC from one host to the other (off)
      --state FILE             remember which peer had which port
      --log FORMAT             text, json, or journal (journal under systemd, else text)
  -v, --verbose                log more
  -t, --test                   only check the configuration
  -V, --version
  -h, --help
)";

/// -1: go on; else the status to exit with.
int parse(int argc, char **argv, CommandLine &line)
{
	CLI::App app("", "pibnetd");
	std::vector<std::string> listen;
	std::string ports, fabric, dscp, ecn, windows, icrc;
	bool help = false, version = false;
	app.set_help_flag();
	app.add_flag("-h,--help", help);
	app.add_flag("-V,--version", version);
	app.add_flag("-v,--verbose", line.verbose);
	app.add_flag("-t,--test", line.check);
	app.add_option("-l,--listen", listen)->allow_extra_args(false);
	app.add_option("-c,--config", line.options.config);
	app.add_option("-n,--ports", ports);
	app.add_option("-f,--fabric", fabric);
	app.add_option("-k,--key-file", line.options.key_file);
	app.add_option("--second-key-file", line.options.second_key_file);
	app.add_option("-s,--control", line.options.control);
	app.add_option("--dscp", dscp);
	app.add_option("--ecn", ecn)->check(CLI::IsMember({"on", "off"}));
	app.add_option("--windows", windows)->check(CLI::IsMember({"on", "off"}));
	app.add_option("--icrc", icrc)->check(CLI::IsMember({"on", "off"}));
	app.add_option("--state", line.options.state);
	app.add_option("--log", line.log_format)->check(CLI::IsMember({"text", "json", "journal"}));
	const auto refuse = [](const std::string &text) {
		std::cerr << "pibnetd: " << text << "\n'pibnetd --help' explains the options.\n";
		return 2;
	};
	try {
		app.parse(argc, argv);
	} catch (const CLI::ParseError &error) {
		return refuse(error.what());
	}
	if (help || version) {
		std::cout << (help ? kUsage : "pibnetd " PIBNETD_VERSION "\n");
		return 0;
	}
	for (const std::string &word : listen) {
		const auto address = parse_listen_address(word);
		if (!address)
			return refuse(address.error().text);
		line.options.listen.push_back(*address);
	}
	if (!ports.empty()) {
		const auto n = model::parse_number("--ports", ports, 1, PIB_MAX_PORTS);
		if (!n)
			return refuse(n.error().text);
		line.options.ports = static_cast<std::uint8_t>(*n);
	}
	if (!fabric.empty()) {
		const auto n = model::parse_number("--fabric", fabric, 0, 0xFFFFFFFF);
		if (!n)
			return refuse(n.error().text);
		line.options.fabric = static_cast<std::uint32_t>(*n);
	}
	if (!dscp.empty()) {
		const auto table = model::parse_dscp(dscp);
		if (!table)
			return refuse(table.error().text);
		line.options.dscp = *table;
	}
	if (!ecn.empty())
		line.options.ecn = ecn == "on";
	if (!windows.empty())
		line.options.windows = windows == "on";
	if (!icrc.empty())
		line.options.icrc = icrc == "on";
	return -1;
}

LogFormat log_format(const std::string &word)
{
	if (word == "json")
		return LogFormat::json;
	const bool journal =
		word.empty() ? std::getenv("JOURNAL_STREAM") != nullptr : word == "journal";
	return journal ? LogFormat::journal : LogFormat::text;
}

int report(const Error &error)
{
	std::cerr << "pibnetd: " << error.text << '\n';
	return 1;
}

int run(int argc, char **argv)
{
	CommandLine line;
	if (const int status = parse(argc, argv, line); status >= 0)
		return status;
	if (line.check) {
		const auto config = load_config(line.options);
		return config ? 0 : report(config.error());
	}
	Log log(std::cerr, log_format(line.log_format),
		line.verbose ? LogLevel::debug : LogLevel::info);
	Daemon daemon(line.options, log);
	if (const auto started = daemon.start(); !started)
		return report(started.error());
	if (const auto done = daemon.run(); !done)
		return report(done.error());
	return 0;
}

} // namespace
} // namespace pib::netd

int main(int argc, char **argv)
{
	try {
		return pib::netd::run(argc, argv);
	} catch (const std::exception &error) {
		std::fprintf(stderr, "pibnetd: internal error: %s\n", error.what());
		return 1;
	}
}

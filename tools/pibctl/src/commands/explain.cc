// SPDX-License-Identifier: GPL-2.0
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "commands/commands.h"
#include "explain/queue_pair.h"
#include "model/words/parse.h"
#include "netlink/mnl_transport.h"
#include "netlink/rdma_netlink.h"

namespace pib::ctl {
namespace {

std::optional<Port> find_port(const Hca &hca, std::uint64_t number)
{
	const auto found = std::ranges::find(hca.ports, number, &Port::number);
	return found == hca.ports.end() ? std::nullopt : std::optional(*found);
}

void print_item(Output &out, const Hca &hca, const std::optional<Port> &port, std::uint64_t qpn,
		const std::string &sentence)
{
	out.begin_item("");
	out.field("hca", hca.name);
	if (port)
		out.field("port", std::uint64_t{port->number});
	out.field("qp", qpn);
	out.field("text", sentence);
	out.end_item();
}

void print(const Context &context, const Hca &hca, const QueuePair &qp)
{
	const auto port = find_port(hca, qp.detail("port"));
	const std::string where = port ? fmt::format("{}/{}", hca.name, port->number) : hca.name;
	for (const auto &sentence : explain(qp, hca.name, port))
		if (context.json)
			print_item(context.out, hca, port, qp.qpn, sentence);
		else
			context.text << fmt::format("{} qp {}: {}\n", where, qp.qpn, sentence);
}

Status explain_queue_pair(const Context &context, const Arguments &arguments)
{
	const auto name = parse_name(arguments.one("NAME"));
	if (!name)
		return name.error();
	const auto qpn = parse_number("qp", arguments.one("qp"), 0, 0xFFFFFF);
	if (!qpn)
		return qpn.error();
	const auto hca = context.client.hca(*name);
	if (!hca)
		return hca.error();
	if (!*hca)
		return Error{fmt::format(
			"no HCA '{}' in this network namespace ('pibctl show' lists them)", *name)};
	const auto transport = open_rdma_transport();
	if (!transport)
		return transport.error();
	const auto found = ask_queue_pairs(**transport, *name, static_cast<std::uint32_t>(*qpn));
	if (!found)
		return found.error();
	context.out.begin_list("explanations");
	for (const Bytes &attributes : *found)
		print(context, **hca, read_queue_pair(attributes));
	context.out.end_list();
	return success();
}

const Command kCommands[] = {
	{"",
	 "explain",
	 "say why a queue pair does not move",
	 "Says in sentences what a queue pair waits for at this moment: its state, its port, an\n"
	 "acknowledgement, a receive at the far end, a page of memory. 'rdma -d resource show qp' lists\n"
	 "queue pairs, and with -dd the numbers behind the sentences.",
	 {{"NAME", "the HCA"}},
	 {{"qp", "N", "number of the queue pair", true}},
	 {{"pibctl explain pib0 qp 17", "what queue pair 17 waits for"}},
	 explain_queue_pair},
};

} // namespace

std::span<const Command> explain_commands()
{
	return kCommands;
}

} // namespace pib::ctl

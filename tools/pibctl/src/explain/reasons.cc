// SPDX-License-Identifier: GPL-2.0
// Why a queue pair does not move: a table of what can be seen of one, and what to say then.
#include <fmt/format.h>

#include "explain/queue_pair.h"
#include "model/words/count.h"
#include "model/words/ib_names.h"

namespace pib::ctl {
namespace {

/// Why a queue pair is in ERR, as enum pib_cause of the module numbers it, if it did not ask for that itself.
constexpr const char *kCauses[] = {
	"",
	"", // of a request: its status says more
	"it has refused a request of its peer, or a receive of it has failed",
	"a receive of it has failed",
	"one of its completion queues has overflowed",
	"a signal has ended its program's move to RESET",
	"'pibctl inject' has made it fail",
};

std::string_view cause_words(std::uint64_t cause)
{
	return cause < std::size(kCauses) ? kCauses[cause] : "";
}

struct Facts {
	const QueuePair &qp;
	const std::string &hca;
	const std::optional<Port> &port;

	std::uint64_t operator[](const char *name) const { return qp.detail(name); }
	bool runs() const { return qp.state == QpState::kRtr || qp.state == QpState::kRts; }
	bool sends() const { return qp.state == QpState::kRts; }
	std::uint64_t unacknowledged() const
	{
		return ((*this)["next_psn"] - (*this)["una_psn"]) & 0xFFFFFF;
	}
};

struct Reason {
	bool (*applies)(const Facts &facts);
	std::string (*words)(const Facts &facts);
};

std::string milliseconds(std::uint64_t usec)
{
	return fmt::format("{}.{} ms", usec / 1000, usec / 100 % 10);
}

std::string tries(std::uint64_t left)
{
	return left == 7 ? std::string("tries without end")
			 : fmt::format("{} {}", left, left == 1 ? "try" : "tries");
}

/// As <infiniband/verbs.h> names them, without IBV_WC_.
std::string status_name(std::uint64_t status)
{
	static const char *const kNames[] = {
		"SUCCESS",	    "LOC_LEN_ERR",	 "LOC_QP_OP_ERR",     "LOC_EEC_OP_ERR",
		"LOC_PROT_ERR",	    "WR_FLUSH_ERR",	 "MW_BIND_ERR",	      "BAD_RESP_ERR",
		"LOC_ACCESS_ERR",   "REM_INV_REQ_ERR",	 "REM_ACCESS_ERR",    "REM_OP_ERR",
		"RETRY_EXC_ERR",    "RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR",  "REM_INV_RD_REQ_ERR",
		"REM_ABORT_ERR",    "INV_EECN_ERR",	 "INV_EEC_STATE_ERR", "FATAL_ERR",
		"RESP_TIMEOUT_ERR", "GENERAL_ERR"};
	return status < std::size(kNames) ? kNames[status] : fmt::format("status {}", status);
}

std::string state_words(const Facts &facts)
{
	switch (facts.qp.state) {
	case QpState::kReset: return "it is in RESET: its program has not moved it to INIT yet";
	case QpState::kInit:
		return "it is in INIT: receives can be posted, but nothing is taken in or sent before its "
		       "program moves it to RTR, and RTS";
	case QpState::kRtr:
		return "it is in RTR: it takes in, and sends nothing before its program moves it to RTS";
	case QpState::kSqd:
		return "it is in SQD: nothing more is started before its program moves it to RTS";
	case QpState::kSqe:
		return "it is in SQE: a send has failed, and no other is started before its program moves "
		       "it to RTS";
	default:
		return "it is in ERR: all that is posted is flushed; the first completion that failed says "
		       "why";
	}
}

std::string page_words(const Facts &facts)
{
	static const char *const kWhat[] = {"what has come", "what it sends", "what it answers"};
	std::string text;
	for (unsigned i = 0; i < std::size(kWhat); i++)
		if (facts["page_wait"] >> i & 1)
			text += fmt::format("{}{}", text.empty() ? "" : ", and of ", kWhat[i]);
	return "it waits for a page of memory of " + text +
	       ": who owns the memory has to bring the page in";
}

std::string receives_words(const Facts &facts)
{
	if (!facts["has_srq"])
		return "no receive is posted";
	if (facts.qp.type == kQpXrcTarget)
		return fmt::format("the SRQ that its peer has named last, {}, has no receive",
				   facts["srqn"]);
	return "its SRQ has no receive";
}

std::string no_receive_words(const Facts &facts)
{
	return fmt::format("{}: {}", receives_words(facts),
			   facts.qp.type == kQpUd
				   ? "datagrams that come are dropped"
				   : "what comes and needs one is refused for now (RNR)");
}

std::string ack_words(const Facts &facts)
{
	const std::uint64_t before = facts["timeouts"];
	const std::uint64_t packets = facts.unacknowledged();
	return fmt::format(
		"{} from PSN {:#x} on {} no acknowledgement: it asks again in {}, {} left{}",
		format_count(packets, "packet"), facts["una_psn"], packets == 1 ? "has" : "have",
		milliseconds(facts["ack_us"]), tries(facts["retries_left"]),
		before ? fmt::format("; timeouts so far: {}", before) : "");
}

std::string pkey_words(const Facts &facts)
{
	const std::string own =
		facts.qp.type == kQpGsi ? "" : fmt::format(", its own is {:#x}", facts["pkey"]);
	return fmt::format("packets dropped for their P_Key since RESET: {}; the last had {:#x}{}",
			   facts["bad_pkeys"], facts["bad_pkey"], own);
}

const Reason kReasons[] = {
	{[](const Facts &f) { return !f.sends(); }, state_words},
	{[](const Facts &f) {
		 return f.qp.state == QpState::kErr && !cause_words(f["cause"]).empty();
	 },
	 [](const Facts &f) { return std::string(cause_words(f["cause"])); }},
	{[](const Facts &f) { return f["injections"] != 0; },
	 [](const Facts &f) {
		 return fmt::format(
			 "{} {} of 'pibctl inject' {} on what it sends, gets or is asked for",
			 f["injections"], f["injections"] == 1 ? "rule" : "rules",
			 f["injections"] == 1 ? "acts" : "act");
	 }},
	{[](const Facts &f) { return f["error"] != 0; },
	 [](const Facts &f) {
		 return fmt::format("a request of it has ended with {}", status_name(f["error"]));
	 }},
	{[](const Facts &f) { return f.port && f.port->state.value_or(4) != 4; },
	 [](const Facts &f) {
		 return fmt::format("port {}/{} is {}: it carries no data before it is ACTIVE",
				    f.hca, f.port->number, state_name(*f.port->state));
	 }},
	{[](const Facts &f) { return f.runs() && !(f["pkey"] & 0x7FFF); },
	 [](const Facts &) {
		 return std::string(
			 "its place in the port's P_Key table is empty: nothing is sent or "
			 "taken in before the subnet manager gives it a partition");
	 }},
	{[](const Facts &f) { return f["bad_pkeys"] != 0; }, pkey_words},
	{[](const Facts &f) { return f["bad_qkeys"] != 0; },
	 [](const Facts &f) {
		 return fmt::format(
			 "datagrams dropped since RESET for their Q_Key, which is not its own: {}",
			 f["bad_qkeys"]);
	 }},
	{[](const Facts &f) { return f["page_wait"] != 0; }, page_words},
	{[](const Facts &f) { return f["rnr_us"] != 0; },
	 [](const Facts &f) {
		 return fmt::format(
			 "the far end was not ready (RNR): no receive is posted there, or a "
			 "page is missing; the next attempt is in {}, {} left",
			 milliseconds(f["rnr_us"]), tries(f["rnr_left"]));
	 }},
	{[](const Facts &f) { return f["ack_us"] && f.unacknowledged() && !f["rnr_us"]; },
	 ack_words},
	{[](const Facts &f) { return f["pushed_back"] != 0; },
	 [](const Facts &) {
		 return std::string(
			 "the receiver or the link is full: what it sends is kept, and goes "
			 "again soon");
	 }},
	{[](const Facts &f) { return f["ccti"] != 0; },
	 [](const Facts &f) {
		 return fmt::format("congestion control slows it: place {} of the table",
				    f["ccti"]);
	 }},
	{[](const Facts &f) { return f.sends() && !f["sq_posted"] && !f["sq_unread"]; },
	 [](const Facts &) { return std::string("nothing is posted to its send queue"); }},
	{[](const Facts &f) {
		 return f.runs() &&
			((f["has_rq"] && !f["rq_posted"]) || (f["has_srq"] && !f["srq_posted"]));
	 },
	 no_receive_words},
};

} // namespace

std::vector<std::string> explain(const QueuePair &qp, const std::string &hca,
				 const std::optional<Port> &port)
{
	const Facts facts{qp, hca, port};
	std::vector<std::string> sentences;
	for (const Reason &reason : kReasons)
		if (reason.applies(facts))
			sentences.push_back(reason.words(facts));
	if (sentences.empty())
		sentences.push_back("nothing holds it up");
	return sentences;
}

} // namespace pib::ctl

// SPDX-License-Identifier: GPL-2.0
// Windows of VLs, as kernel/udp/credit.c keeps them: kernel/proto/credit.c decides.
#include <array>

#include "core/core.h"

namespace pib::netd {

/// Brings the windows in line with the session. A new one counts from 0, and packets that waited in
/// the one before are dropped.
void Core::settle_credits(Link &link)
{
	link.windows = windows_ && link.session.peer_caps & PIB_CAP_WINDOWS;
	// Packets that wait for windows leave when there are none any more.
	if (!link.windows && link.lanes.is_held)
		forwarder_.resume(link);
	const bool is_same = link.established() && link.credits.nonce == link.session.nonce &&
			     link.credits.peer_nonce == link.session.peer_nonce;
	if (is_same)
		return;
	if (link.lanes.ready)
		forwarder_.forget(link);
	if (link.established())
		pib_credits_init(&link.credits, link.session.nonce, link.session.peer_nonce);
}

/// vl: of a question: the VL that waits.
void Core::say_credit(Link &link, pib_credit_kind kind, std::uint8_t vl, std::uint64_t now)
{
	std::array<std::uint8_t, PIB_CREDIT_WIRE_LEN> bytes;
	pib_credits_build(&link.credits, link.session.remote_id, kind, vl, now, bytes.data());
	auth_seal(key_of(*link.port->owner, link.session.key), bytes);
	// A question must not overtake the data that it asks for.
	const bool asks = kind == PIB_CREDIT_ASKS;
	put_bytes(link.path, bytes, asks ? link.lanes.tos[vl] : std::uint8_t{0},
		  asks ? Rank::data : Rank::credit);
}

/// With each keepalive the peer is told what it was not told yet, and asked if something waits.
void Core::keep_credit(Link &link, std::uint64_t now)
{
	if (!link.established() || !link.windows)
		return;
	const bool owes = pib_credits_owes(&link.credits);
	if (!ask(link, now) && owes)
		say_credit(link, PIB_CREDIT_TELLS, 0, now);
}

/// Asks for each VL for which that is due. Returns true if there was one.
bool Core::ask(Link &link, std::uint64_t now)
{
	bool asked = false;
	for (int vl; (vl = pib_credits_due(&link.credits, now)) >= 0; asked = true)
		say_credit(link, PIB_CREDIT_ASKS, static_cast<std::uint8_t>(vl), now);
	return asked;
}

/// Asks peers for whom something waits, if that is due, and tries again if it waits no longer.
void Core::ask_held(std::uint64_t now)
{
	for (Link *link : forwarder_.held()) {
		ask(*link, now);
		if (link->lanes.ready & ~std::uint32_t{link->credits.waits} ||
		    link->lanes.is_stale(now))
			forwarder_.resume(*link);
	}
}

/// It may be any key of any switch: which link is named is known to who has the lock.
HelloKey Core::credit_key(std::span<const std::uint8_t> bytes) const
{
	if (!windows_)
		return {};
	for (const auto &[key, number] : key_numbers_)
		if (auth_is_right(key, bytes))
			return number;
	return {};
}

void Core::credit(const Arrival &arrival, std::span<const std::uint8_t> bytes, HelloKey key,
		  std::uint64_t now)
{
	pib_credit_msg m;
	std::uint32_t to = 0;
	if (!pib_credit_parse(&m, &to, bytes.data(), bytes.size())) {
		stats_.add(PIB_US_RX_BAD_CREDITS);
		return;
	}
	const auto found = links_.find(to);
	if (found == links_.end() || !found->second->established()) {
		stats_.add(PIB_US_RX_UNKNOWN_LINK);
		return;
	}
	Link &link = *found->second;
	// Questions come from the ports of flows.
	if (!same_host(link.path.remote, arrival.path.remote)) {
		stats_.add(PIB_US_RX_WRONG_ADDRESS);
		return;
	}
	if (!link.windows || m.nonce != link.session.peer_nonce ||
	    m.peer_nonce != link.session.nonce) {
		stats_.add(PIB_US_RX_BAD_CREDITS);
		return;
	}
	if (link.session.peer_key && key != link.session.peer_key) {
		stats_.add(PIB_US_RX_BAD_AUTHENTICATION);
		return;
	}
	const std::uint32_t todo = pib_credits_rx(&link.credits, &m, now);
	stats_.add(PIB_US_RX_BAD_CREDITS, !!(todo & PIB_CREDIT_DO_REJECT));
	if (todo & PIB_CREDIT_DO_ANSWER)
		say_credit(link, PIB_CREDIT_ANSWERS, 0, now);
	if (todo & PIB_CREDIT_DO_OPEN)
		forwarder_.resume(link);
}

} // namespace pib::netd

// SPDX-License-Identifier: GPL-2.0
#include "manners/kinds.h"

#include <array>

namespace pib::ctl {
namespace {

struct Row {
	Manner manner;
	std::string_view name;
	std::string_view text;
};

constexpr std::array<Row, kManners> kRows = {{
	{Manner::kWidePsn, "wide-psn",
	 "A PSN has 24 bits. What is above them is cut off by one HCA, and refused by another."},
	{Manner::kWideField, "wide-field",
	 "A number does not fit its field: a QPN has 24 bits, a timeout 5, a retry count 3."},
	{Manner::kMagicLid, "magic-lid",
	 "0 and 65535 are no port's LID, and LIDs from 49152 on are groups, to which nothing "
	 "connects. Take LIDs from a path record, or from the peer."},
	{Manner::kGroupWithoutGrh, "group-without-grh",
	 "Datagrams to a multicast LID need a GRH with the group's GID (is_global)."},
	{Manner::kSendFlags, "send-flags",
	 "A flag that means nothing there: IBV_SEND_SOLICITED where the peer has no completion, "
	 "IBV_SEND_FENCE where no READ or atomic can come before."},
	{Manner::kQkeyTopBit, "qkey-top-bit",
	 "A Q_Key with its top bit in a work request stands for that of the queue pair itself, and "
	 "such Q_Keys are the kernel's to give."},
	{Manner::kUnsignaledFull, "unsignaled-full",
	 "As many sends in a row as the queue holds asked for no completion. Their places are free "
	 "for certain only when a completion behind them was polled: other HCAs refuse the next one."},
	{Manner::kStaleRkey, "stale-rkey",
	 "An R_Key that was invalidated, or has worked before, was used and is refused by its HCA: the "
	 "two sides do not agree on how long it is valid, or for what range."},
	{Manner::kDeregBusy, "dereg-busy",
	 "Memory was deregistered while work requests that are not finished name its key."},
	{Manner::kLostOnReset, "lost-on-reset",
	 "A queue pair went to RESET, and work requests or completions of it are lost. Go to ERR first, "
	 "and poll until all are flushed."},
	{Manner::kDestroyedBusy, "destroyed-busy",
	 "A queue pair was destroyed while sends were not finished: whether they have reached the peer "
	 "nobody can tell."},
	{Manner::kUnpolled, "unpolled",
	 "Completions were never polled, be they good or bad. A completion queue that is not polled "
	 "fills, and fails."},
	{Manner::kLeftBehind, "left-behind",
	 "Objects were left to the kernel, which has destroyed them as the device was closed or the "
	 "process ended. What is made again and again and never destroyed, as address handles, fills "
	 "the HCA."},
	{Manner::kUnackedEvent, "unacked-event",
	 "Events were taken and not acknowledged: what destroys their queue pair, CQ or SRQ waits for "
	 "that, for ever."},
	{Manner::kForkUnsafe, "fork-unsafe",
	 "The program has forked with registered memory, and neither ibv_fork_init() nor "
	 "ibv_is_fork_initialized() was called: where the kernel does not copy such pages, the HCA goes "
	 "on in the child's."},
	{Manner::kUnarmedWait, "unarmed-wait",
	 "ibv_get_cq_event() was called and no CQ of the channel was armed: no event comes. Each event "
	 "uses up what ibv_req_notify_cq() has armed."},
	{Manner::kArmedLate, "armed-late",
	 "A CQ was armed with completions in it, and an event waited for before they were polled: the "
	 "event is of the next completion. Arm, then poll until there is none, then wait."},
	{Manner::kBufferChanged, "buffer-changed",
	 "A buffer was changed after it was posted to be sent and before its completion was polled: the "
	 "peer gets the old bytes, the new ones, or some of both."},
	{Manner::kReservedBits, "reserved-bits",
	 "Bits that verbs.h gives no meaning were set: one provider refuses them, another one ignores "
	 "them until a later version gives them one."},
	{Manner::kLoneFlag, "lone-flag",
	 "A flag was set without the one that it needs: memory that peers may write must be writable for "
	 "this host, too. The registration fails."},
	{Manner::kEmptyField, "empty-field",
	 "A comp_mask says that a field is filled, and there is NULL in it: one provider looks at what "
	 "it needs, another one at all that is said to be there."},
	{Manner::kLargeMtu, "large-mtu",
	 "A queue pair has a path MTU above the active MTU of its own port: packets of that size do not "
	 "pass. Take the MTU of the path record, or the smaller one of both ports."},
	{Manner::kPathIgnored, "path-ignored",
	 "A queue pair was given another DLID or SL than the path record of its connection has, a "
	 "larger MTU or a higher rate: what the subnet manager has set up for the path does not hold."},
}};

constexpr bool in_order()
{
	for (std::size_t i = 0; i < kRows.size(); ++i)
		if (static_cast<std::size_t>(kRows[i].manner) != i)
			return false;
	return true;
}
static_assert(in_order());

} // namespace

std::string_view manner_name(Manner manner)
{
	return kRows[static_cast<std::size_t>(manner)].name;
}

std::string_view manner_text(Manner manner)
{
	return kRows[static_cast<std::size_t>(manner)].text;
}

} // namespace pib::ctl

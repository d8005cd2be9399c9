#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Without a subnet manager ports make their LIDs of their MAC addresses, and two of these make the same LID: the host with
# the higher node GUID keeps it, the other one moves, and everybody reaches both, also when one of them goes.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap hosts_clean EXIT

LID=$((0x6e38))
MACS=(- 02:00:00:05:26:ef 02:00:00:91:7e:39)

lid() { echo $(($(port_attr "$1" lid))); }
lid_is() { [ "$(lid "$1")" = "$2" ]; }
wants_it() {
	local rc=0
	pib_add "$1" standalone && lid_is "$1" $LID || rc=1
	h "$1" pibctl del "$(dev "$1")" && return $rc
}
# One has it, the other one another.
solved() { { lid_is 1 $LID || lid_is 2 $LID; } && [ "$(lid 1)" != "$(lid 2)" ]; }
trunks_up() { h "$1" pibctl -j show links | jq -e "[.links[] | select(.up == true)] | length == $2"; }
all_trunks() { trunks_up 1 2 && trunks_up 2 2 && trunks_up 3 2; }
reaches() { wait_for 20 pair "$2" "$1" 10 ibv_rc_pingpong -n 10 || { cat $pair_out.*; false; }; }

ktap_plan 23
hosts_make 3
for k in 1 2; do
	h $k ip link set eth0 down
	h $k ip link set eth0 address "${MACS[k]}"
	host_net_up $k 2>/dev/null
	check "host $k, alone, gives itself LID $LID" wants_it $k
done
# Host 3 knows one of them before it hears the other.
check "host 1: add" pib_add 1 standalone
check "host 3: add" pib_add 3 standalone
check "host 3 reaches host 1" reaches 3 1
check "host 2: add" pib_add 2 standalone
check "every two are linked" wait_for 30 all_trunks
check "one keeps the LID, the other takes another" wait_for 30 solved
if lid_is 1 $LID; then KEPT=1 MOVED=2; else KEPT=2 MOVED=1; fi
check "host 3 reaches the one that kept it" reaches 3 $KEPT
check "the one that moved reaches the one that kept it" reaches $MOVED $KEPT
check "the one that kept it reaches the one that moved" reaches $KEPT $MOVED
check "host 3 reaches the one that moved" reaches 3 $MOVED

# The other way round: the one that has it first must give it up.
both_go() { h 1 pibctl del pib0 && h 2 pibctl del pib1 && wait_for 30 trunks_up 3 0; }
first() { pib_add $MOVED standalone && lid_is $MOVED $LID; }
gave_it_up() { lid_is $KEPT $LID && ! lid_is $MOVED $LID; }
check "both go" both_go
check "the one that moved comes first, and has the LID" first
check "host 3 reaches it" reaches 3 $MOVED
check "the one that kept the LID comes back" pib_add $KEPT standalone
check "it gets the LID" wait_for 30 gave_it_up
check "every two are linked again" wait_for 30 all_trunks
check "host 3 reaches it again" reaches 3 $KEPT
check "host 3 reaches the other" reaches 3 $MOVED
check "the other reaches it" reaches $MOVED $KEPT
check "it goes" h $KEPT pibctl del "$(dev $KEPT)"
check "host 3 still reaches the other" reaches 3 $MOVED
ktap_end

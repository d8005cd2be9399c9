#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Events of a netdev while an HCA is being made on it: none of them may be missed. Somebody else keeps RTNL busy, so
# that the events come in between. `ROUNDS` (10) of each kind.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap 'kill $busy; hosts_clean' EXIT

ROUNDS=${ROUNDS:-10}

keep_rtnl_busy() {
	while :; do
		ip -n h2 link add busy0 type dummy
		ip -n h2 link del busy0
	done
}

speaks() { h 1 pibctl -j show uplinks | jq -e '[.. | objects | .tx_datagrams? // empty] | add > 0'; }
comes_up() {
	local rc=0
	h 1 ip link set eth0 down || return 1
	h 1 ip link set eth0 up &
	pib_add 1 || rc=1
	wait $! || rc=1
	wait_for 20 speaks || { h 1 pibctl show uplinks; rc=1; }
	h 1 pibctl del pib0 || rc=1
	return $rc
}

absent() { ! h 1 pibctl show pib0; }
# Made or refused, it is not there in the end.
goes() {
	local rc=0
	h 1 ip link add gone0 type dummy && h 1 ip link set gone0 up || return 1
	h 1 ip link del gone0 &
	h 1 pibctl add pib0 netdev gone0 2>/tmp/refused || grep -q netdev /tmp/refused || { cat /tmp/refused; rc=1; }
	wait $! || rc=1
	wait_for 20 absent || rc=1
	return $rc
}

# rounds COMMAND
rounds() {
	local i
	for ((i = 1; i <= ROUNDS; i++)); do "$1" || { echo "round $i of $ROUNDS"; return 1; }; done
}

ktap_plan 2
hosts_make 2
modprobe pib
keep_rtnl_busy >/dev/null 2>&1 &
busy=$!
check "a netdev that comes up: the HCA speaks" rounds comes_up
check "a netdev that goes: so does the HCA" rounds goes
ktap_end

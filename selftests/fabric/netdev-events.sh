#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Events of a netdev while an HCA is being made on it: none of them may be missed. Somebody else keeps RTNL busy, so
# that the events come in between. `ROUNDS` (10) of each kind. Then a netdev that goes while data does.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap 'kill $busy 2>/dev/null; pkill -x ib_write_bw; ip netns exec else pibctl del pib0; ip netns del else; hosts_clean' EXIT

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

# It has the HCA's netdev under its new name, or was renamed before.
uplink_is() { h 1 pibctl -j show uplinks | jq -e --arg name "$1" '[.uplinks[].netdev] == [$name]'; }
is_renamed() {
	local rc=0 made=1
	h 1 sh -c 'ip link set eth0 down; ip link set eth0 name lan0; ip link set lan0 up' &
	h 1 pibctl add pib0 netdev eth0 2>/tmp/refused || { made=0; grep -q netdev /tmp/refused; } || { cat /tmp/refused; rc=1; }
	wait $! || rc=1
	[ $made = 1 ] || h 1 pibctl add pib0 netdev lan0 || rc=1
	uplink_is lan0 && wait_for 20 speaks || { h 1 pibctl show uplinks; rc=1; }
	h 1 pibctl del pib0 || rc=1
	h 1 sh -c 'ip link set lan0 down; ip link set lan0 name eth0; ip link set eth0 up' || rc=1
	return $rc
}

# Data of the link goes by the MTU that the netdev has in the end.
by_mtu() { h 1 pibctl -j show links | jq -e "[.links[] | select(.address and .up) | .path_mtu] == [$1]"; }
changes_mtu() {
	local rc=0 mtu=1400
	h 1 ip link set eth0 mtu $mtu &
	pib_add 1 standalone || rc=1
	wait $! || rc=1
	wait_for 30 by_mtu $mtu || { h 1 pibctl show links; rc=1; }
	h 1 pibctl del pib0 || rc=1
	h 1 ip link set eth0 mtu 1500 || rc=1
	return $rc
}

# An MTU that IPv6 does not take, and back: the netdev has lost its groups meanwhile, and is in pib's again.
in_group() { h 1 ip maddr show dev eth0 | grep -q ff12::7069:62; }
not_in_group() { ! in_group; }
goes_by() { wait_for 30 by_mtu "$1" && wait_for 20 "$2" || { h 1 pibctl show links; h 1 ip maddr show dev eth0; return 1; }; }
too_small_for_ipv6() {
	local rc=0
	pib_add 1 standalone && goes_by 1500 in_group || rc=1
	h 1 ip link set eth0 mtu 1200 && goes_by 1200 not_in_group || rc=1
	h 1 ip link set eth0 mtu 1500 && goes_by 1500 in_group || rc=1
	h 1 ip -6 addr replace "$(addr6 1)/64" dev eth0 nodad || rc=1
	h 1 pibctl del pib0 || rc=1
	return $rc
}

# The HCA goes, and another one can be made where its netdev is then.
moves_away() {
	local rc=0
	h 1 ip link add gone0 type dummy && h 1 ip link set gone0 up || return 1
	h 1 ip link set gone0 netns h2 &
	h 1 pibctl add pib0 netdev gone0 2>/tmp/refused || grep -q netdev /tmp/refused || { cat /tmp/refused; rc=1; }
	wait $! || rc=1
	wait_for 20 absent || rc=1
	wait_for 20 h 2 pibctl add pib0 netdev gone0 && h 2 pibctl del pib0 || rc=1	# ib_core has the name for a moment yet
	h 2 ip link del gone0 || rc=1
	return $rc
}

# The netdev moves away under traffic. Another HCA has a link by it where it is then.
received() { cat /sys/class/infiniband/pib1/ports/1/counters/port_rcv_data; }
more_than() { [ "$(received)" -gt "$1" ]; }
trunk_up() { h 2 pibctl -j show peers | jq -e '.peers[] | select(.up)'; }
no_trunk() { ! trunk_up; }
moves_under_traffic() {
	pib_add 1 standalone && pib_add 2 standalone && wait_active 30 && wait_for 30 trunk_up || return 1
	h 2 ib_write_bw -d pib1 -F -D 120 >/tmp/server 2>&1 &
	wait_for 20 port_listens 2 18515
	h 1 ib_write_bw -d pib0 -F -D 120 "$(addr4 2)" >/tmp/client 2>&1 &
	wait_for 30 more_than $(($(received) + 10000)) || { cat /tmp/client; return 1; }
	ip -n h1 link set eth0 netns else || return 1
	wait_for 20 absent || { h 1 pibctl show; return 1; }
	pkill -x ib_write_bw
	wait_for 20 no_trunk || { h 2 pibctl show peers; return 1; }
}
there_again() {
	ip -n else link set eth0 up && ip netns exec else pibctl add pib0 netdev eth0 standalone && wait_for 60 trunk_up
}

# rounds COMMAND
rounds() {
	local i
	for ((i = 1; i <= ROUNDS; i++)); do "$1" || { echo "round $i of $ROUNDS"; return 1; }; done
}

ktap_plan 9
hosts_make 2
modprobe pib
keep_rtnl_busy >/dev/null 2>&1 &
busy=$!
check "a netdev that comes up: the HCA speaks" rounds comes_up
check "a netdev that goes: so does the HCA" rounds goes
check "a netdev that is renamed: the HCA speaks" rounds is_renamed
check "a netdev that moves to another namespace: the HCA goes" rounds moves_away
check "a host to speak to" pib_add 2 standalone
check "a netdev whose MTU changes: data goes by that" rounds changes_mtu
check "a netdev whose MTU is too small for IPv6 for a while: pib is in its group again" too_small_for_ipv6
h 2 pibctl del pib1
kill $busy
ip netns add else
check "a netdev that moves away under traffic: the HCA goes" moves_under_traffic
check "an HCA is made where it is now, and has a link" there_again
ktap_end

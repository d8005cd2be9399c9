#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# GUIDs on a netdev that has no MAC address, here a GRE tunnel: nobody else has them. Elsewhere they come from that address, and
# are the same again. If somebody has a host's GUID nevertheless, the log speaks of it.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap hosts_clean EXIT

tunnel() {
	h "$1" ip link add tun0 type gre local "10.77.0.$1" remote "10.77.0.$2" &&
		h "$1" ip addr add "10.99.0.$1/24" dev tun0 && h "$1" ip link set tun0 up
}
tunnels() { modprobe ip_gre && tunnel 1 2 && tunnel 2 1; }
through() { h "$1" pibctl add "$(dev "$1")" netdev tun0 standalone peer "10.99.0.$2"; }
guid() { cat "/sys/class/infiniband/$(dev "$1")/node_guid"; }
differ() { echo "$1 $2" && [ -n "$1" ] && [ -n "$2" ] && [ "$1" != "$2" ]; }
anew() { h 1 pibctl del pib0 && through 1 2; }

ktap_plan 15
hosts_make 2
check "two hosts of one name have tunnels of one name" tunnels
check "host 1: add" through 1 2
check "host 2: add" through 2 1
FIRST=$(guid 1)
check "their GUIDs differ" differ "$FIRST" "$(guid 2)"
check "ibv_rc_pingpong through the tunnel" wait_for 20 pair 1 2 10 ibv_rc_pingpong -n 10
check "host 1 once more" anew
check "with a GUID that does not come from any name" differ "$FIRST" "$(guid 1)"
h 1 pibctl del pib0
h 2 pibctl del pib1

# A host switch's own hello, when the network sends it back and when somebody else says the same.
told() { dmesg | grep -c 'has the same node GUID'; }
is_told() { [ "$(told)" = "$1" ]; }
check "a host switch" pib_add 1
BEFORE=$(told)
dropped() { h 1 pibctl -j show uplinks | jq '.uplinks[0].counters.rx_bad_hello'; }
DROPPED=$(dropped)
h 2 python3 "$here/clone.py" eth0 10.77.0.2 10.77.0.1 >/tmp/clone 2>&1
check "its own hello is nobody else's, that of a clone is" test "$(cat /tmp/clone)" = "echoed and cloned"
check "the log says so" wait_for 10 is_told $((BEFORE + 1))
all_counted() { [ $(($(dropped) - DROPPED)) = 10 ]; }
check "all ten are counted" wait_for 10 all_counted
check "the log has said so no more than once" is_told $((BEFORE + 1))

# The first six bytes are its address, with the bit inverted that says who assigned it.
of_mac() {
	local mac
	IFS=: read -ra mac < <(h 1 cat /sys/class/net/eth0/address)
	printf '%02x%s:%s%s:%s%s\n' $((0x${mac[0]} ^ 2)) "${mac[@]:1}"
}
is() { echo "$1 $2" && [ -n "$1" ] && [ "$1" = "$2" ]; }
FIRST=$(guid 1)
check "the node GUID comes from the netdev's hardware address" is "${FIRST%:*}" "$(of_mac)"
anew_on_eth0() { h 1 pibctl del pib0 && pib_add 1; }
check "del and add" anew_on_eth0
check "the GUID is the same" is "$(guid 1)" "$FIRST"
ktap_end

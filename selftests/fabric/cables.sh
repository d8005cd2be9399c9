#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Explicit topologies: peers without a switch, several ports, switches and cables that are asked for.
#
#	back to back	h1 pib0 ===UDP=== pib1 h2
#	hub		h1 pib0 ===UDP=== host switch of h2 --- pib1
#	chain		pib0 --- sa --- sb --- pib1, all of them in h1
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap 'for s in sa sb; do h 1 pibctl del $s; done 2>/dev/null; h 1 pibctl del pib1 2>/dev/null; hosts_clean' EXIT

ktap_plan 26
LAYOUT=netns
hosts_make 2
clean() {
	sm_end h 1
	h 1 pibctl del pib0
	h 2 pibctl del pib1
}

seventeen() { for k in {1..17}; do echo "peer 10.77.0.$k"; done; }
# shellcheck disable=SC2046  # words
refuse "17 peers" "more than 16 peers" pib_add 1 $(seventeen)
check "back to back: add" pib_add 1 peer "$(addr4 2)"
check "back to back: the other end" pib_add 2 peer "$(addr4 1)"
check "no switch is made" sh -c '! ip netns exec h1 pibctl show | grep -q ^switch'
sm_start 1
check "back to back: ACTIVE" wait_active 60
check "back to back: traffic" pair 1 2 60 ibv_rc_pingpong
check "back to back: del" clean

check "hub: add" pib_add 2
check "hub: a peer asks for a port of its switch" pib_add 1 peer "$(addr4 2)"
sm_start 1
check "hub: ACTIVE" wait_active 60
check "hub: traffic" pair 1 2 60 ibv_rc_pingpong
one_switch() { [ "$(h 1 ibnetdiscover -C pib0 | grep -c ^Switch)" = 1 ]; }
check "hub: one switch" one_switch
check "hub: del" clean

check "standalone back to back: add" pib_add 1 standalone peer "$(addr4 2)"
check "standalone back to back: the other end" pib_add 2 standalone peer "$(addr4 1)"
check "standalone back to back: ACTIVE" wait_active 20
check "standalone back to back: traffic" pair 1 2 60 ibv_rc_pingpong
check "standalone back to back: del" clean

chain() {
	h 1 pibctl add pib0 netdev eth0 && h 1 pibctl add pib1 netdev eth0 &&
		h 1 pibctl switch add sa ports 4 && h 1 pibctl switch add sb ports 4 &&
		h 1 pibctl link del pib0/1 && h 1 pibctl link del pib1/1 &&
		h 1 pibctl link add pib0/1 sa/1 && h 1 pibctl link add sa/4 sb/4 && h 1 pibctl link add sb/1 pib1/1
}
check "chain: make" chain
sm_start 1
both_active() { grep -q ACTIVE /sys/class/infiniband/pib0/ports/1/state && grep -q ACTIVE /sys/class/infiniband/pib1/ports/1/state; }
check "chain: ACTIVE" wait_for 60 both_active
two_switches() { [ "$(h 1 ibnetdiscover -C pib0 | grep -c ^Switch)" = 2 ]; }
check "chain: two switches" two_switches
local_pair() {
	h 1 timeout 30 ibv_rc_pingpong -d pib0 >/tmp/pair.server 2>&1 &
	wait_for 10 sh -c "ip netns exec h1 ss -Hltn | grep -q 18515"
	h 1 timeout 30 ibv_rc_pingpong -d pib1 127.0.0.1 >/tmp/pair.client 2>&1 && wait $!
}
check "chain: traffic" local_pair
check "chain: unplug" h 1 pibctl link set sa/4 down
check "chain: the rest is gone" wait_for 10 one_switch
check "chain: plug in" h 1 pibctl link set sb/4 up
again() { both_active && local_pair; }
check "chain: traffic again" wait_for 40 again
ktap_end

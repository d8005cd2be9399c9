#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A fat tree of which each HCA is a host: a network namespace with an IPoIB interface. bench/fat-tree.sh -p is the same
# for 512.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/topology.sh"
. "$here/../lib/many-hosts.sh"
# The machine may be kept for another suite. The mode changes only when no namespace is left but the first.
trap 'topology_clean; wait_for 20 rdma system set netns shared' EXIT

ktap_plan 12
many_hosts_init
check "load: 16 HCAs, 4 leaves, 2 spines, a namespace each" pibctl fabric load "$(net xgft 4,4 1,2)" netns
check "opensm" fabric_sm -R ftree,no_fallback
check "SUBNET UP" subnet_up
check "all ports ACTIVE" wait_for 30 all_active
check "all IPoIB interfaces join" many_hosts_up 16

# Unicast packets that each spine has sent on.
spines() {
	pibctl -j show counters | jq -c '[.counters[] | select(.node | startswith("s2-"))] | group_by(.node)
		| map(map(.counters.unicast_xmit_packets) | add)'
}
check "16 pairs ping each other" many_hosts_ping 16
before=$(spines)
check "and again" many_hosts_ping 16
both() { jq -en --argjson a "$before" --argjson b "$(spines)" '($a | length) == 2 and all(range(2); $b[.] >= $a[.] + 8)'; }
check "over both spines" both

check "a host's cable is out" pibctl link set pib3/1 down
refuse "it answers no more" "100% packet loss" host_pings 0 3 3
check "the cable is in again" pibctl link set pib3/1 up
check "and the host answers" host_pings 0 3 120
ktap_end

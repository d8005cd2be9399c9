#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Multicast tables that are no tree: two switches with three cables between them send what they get to all ports. Each
# round doubles a datagram's copies, and a packet has no count of hops. The kernel ends that after 8192 copies.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/topology.sh"
trap 'pkill -x opensm; topology_clean' EXIT

ktap_plan 6
topology_init
compile() { program circles /tmp/circles && program smpset /tmp/smpset; }
check "the programs compile" compile
fabric() {
	local i
	pibctl switch add swA ports 8 && pibctl switch add swB ports 8 && pibctl add pib0 || return 1
	for i in 1 2 3; do pibctl link add "swA/$i" "swB/$i" || return 1; done
	pibctl link add pib0/1 swA/8 && fabric_sm && subnet_up && wait_for 30 all_active
}
check "two switches and three cables between them" fabric
sm_end
copies() { pibctl -j show counters | jq '[.counters[].counters.multicast_xmit_packets? // 0] | add'; }
discards() { pibctl -j show counters | jq '[.counters[].counters.port_xmit_discards? // 0] | add'; }
before=$(copies)
mapfile -t lids < <(ibswitches -C pib0 | sed -n 's/.* lid \([0-9]*\) .*/\1/p')
# SubnSet(MulticastForwardingTable), the first block: each of its 32 MLIDs leaves by ports 1 to 15.
one_datagram() {
	local lid
	for lid in "${lids[@]}"; do
		# shellcheck disable=SC2046
		/tmp/smpset pib0 "$lid" 0x1B 0 0 $(printf '0xFF 0xFE %.0s' {1..32}) || return
	done
	timeout 60 /tmp/circles pib0
}
check "one datagram" one_datagram
sent=$(($(copies) - before))
many() { echo "$sent copies, $(discards) discarded"; [ $sent -gt 1000 ] && [ $sent -le 8200 ]; }
check "it went round, and that had an end" many
counted() { [ "$(discards)" -gt 0 ]; }
check "what was not sent is counted" counted
check "the switches go on" timeout 20 smpquery -C pib0 nodeinfo "${lids[1]}"
ktap_end

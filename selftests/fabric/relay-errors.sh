#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Packets that a switch cannot forward, for its tables lead nowhere: they are lost, and counted at the port by which they
# came in (IBA 16.1.3.5, PortRcvSwitchRelayErrors; 16.1.4.3, PortRcvErrorDetails).
#
#	pib0, SM --- 1 sw 2 --- pib1
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/topology.sh"
trap 'pkill -x opensm; topology_clean' EXIT

ktap_plan 16
topology_init
check "talk compiles" program talk /tmp/talk
check "smpset compiles" program smpset /tmp/smpset
fabric() {
	pibctl switch add sw ports 4 && pibctl add pib0 && pibctl add pib1 && pibctl link add pib0/1 sw/1 &&
		pibctl link add pib1/1 sw/2 && fabric_sm && subnet_up && wait_for 30 all_active
}
check "a switch and two HCAs" fabric
# Nobody else is to set tables.
sm_end
FAR=$(lid_of pib1) SW=$(pibctl -j show sw | jq '.switches[0].ports[0].lid')
talk() { /tmp/talk ud pib0 0xffff pib1 0xffff; }
sent() { perfquery -C pib0 "$SW" 2 | sed -n 's/^PortXmitPkts:\.*//p'; }
quiet() { local before; before=$(sent); sleep 2; [ "$(sent)" = "$before" ]; }
check "nobody else sends to pib1" wait_for 30 quiet
check "a datagram arrives" talk

# SubnSet(LinearForwardingTable) of the switch: the port for pib1's LID
route() { /tmp/smpset pib0 "$SW" 0x19 $((FAR / 64)) $((FAR % 64)) "$1"; }
# SubnSet(SLtoVLMappingTable) of the switch, from port 1 to port 2: the VLs of SL 0 and SL 1
lane() { /tmp/smpset pib0 "$SW" 0x17 $((1 << 8 | 2)) 0 "$1"; }
relay_errors() { perfquery -C pib0 "$SW" 1 | sed -n 's/^PortRcvSwitchRelayErrors:\.*//p'; }
detail() { perfquery -C pib0 --rcverr "$SW" 1 | sed -n "s/^$1:\.*//p"; }
# blames DETAIL COMMAND...: what COMMAND has set up loses a datagram, which the two counters of port 1 show
blames() {
	local name=$1 all one
	shift
	all=$(relay_errors) one=$(detail "$name")
	"$@" && loses talk || return
	echo "$all, then $(relay_errors); $one, then $(detail "$name")"
	[ "$(relay_errors)" = $((all + 1)) ] && [ "$(detail "$name")" = $((one + 1)) ]
}
check "back by the port it came from: PortLoopingErrors" blames PortLoopingErrors route 1
check "the route is mended" route 2
check "a datagram arrives again" talk
check "no route: PortDLIDMappingErrors" blames PortDLIDMappingErrors route 255
check "the route is mended again" route 2
check "and a datagram arrives" talk
check "no lane: PortVLMappingErrors" blames PortVLMappingErrors lane 0xFF
check "the lanes are mended" lane 0x01
check "a datagram arrives in the end" talk
clears() { perfquery -C pib0 -R "$SW" 1 && [ "$(relay_errors)" = 0 ]; }
check "the counter is cleared" clears
nothing_out() { perfquery -C pib0 "$SW" 2 | grep -q '^PortXmitDiscards:\.*0$'; }
check "the port that they did not leave by blames nobody" nothing_out
ktap_end

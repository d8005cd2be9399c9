#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The agents on QP1: performance management by VL and SL and for all ports, congestion control, and what other
# classes are told.
#
#	pib0 --- sa/4 --- sb/4 --- pib1, all in h1
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/programs.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/chain.sh"
trap 'for s in sa sb; do h 1 pibctl del $s; done 2>/dev/null; h 1 pibctl del pib1 2>/dev/null; hosts_clean' EXIT

ktap_plan 73
LAYOUT=netns
hosts_make 2

write_bw() { run ib_write_bw -s 65536 -n "$1" -F -p 18515; }
bandwidth() { awk '$1 == 65536 { print int($4 * 1000) }' /tmp/pair.client; }
# told FIGURE COMMAND...: perftest cannot always tell the clock's rate, and writes 0 or inf then; it is asked again, twice.
told() {
	for _ in 1 2 3; do
		"${@:2}" || return
		[ "$("$1")" -gt 0 ] && return
	done
	return 1
}
# It fails, and not for want of an answer.
fast() {
	local start=$SECONDS
	h 1 timeout 60 "$@" && return 1
	[ $((SECONDS - start)) -lt $((20 * ${PIB_SLOW:-1})) ]
}

check "a chain of two switches" chain
sm_start 1
check "ACTIVE" wait_for 60 both_active
lid() { h 1 pibctl -j show "$1" | jq "[.. | objects | .lid? // empty][0]"; }
SA=$(lid sa) SB=$(lid sb) P0=$(lid pib0) P1=$(lid pib1)
pma() { h 1 timeout 20 perfquery -C pib0 "${@:2}" | sed -n "s/^$1:\.*//p"; }

# By VL and SL. Management has SL 0, so the counts of SL 5 stand still while they are asked for.
check "traffic on SL 5" run ibv_rc_pingpong -n 50 -l 5
for option in --xmtsl --rcvsl --xmtdisc --rcverr --extended_speeds --oprcvcounters --flowctlcounters --vloppackets \
	--vlopdata --vlxmitflowctlerrors --vlxmitcounters --swportvlcong --rcvcc --slrcvfecn --slrcvbecn --xmitcc \
	--vlxmittimecc --smplctl; do
	check "perfquery $option: a switch" h 1 timeout 20 perfquery -C pib0 $option "$SB" 4
done
DATA=$(pma XmtDataSL5 --xmtsl "$SB" 4)
check "data by SL" more "$DATA" 50000
check "data by VL: the same" same "$(pma PortVLOpData5 --vlopdata "$SB" 4)" "$DATA"
check "what one end sends the other receives" same "$(pma RcvDataSL5 --rcvsl "$SA" 4)" "$DATA"
check "packets by VL" more "$(pma PortVLOpPackets5 --vloppackets "$SB" 4)" 100
check "an HCA's data" same "$(pma XmtDataSL5 --xmtsl "$P1" 1)" "$DATA"
check "no other SL" same "$(pma XmtDataSL6 --xmtsl "$SB" 4)" 0
check "cleared" h 1 timeout 20 perfquery -C pib0 --xmtsl -R "$SB" 4
check "it is" same "$(pma XmtDataSL5 --xmtsl "$SB" 4)" 0

# All ports of a switch at once; the questions themselves are counted as well.
sum() { echo $(($(pma PortXmitPkts "$SB" 1) + $(pma PortXmitPkts "$SB" 4))); }
between() { echo "$@"; [ "$1" -gt 100 ] && [ "$1" -le "$2" ] && [ "$2" -le "$3" ]; }
check "port 255 is the sum" between "$(sum)" "$(pma PortXmitPkts "$SB" 255)" "$(sum)"
check "a port that is not there" fast perfquery -C pib0 "$SB" 77

# Congestion control: settings.
cc() { h 1 timeout 20 ibccquery -C pib0 "$@"; }
cc_field() { cc "${@:2}" | sed -n "s/^$1:\.*//p" | head -n 1; }
mapfile -t table < <(yes 0:16383 | head -n 64)
conf() { h 1 timeout 20 ibccconfig -C pib0 "$@"; }
check "an HCA's table has two blocks" same "$(cc_field ControlTableCap CI "$P1")" 2
check "set: table" conf CT "$P1" 63 0 "${table[@]}"
check "get: table" same "$(cc_field CCTI_Limit CT "$P1") $(cc CT "$P1" | grep -c "CCT_Multiplier:.*16383")" "63 64"
check "set: CA" conf CS "$P1" 0 0xffff 0 1 1 0
check "get: CA" same "$(cc_field CCTI_Increase CS "$P1")" 1
check "a switch has no CA setting" fast ibccquery -C pib0 CS "$SB"
check "set: a switch port" conf SP "$SB" 4 1 0 15 0 0
check "get: a switch port" same "$(cc_field Threshold SP "$SB" 4)" 0x0f
check "set: the key" conf CK "$SB" 0x77 1 0 0
check "without the key: no" sh -c "! ip netns exec h1 timeout 20 ibccconfig -C pib0 SP $SB 4 0 0 0 0 0"
check "violations" more "$(cc_field CC_KeyViolations CK "$SB")" 0
check "with the key: yes" conf -c 0x77 CK "$SB" 0 0 0 0

# Congestion control: what it does. The cable between the switches is the bottleneck.
conf CT "$P1" 0 0 0:0
h 1 pibctl link set sa/4 rate 400M
check "RC fills it" told bandwidth write_bw 200
before=$(bandwidth)
wait_pma() { pma PortXmitWait "$P1" 1; }
check "marked where the queue is" more "$(cc_field LogEventsCounter CL "$SB")" 0
check "FECN at the receiver" more "$(pma PortPktRcvFECN --rcvcc "$P0" 1)" 0
check "BECN at the sender" more "$(pma PortPktRcvBECN --rcvcc "$P1" 1)" 0
check "the sender had to wait for the cable" more "$(wait_pma)" 0
# UC and UD have no acknowledgements to carry it. Slower, so that small datagrams are sure to queue.
h 1 pibctl link set sa/4 rate 50M
becn() { pma PortPktRcvBECN --rcvcc "$P1" 1; }
count=$(becn)
run ib_write_bw -c UC -s 65536 -n 200 -F -p 18515 >/dev/null
check "UC: BECN at the sender" more "$(becn)" "$count"
count=$(becn)
run ib_send_bw -c UD -s 2048 -n 500 -F -p 18515 >/dev/null
check "UD: BECN at the sender" more "$(becn)" "$count"
count=$(becn)
run ib_send_bw -c UD -x 0 -s 2048 -n 500 -F -p 18515 >/dev/null
check "UD with a GRH: BECN at the sender" more "$(becn)" "$count"
# No cable is slow, but an HCA is: many QPs send to one of it. The switch port before it marks.
h 1 pibctl link set sa/4 rate none
conf SP "$SA" 1 1 0 15 0 0
fecn() { pma PortPktRcvFECN --rcvcc "$P0" 1; }
count=$(becn) marks=$(fecn)
check "incast compiles" program incast /tmp/incast
check "many to one" h 1 timeout 100 /tmp/incast pib1 pib0
check "a full HCA: FECN at the receiver" more "$(fecn)" "$marks"
check "a full HCA: marked by the port before it" more "$(cc_field LogEventsCounter CL "$SA")" 0
check "a full HCA: BECN at the sender" more "$(becn)" "$count"
conf SP "$SA" 1 1 0 0 0 0
h 1 pibctl link set sa/4 rate 400M
conf CT "$P1" 63 0 "${table[@]}"
check "with a table: RC goes through" told bandwidth write_bw 40
check "with a table: it sends less" more $((before / 2)) "$(bandwidth)"
check "with a table: it logs why" more "$(cc_field ThresholdEventCounter CL "$P1")" 0

# Answers to READs are data as well: who receives a marked one says so by a packet of its own, and who sends them waits.
conf SP "$SA" 4 1 0 15 0 0
conf CS "$P0" 1 0xffff 0 1 1 0	# one index for a service level, which stays
conf CT "$P0" 0 0 0:0
read_bw() { run ib_read_bw -s 65536 -n "$1" -F -p 18515; }
atomics() { run ib_atomic_bw -n 500 -F -p 18515; }
rate() { awk '$1 == 8 { print int($5 * 1000000) }' /tmp/pair.client; }
count=$(pma PortPktRcvFECN --rcvcc "$P1" 1)
check "READ fills it" told bandwidth read_bw 200
before=$(bandwidth)
check "READ: FECN at the requester" more "$(pma PortPktRcvFECN --rcvcc "$P1" 1)" "$count"
check "READ: BECN at the responder" more "$(pma PortPktRcvBECN --rcvcc "$P0" 1)" 0
conf CT "$P0" 63 0 "${table[@]}"
check "with a table: READ goes through" told bandwidth read_bw 40
check "with a table: the responder sends less" more $((before / 2)) "$(bandwidth)"
check "with a table: the responder logs why" more "$(cc_field ThresholdEventCounter CL "$P0")" 0
# An end that is slowed down sends its answers and its own requests by turns, packet by packet.
check "turns compiles" program turns /tmp/turns
check "with a table: answers and requests by turns" h 1 timeout 150 /tmp/turns pib0 pib1
# An atomic's answer is short: on a slow port, where that takes longer.
check "a slow port" h 1 pibctl link set pib0/1 width 1x speed sdr
check "a slow port: ACTIVE" wait_for 60 both_active
check "with a table: atomics go through" told rate atomics
slowed=$(rate)
conf CT "$P0" 0 0 0:0
check "without: they do" told rate atomics
check "without: they are more" more "$(rate)" $((slowed * 2))

# Other classes.
check "vendor class: refused, not silent" fast vendstat -C pib0 -N "$SB"
ktap_end

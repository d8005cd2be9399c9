#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Virtual lanes: a slow cable is shared as the arbiter's tables say; cables with small buffers send on credit only, and
# a ring of them stands still unless the routing avoids it, or HOQLife ends it.
#
#	pib0, pib1 --- s-0 === s-1 --- pib2, pib3	then a ring of five switches, each with an HCA
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/topology.sh"
trap 'pkill -x flows; topology_clean' EXIT

ktap_plan 35
topology_init
check "flows compiles" program flows /tmp/flows

# pma FIELD OPTION LID PORT
pma() { timeout 20 perfquery -C pib0 "${@:2}" | sed -n "s/^$1:\.*//p"; }
# Cables between switches: "a/port b/port" of each.
trunks() { pibctl -j show links | jq -r '.links[] | select([.a.node, .b.node] | all(startswith("s-"))) | "\(.a.node)/\(.a.port) \(.b.node)/\(.b.port)"'; }
# A counter, summed up over both ends of all trunks.
total() {
	pibctl -j show counters >/tmp/counters
	jq --arg ends "$(trunks | tr '\n' ' ')" --arg name "$1" \
		'($ends | split(" ")) as $e | [.counters[] | select("\(.node)/\(.port)" | IN($e[])) | [.. | objects | .[$name]? // empty][0]] | add' /tmp/counters
}
# As many discards as there were; if not, why.
discards() {
	local end
	same "$(total port_xmit_discards)" "$1" && return
	for end in $(trunks); do
		timeout 20 perfquery -C pib0 --xmtdisc "$(switch_lid "${end%/*}")" "${end#*/}" | tr -s '.\n' '. '
	done
	return 1
}
# Their exit status goes into a file: it is looked at in subshells.
flows() {
	rm -f /tmp/flows.status
	{ /tmp/flows "$@" >/tmp/flows.out 2>&1; echo $? >/tmp/flows.status; } 2>/dev/null &
}
flows_over() { [ -s /tmp/flows.status ]; }
# They end by themselves, and well.
flows_end() {
	wait_for "$1" flows_over
	cat /tmp/ring.flows /tmp/flows.out /tmp/flows.status
	[ "$(cat /tmp/flows.status)" = 0 ]
}
flows_stop() {
	pkill -x flows
	wait_for 20 flows_over
}
# A process that is killed goes, whatever the fabric does.
flows_killed() {
	pkill -KILL -x flows
	wait_for 20 flows_gone
}
flows_gone() { ! pgrep -x flows; }

refuse "a buffer without room for a packet" "4352" pibctl link set s-0/1 buffer 4k

# Two switches, and a cable that is shared by two lanes. Packets may wait for ever: so slow a machine can be.
cat >/tmp/qos.conf <<-END
	head_of_queue_lifetime 0x14
	leaf_head_of_queue_lifetime 0x14
	packet_life_time 0x14
	qos TRUE
	qos_max_vls 8
	qos_high_limit 0
	qos_vlarb_high 0:0
	qos_vlarb_low 0:16,1:48,2:16,3:16,4:16,5:16,6:16,7:16
	qos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7
END
check "two switches: load" pibctl fabric load "$(net mesh 2 2)"
fabric_sm -Q -F /tmp/qos.conf
check "SUBNET UP" subnet_up
check "ACTIVE" wait_for 30 all_active
read -r TRUNK _ <<<"$(trunks)"
SWITCH=$(switch_lid "${TRUNK%/*}") PORT=${TRUNK#*/}
check "a slow cable" pibctl link set "$TRUNK" rate 80M
check "VLArb is programmed" sh -c "smpquery -C pib0 vlarb $SWITCH $PORT | grep -q '|0x10|0x30|'"
bytes() { pma "PortVLOpData$1" --vlopdata "$SWITCH" "$PORT"; }
# both_bytes: of both lanes, by one query
both_bytes() { pma 'PortVLOpData[01]' --vlopdata "$SWITCH" "$PORT" | paste -sd ' '; }
# pib0 and pib1 send to pib2 and pib3: as far as this cable goes, the same way.
flows -n 100000 pib0:pib2:0 pib1:pib3:1
both() { more "$(bytes 0)" "$1" && more "$(bytes 1)" "$1"; }
check "both lanes have begun" wait_for 60 both 20000
read -r A0 A1 < <(both_bytes)
check "both go on" wait_for 60 both $((A0 + 1000000))
read -r B0 B1 < <(both_bytes)
share() {
	echo "VL1 to VL0: $((B1 - A1)) to $((B0 - A0))"
	[ $((B1 - A1)) -gt $((2 * (B0 - A0))) ] && [ $((B1 - A1)) -lt $((4 * (B0 - A0))) ]
}
check "weights of 1 to 3: so is the cable shared" share
check "nothing was discarded" discards 0
flows_stop
pibctl link set "$TRUNK" rate none buffer 8k
show_buffer() { pibctl -j show links "$TRUNK" | jq '.links[0].faults.buffer'; }
check "a small buffer is shown" same "$(show_buffer)" 8192
flows -n 50 -s 262144 pib0:pib2:0 pib1:pib3:1
check "credits: all arrives" flows_end 100
check "credits: flow control packets are counted" more "$(pma PortRcvFlowPkts --flowctlcounters "$SWITCH" "$PORT")" 1000
check "credits: the sender had to wait" more "$(pma PortXmitWait "$SWITCH" "$PORT")" 0
check "credits: nothing was discarded" discards 0
sm_end
pibctl fabric clear

# A ring. 0x14 is for ever.
lifetimes() {
	cat >/tmp/ring.conf <<-END
		head_of_queue_lifetime $1
		leaf_head_of_queue_lifetime $1
		packet_life_time $1
	END
}
ring_up() {
	fabric_sm -R "$1,no_fallback" -F /tmp/ring.conf || { cat "$SM_DIR/out"; return 1; }
	subnet_up && wait_for 30 all_active
}
sl_of() {
	timeout 20 saquery -C pib0 PR --slid "$(lid_of "$1")" --dlid "$(lid_of "$2")" | sed -n 's/^[[:space:]]*sl\.\+//p' | head -n 1
}
# The flows RING: each HCA sends to the next but one, so every cable is used, and each flow takes two of them.
ring_words() {
	local i sl
	RING=()
	for i in 0 1 2 3 4; do
		sl=$(sl_of pib$i pib$(((i + 2) % 5)))
		RING+=("pib$i:pib$(((i + 2) % 5)):$((${sl:-0}))")
	done
	echo "${RING[*]}" >/tmp/ring.flows
}
ring_flows() {
	ring_words
	flows "$@" "${RING[@]}"
}
lanes() {
	cat /tmp/ring.flows
	[ "$(tr ' ' '\n' </tmp/ring.flows | cut -d: -f3 | sort -u | wc -l)" -gt 1 ]
}
still() {
	local before
	flows_over && return 1
	before=$(total port_xmit_bytes)
	sleep 2
	[ "$(total port_xmit_bytes)" = "$before" ] && [ "$before" -gt 0 ]
}

lifetimes 0x14
check "a ring: load" pibctl fabric load "$(net torus 5)"
for ends in $(trunks | cut -d' ' -f1); do pibctl link set "$ends" buffer 8k; done
check "minhop: SUBNET UP" ring_up minhop
ring_flows -n 100 -s 65536
check "minhop: it comes to a stand" wait_for 90 still
WAIT=$(total port_xmit_wait)
sleep 0.2
check "minhop: ports wait" more "$(total port_xmit_wait)" "$WAIT"
check "minhop: nothing was discarded" discards 0
# A packet that waits for ever must not keep a process, nor the memory that it was sent from.
check "minhop: who is killed is gone" flows_killed
leaves() { pibctl -j show links | jq -r '.links[] | select([.a.node, .b.node] | any(startswith("s-") | not)) | "\(.a.node)/\(.a.port)"'; }
for ends in $(leaves); do pibctl link set "$ends" latency 1ms; done
ring_flows -n 100 -s 65536
check "minhop, slow cables to the HCAs: it stands" wait_for 90 still
query_gone() { ! pgrep -x saquery; }
query_killed() {
	saquery -C pib1 PR >/tmp/query 2>&1 &
	wait_for 10 pgrep -x saquery
	sleep 1
	pkill -KILL -x saquery
	wait_for 20 query_gone
}
check "a query behind them that is killed is gone" query_killed
check "minhop, slow cables to the HCAs: who is killed is gone" flows_killed
for ends in $(leaves); do pibctl link set "$ends" latency 0; done
ring_flows -n 100 -s 65536
check "minhop: it stands once more" wait_for 90 still
sm_end
lifetimes 0x0e
check "HOQLife of 67 ms: SUBNET UP" ring_up minhop
check "HOQLife: it goes on to the end" flows_end 180
DISCARDS=$(total port_xmit_discards)
check "HOQLife: for the price of discards" more "$DISCARDS" 0
read -r TRUNK _ <<<"$(trunks)"
details() { pma "PortSwHOQ.*Discards" --xmtdisc "$(switch_lid "${1%/*}")" "${1#*/}"; }
hoq() {
	local sum=0 end
	for end in $(trunks); do sum=$((sum + $(details "$end"))); done
	more $sum 0
}
check "HOQLife: it is said why" hoq
sm_end

# OpenSM's lash spreads paths over its lanes by chance: some rings have all these flows in one lane (1 of 12 seen), which
# lash is there to prevent. Such a choice says nothing about the lanes of pib, so lash chooses again.
ring_lanes() {
	local i
	for i in 1 2 3 4 5 6 7 8; do
		ring_up "$1" && ring_words && lanes && return
		sm_end
	done
	return 1
}
lifetimes 0x14
for engine in lash dfsssp; do
	check "$engine: SUBNET UP, more than one service level" ring_lanes $engine
	read -ra RING </tmp/ring.flows
	flows -n 100 -s 65536 "${RING[@]}"
	check "$engine: nothing stands still" flows_end 180
	flows_killed
	sm_end
done
check "without discards" discards "$DISCARDS"
ktap_end

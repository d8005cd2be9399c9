#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Segments that come one by one, as over a wire: in order, in disorder, with losses; small packets that share a frame; and segments
# such as a peer can only mean ill by.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/programs.sh"
trap hosts_clean EXIT

one_by_one() {
	local k
	for k in 1 2; do h $k ethtool -K eth0 gso off tx-udp-segmentation off gro off || return 1; done
}
bad_wire() {
	local k
	for k in 1 2; do h $k tc qdisc replace dev eth0 root netem limit 20000 delay 500us 100us reorder 90% 50% "$@" || return 1; done
}
# whole ROUNDS: messages in both directions, of which every byte is compared, in packets of 2048 bytes. One process has both
# ends, so none of them leaves before the other one is acknowledged.
whole() { timeout $((120 * ${PIB_SLOW:-1})) /tmp/allpairs -n "$1" -s 65536 pib0 pib1; }
counter() { h 1 pibctl -j show uplinks | jq "[.. | objects | .$1? // empty] | add // 0"; }
grown() { [ "$(counter "$1")" -gt "$2" ]; }

# Of an MTU of 1500 each datagram has room for 13 of these packets. Without frames it would be one.
small() {
	local before after
	before=$(counter rx_datagrams)
	pair 1 2 60 ib_write_bw -F -s 64 -n 4800 -l 16 || return 1
	after=$(counter rx_datagrams)
	echo "$((after - before)) datagrams for 4800 packets"
	[ $((after - before)) -lt 2400 ]
}

ktap_plan 19
hosts_make 2
check "allpairs compiles" program allpairs /tmp/allpairs
check "no super-packets" one_by_one
check "host 1: add" pib_add 1 standalone
check "host 2: add" pib_add 2 standalone
linked() { pair 1 2 10 ibv_rc_pingpong -n 1; }
check "linked" wait_for 20 linked
check "segments in order" whole 50
check "small packets share datagrams" small
# packets BYTES MTU DATAGRAMS: a hundred messages of 64 KiB, in packets of so many bytes, are no more datagrams than that
packets() {
	local before after k
	for k in 1 2; do h $k ip link set eth0 mtu "$2" || return 1; done
	wait_for 20 path_mtu "$2" || return 1
	before=$(counter rx_datagrams)
	pair 1 2 60 ib_write_bw -F -s 65536 -n 100 -m "$1" || return 1
	after=$(counter rx_datagrams)
	echo "$((after - before)) datagrams"
	[ $((after - before)) -le "$3" ]
}
path_mtu() { h 2 pibctl -j show links | jq -e "[.links[] | select(.address and .up) | .path_mtu] == [$1]"; }
# Alone they would be 12,800.
check "packets of which a datagram holds two share them" packets 512 1500 7000
# Alone they would be 1,600.
check "and those of 4096 bytes where the MTU is 9000" packets 4096 9000 1200
# messages DATAGRAMS: 1600 messages of 4096 bytes, sixteen at a time, are no more datagrams than that. Alone they would be 1,600.
messages() {
	local before after
	before=$(counter rx_datagrams)
	pair 1 2 60 ib_write_bw -F -s 4096 -n 1600 -l 16 -m 4096 || return 1
	after=$(counter rx_datagrams)
	echo "$((after - before)) datagrams"
	[ $((after - before)) -le "$1" ]
}
check "messages that are posted together share them, too" messages 1000
for k in 1 2; do h $k ip link set eth0 mtu 1500; done
LOST=$(counter rx_reassembly)
check "nothing was lost" test "$LOST" = 0
check "a wire that reorders" bad_wire
check "segments in disorder" whole 20
check "a wire that loses, too" bad_wire loss 1%
check "segments in disorder, with losses" whole 20
for k in 1 2; do h $k tc qdisc del dev eth0 root; done
LOST=$(counter rx_reassembly)

# The last segment of many frames, one byte each, with the tag of the session.
ill() {
	h 2 timeout 60 python3 "$here/segments.py" eth0 3 >/tmp/sent &
	local pid=$!
	while kill -0 $pid; do whole 20 || return 1; done 2>/dev/null
	wait $pid && cat /tmp/sent && grown rx_reassembly "$((LOST + 100))" && whole 20
}
check "frames that never become whole" ill

# A WRITE of 32 KiB and a SEND posted with it are two super-packets: in one, nothing would tell that part of it was lost.
in_one_piece() { for k in 1 2; do h $k ethtool -K eth0 gso on tx-udp-segmentation on gro on || return 1; done; }
sent() { h 1 cat /sys/class/net/eth0/statistics/tx_packets; }
behind_it() {
	local before n line
	coproc { exec timeout 60 /tmp/pairs pib0 pib1 64; }
	read -r line <&"${COPROC[0]}" && [ "$line" = warm ] || return 1
	before=$(sent)
	echo >&"${COPROC[1]}"
	read -r line <&"${COPROC[0]}" && [ "$line" = "done" ] || return 1
	n=$(($(sent) - before))
	echo "$n super-packets for 64 pairs"
	[ $n -ge 128 ]
}
check "super-packets" in_one_piece
check "pairs compiles" program pairs /tmp/pairs
check "what ends a turn leaves behind what is large" behind_it
ktap_end

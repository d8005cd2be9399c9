#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A datagram that the stack of the sending host drops, its qdisc or its firewall, is counted and traced, and RC loses
# nothing. One connection sends, from one CPU at a time: of drops for another CPU newer kernels do not tell.
#
#	h1 eth0 ------ eth0 h2		h1: what pib sends has a queue of its own
#	   pib0        pib1
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/programs.sh"
. "$here/../lib/traces.sh"
LAYOUT=netns
tracer=none
dir=$(mktemp -d /tmp/qdisc.XXXXXX)
trap 'kill "$tracer" 2>/dev/null; hosts_clean; rm -rf "$dir"' EXIT

counted() { uplink_counter "$1" tx_dropped; }
# told FILTER: of the drops that have been traced
told() { jq -s "map(select(.reason == \"tx_dropped\") | .count) | $1" "$dir/trace"; }
talk() { pair 1 2 120 ibv_rc_pingpong -s 1048576 -n 10; }
# whole: every byte is compared. Both ends send at a time, so it comes behind what is counted by the stack.
whole() {
	timeout $((120 * ${PIB_SLOW:-1})) /tmp/allpairs -n 1 -s 262144 pib0 pib1 || return
	wait_for 20 all_told
}
none() { echo "$(counted 1) $(counted 2)"; [ "$(counted 1) $(counted 2)" = "0 0" ]; }

# A class has what h1 sends to pib's port, and its queue is exchanged. The netdev's own qdisc is not, for Linux drops what comes while
# another one takes its place.
class() {
	h 1 tc qdisc add dev eth0 root handle 1: prio &&
		h 1 tc filter add dev eth0 parent 1: protocol ip u32 match ip protocol 17 0xff match ip dport 18514 0xffff flowid 1:3 &&
		h 1 tc filter add dev eth0 parent 1: protocol ipv6 u32 match ip6 dport 18514 0xffff flowid 1:3
}
no_class() { h 1 tc qdisc del dev eth0 root; }
# queue QDISC...
queue() { h 1 tc qdisc add dev eth0 parent 1:3 handle 30: "$@"; }
no_queue() { h 1 tc qdisc del dev eth0 parent 1:3 handle 30:; }
# It takes the new one and drops its oldest.
queue_head_drop() { queue tbf rate 200mbit burst 100000 limit 200000 && h 1 tc qdisc add dev eth0 parent 30: handle 31: pfifo_head_drop limit 4; }
queue_has() { h 1 tc -s -j qdisc show dev eth0 | jq -e ".[] | select(.handle == \"30:\") | $1"; }
has_passed() { queue_has ".packets > 100"; }
queue_drops() { queue_has .drops; }
is_full() { queue_has ".backlog > 400000"; }

wall() { h 1 nft 'add table inet wall; add chain inet wall out { type filter hook output priority 0; }; add rule inet wall out udp dport 18514 numgen random mod 10 < 1 counter drop'; }
no_wall() { h 1 nft delete table inet wall; }
wall_drops() { h 1 nft -j list table inet wall | jq '[.. | .counter? // empty | .packets] | add'; }

# agree: as many skbs as the stack has dropped are traced, and as many datagrams as are traced are counted
agree() {
	local n
	n=$($drops)
	said="dropped $n, traced $(told length) with $(told 'add // 0') datagrams ($events with $datagrams before), counted $(counted 1) ($before before)"
	[ "$n" -gt 0 ] && [ "$(told length)" = $((events + n)) ] && all_told
}
all_told() { [ $(($(told 'add // 0') - datagrams)) = $(($(counted 1) - before)) ]; }
agree_soon() { wait_for 20 agree || { echo "$said"; return 1; }; }
many_each() { [ $(($(counted 1) - before)) -gt $(($(told length) - events)) ]; }
# begin: what has been counted and traced, if nothing came between two looks: a trace comes behind what it tells of
begin() {
	local was="$before $events $datagrams"
	before=$(counted 1) events=$(told length) datagrams=$(told 'add // 0')
	[ "$was" = "$before $events $datagrams" ]
}
# drop NAME DROPS UNDO COMMAND...: after which DROPS says how many skbs were dropped
drop() {
	local name=$1 drops=$2 before='' events='' datagrams='' said=''
	wait_for 20 begin || echo "# begun while datagrams were dropped"
	check "$name: in the way" "${@:4}"
	check "$name: RC loses nothing" talk
	check "$name: what was dropped is traced and counted" agree_soon
	check "$name: a super-packet as all its datagrams" many_each
	check "$name: every byte that comes is right" whole
	check "$name: away" "$3"
}
# room NAME: for more than pib lets be on its way
room() {
	local before
	check "$1: in the way" queue tbf rate 200mbit burst 100000 limit 10000000
	before=$(counted 1)
	check "$1: traffic" talk
	check "$1: dropped nothing" test "$(queue_drops)" = 0
	check "$1: nothing is counted" test "$(counted 1)" = "$before"
	check "$1: away" no_queue
}
# other NAME QDISC...: which drops, if at all, when a packet would leave, and of that the sender is not told
other() {
	check "$1: in the way" queue "${@:2}"
	check "$1: RC loses nothing" talk
	check "$1: which went through it" has_passed
	check "$1: away" no_queue
}
# leaves HOW
leaves() {
	local rc=0
	queue tbf rate 24mbit burst 200k limit 30m || return
	timeout $((60 * ${PIB_SLOW:-1})) /tmp/parting "$1" pib1 pib0 || rc=1
	no_queue && return $rc
}
flood() { h "$1" timeout $((120 * ${PIB_SLOW:-1})) ib_write_bw -c UC -s 65536 -D 100 -F -d "$(dev "$1")" "${@:2}"; }
# gets_by: small messages leave, though others, of 64 KiB, are sent whenever there is room
gets_by() {
	local rc=0 server client
	queue tbf rate 200mbit burst 200k limit 30m || return
	flood 2 >"$dir/server" 2>&1 &
	server=$!
	wait_for 20 port_listens 2 18515 || rc=1
	flood 1 "$(addr4 2)" >"$dir/client" 2>&1 &
	client=$!
	wait_for 20 is_full || { rc=1; cat "$dir/client"; queue_has .backlog; }
	pair 1 2 100 ibv_rc_pingpong -p 18516 -s 64 -n 50 || rc=1
	wait_for 20 is_full || { rc=1; echo "the flood has ended"; }
	h 1 pkill ib_write_bw; h 2 pkill ib_write_bw
	wait $server $client
	no_queue && return $rc
}
# suite NAME [PEER]
suite() {
	check "$1: pib0" pib_add 1 standalone ${2:+peer "$2"}
	check "$1: pib1" pib_add 2 standalone
	check "$1: ACTIVE, and a trunk" eval 'wait_active 60 && wait_for 30 trunk_is true'
	check "$1: traffic" talk
	check "$1: nothing is dropped where there is no queue" none
	check "$1: a class for pib" class
	room "$1, a queue with room"
	drop "$1, a full queue" queue_drops no_queue queue netem limit 4 rate $((200 / ${PIB_SLOW:-1}))mbit
	drop "$1, a full queue that forgets its oldest" queue_drops no_queue queue_head_drop
	other "$1, fq" fq
	other "$1, cake" cake bandwidth 200mbit
	drop "$1, a firewall" wall_drops no_wall wall
	for how in destroyed reset error sending; do
		check "$1: who leaves ($how) while its way is full has acknowledged what came" leaves $how
	done
	check "$1: small messages get by those who fill the way with large ones" gets_by
	check "$1: no class for pib" no_class
	check "$1: h2 has dropped nothing" test "$(counted 2)" = 0
	check "$1: deleted" eval 'h 1 pibctl del pib0 && h 2 pibctl del pib1'
}

ktap_plan 93
hosts_make 2
check "traffic generator compiles" program allpairs /tmp/allpairs
check "parting compiles" program parting /tmp/parting
modprobe pib
mountpoint -q /sys/kernel/tracing || mount -t tracefs nodev /sys/kernel/tracing
pibctl -j trace event datagram_dropped >"$dir/trace" 2>"$dir/trace.err" & tracer=$!
check "a trace" wait_for 30 trace_runs
suite IPv4
suite IPv6 "$(addr6 2)"
ktap_end

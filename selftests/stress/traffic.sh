#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Pairs of programs that send on one HCA at the same time, and all that looks at it, changes it and counts meanwhile: what the
# kernel then has to say is the result (vm/run), best on the kernel that looks for data races.
#
#	traffic.sh [SECONDS]
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
seconds=${1:-60}
pairs=("ib_write_bw -l 1" "ib_send_bw -r 64" "ib_read_lat" "ib_atomic_bw" "ib_send_bw -c UD -r 64" "ib_send_lat -c UC")
counts=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; pkill "^ib_"; pibctl del pib0 2>/dev/null; ip link del dd 2>/dev/null; rm -rf "$counts"' EXIT

# again_and_again NAME COMMAND...: until time is over; how often it went well is in $counts/NAME
again_and_again() {
	local name=$1 n=0
	shift
	while [ ! -e "$counts/over" ]; do "$@" >/dev/null 2>&1 && echo $((n += 1)) >"$counts/$name"; done
	touch "$counts/$name.ended"
}

# pair K: the programs of $pairs[K], one after the other
pair() {
	local program
	read -ra program <<<"${pairs[$1]}"
	timeout 60 "${program[@]}" -F -d pib0 -p $((19000 + $1)) -s 8 -n 500 &
	until ss -Hltn "sport = :$((19000 + $1))" | grep -q .; do kill -0 $! || return 1; done
	timeout 60 "${program[@]}" -F -d pib0 -p $((19000 + $1)) -s 8 -n 500 localhost && wait $!
}

looks() {
	rdma -dd resource show qp
	rdma -dd resource show cq
	rdma -dd resource show mr
	pibctl show objects pib0
	pibctl explain pib0
	perfquery -x -C pib0 "$lid" 1
	cat /sys/class/infiniband/pib0/ports/1/{counters,hw_counters}/* /sys/class/infiniband/pib0/node_desc
}

changes() {
	echo "traffic $RANDOM" >/sys/class/infiniband/pib0/node_desc
	pibctl inject pib0 list
	timeout 2 pibctl trace pib0
	timeout 2 pibctl capture pib0 -w /dev/null
	timeout 20 ibv_srq_pingpong -d pib0 -p 18999 -q 4 &
	until ss -Hltn "sport = :18999" | grep -q .; do kill -0 $! || return 1; done
	timeout 20 ibv_srq_pingpong -d pib0 -p 18999 -q 4 localhost && wait $!
}

all_ended() { [ "$(find "$counts" -name '*.ended' | wc -l)" = $((${#pairs[@]} + 2)) ]; }

# had_turns: each of them
had_turns() {
	local k
	for k in "${!pairs[@]}"; do [ -s "$counts/$k" ] || { echo "never went well: ${pairs[k]}"; return 1; }; done
	[ -s "$counts/looks" ] && [ -s "$counts/changes" ]
}

ktap_plan 3
modprobe -a ib_uverbs ib_umad pib
ip link set lo up
ip link add dd type dummy
ip link set dd up
check "an HCA" pibctl add pib0 netdev dd standalone
lid=$(($(cat /sys/class/infiniband/pib0/ports/1/lid)))
for k in "${!pairs[@]}"; do again_and_again "$k" pair "$k" & done
again_and_again looks looks &
again_and_again changes changes &
sleep "$seconds"
touch "$counts/over"
check "they end" wait_for 150 all_ended
for file in "$counts"/*[0-9s]; do echo "# ${file##*/}: $(cat "$file") times"; done
check "each pair has sent, and the others looked and changed" had_turns
ktap_end

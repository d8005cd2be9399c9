#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pibctl explain: why a queue pair does not move, of queue pairs that lib/stuck.py makes on purpose.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
stuck=''
clean() {
	[ -z "$stuck" ] || kill "$stuck" 2>/dev/null
	pibctl del pib0 2>/dev/null
	ip link del pibdummy 2>/dev/null
	rm -f "$said"
}
said=$(mktemp)
trap clean EXIT

# stick HOW: a process whose queue pair is $qpn and does not move.
stick() {
	[ -z "$stuck" ] || { kill "$stuck"; wait "$stuck"; } 2>/dev/null
	: >"$said"
	python3 "$here/../lib/stuck.py" pib0 "$1" >"$said" 2>&1 &
	stuck=$!
	wait_for 30 grep -q '^qp ' "$said" || { cat "$said"; return 1; }
	qpn=$(sed -n 's/^qp //p' "$said")
}
explains() { pibctl explain pib0 qp "$qpn" | tee "$said.out" | grep -q -- "$1" || { cat "$said.out"; return 1; }; }
# stuck_because HOW WORDS
stuck_because() { stick "$1" && wait_for 20 explains "$2"; }
refuses() {
	local status=$1
	shift
	"$@" 2>"$said.out" && return 1
	[ $? = "$status" ] || { cat "$said.out"; return 1; }
}
active() { grep -q ACTIVE /sys/class/infiniband/pib0/ports/1/state; }
is_gone() { ! pibctl explain pib0 qp "$qpn" 2>"$said.out" && grep -q "has no queue pair" "$said.out"; }
nobody() { runuser -u nobody -- pibctl explain pib0 qp "$qpn" | grep -q "acknowledgement"; }

ktap_plan 16
modprobe -a ib_core ib_uverbs
ip link add pibdummy type dummy
ip link set pibdummy up
check "an HCA that no subnet manager knows" pibctl add pib0 netdev pibdummy
check "a port that is not ACTIVE" stuck_because rts "port pib0/1 is "
pibctl del pib0
kill "$stuck" 2>/dev/null
check "a standalone HCA" pibctl add pib0 netdev pibdummy standalone
check "ACTIVE" wait_for 20 active
check "RESET" stuck_because reset "in RESET"
check "INIT" stuck_because init "in INIT"
check "RTR" stuck_because rtr "in RTR"
check "nothing posted" stuck_because rts "nothing is posted to its send queue"
check "no receive posted" explains "no receive is posted"
check "the far end has no receive" stuck_because rnr "far end was not ready (RNR)"
check "nobody answers" stuck_because silence "packets from PSN 0x[0-9a-f]* on have no acknowledgement"
check "the same said to another user" nobody
check "retries used up" stuck_because exhausted "ended with RETRY_EXC_ERR"
kill "$stuck" && wait "$stuck" 2>/dev/null
check "a queue pair that is gone" wait_for 10 is_gone
check "no such HCA" refuses 1 pibctl explain pib9 qp 2
check "no number" refuses 2 pibctl explain pib0 qp many
ktap_end

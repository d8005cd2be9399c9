#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pibctl explain: why a queue pair does not move, of queue pairs that lib/stuck.py, lib/victim.c and lib/reasons.c make on purpose.
#
# Later		pib0, SM --- 1 sw 2 --- pib1
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/topology.sh"
stuck=''
qpn=none
clean() {
	# shellcheck disable=SC2046
	kill $(jobs -p) 2>/dev/null
	topology_clean
	ip link del pibdummy 2>/dev/null
	rm -f "$said" "$said.out" "$said.smpset" "$said.victim" "$said.reasons"
}
said=$(mktemp)
trap clean EXIT

# stick HOW: a process whose queue pair is $qpn and does not move.
stick() {
	[ -z "$stuck" ] || { kill "$stuck"; wait "$stuck"; } 2>/dev/null
	: >"$said"
	python3 "$here/../lib/stuck.py" pib0 "$1" >"$said" 2>&1 &
	stuck=$!
	wait_for 30 grep -q '^qp ' "$said"
	qpn=$(sed -n 's/^qp //p' "$said")
}
# explains WORDS
explains() {
	pibctl explain pib0 qp "$qpn" >"$said.out" 2>&1
	grep -q -- "$1" "$said.out"
}
explains_soon() { wait_for 20 explains "$1" || { cat "$said" "$said.out"; return 1; }; }
# sticks NAME HOW WORDS
sticks() {
	stick "$2"
	check "$1" explains_soon "$3"
}
refuses() {
	local status=$1
	shift
	"$@" 2>"$said.out" && return 1
	[ $? = "$status" ] || { cat "$said.out"; return 1; }
}
active() { grep -q ACTIVE /sys/class/infiniband/pib0/ports/1/state; }
is_gone() { explains "has no queue pair $qpn"; }
is_gone_soon() { wait_for 10 is_gone || { cat "$said.out"; return 1; }; }
special() { pibctl explain pib0 qp 0 | grep -x "pib0/1 qp 0: nothing is posted to its send queue"; }
as_json() {
	pibctl -j explain pib0 qp 0 |
		jq -e '.explanations == [{"hca": "pib0", "port": 1, "qp": 0, "text": "nothing is posted to its send queue"}]'
}
nobody() { runuser -u nobody -- pibctl explain pib0 qp "$qpn" | grep "acknowledgement"; }

ktap_plan 38
modprobe -a ib_core ib_uverbs ib_umad
modprobe fuse 2>/dev/null
ip link add pibdummy type dummy
ip link set pibdummy up
check "an HCA that no subnet manager knows" pibctl add pib0 netdev pibdummy
sticks "a port that is not ACTIVE" rts "port pib0/1 is "
pibctl del pib0
check "a standalone HCA" pibctl add pib0 netdev pibdummy standalone
check "ACTIVE" wait_for 20 active
sticks "RESET" reset "in RESET"
sticks "INIT" init "in INIT"
sticks "RTR" rtr "in RTR"
sticks "nothing posted" rts "nothing is posted to its send queue"
check "no receive posted" explains_soon "no receive is posted"
sticks "SQD" sqd "in SQD"
sticks "SQE" sqe "in SQE"
sticks "a full CQ" overflow "one of its completion queues has overflowed"
sticks "no receive in its SRQ" srq "its SRQ has no receive"
sticks "the far end has no receive" rnr "far end was not ready (RNR)"
sticks "nobody answers" silence "[0-9] packets* from PSN 0x[0-9a-f]* on ha[sv]e* no acknowledgement"
check "the same said to another user" nobody
second_key() { program smpset "$said.smpset" && timeout 60 "$said.smpset" pib0 "$(($(</sys/class/infiniband/pib0/ports/1/lid)))" 0x16 0 2 0x80 0x02; }
check "the port gets a second P_Key" second_key
sticks "what comes has another P_Key" pkey "packets dropped for their P_Key since RESET: [0-9]*; the last had 0x8002, its own is 0xffff"
counted() { pibctl -j show objects pib0 qp "$qpn" | jq -e '.objects[0].bad_pkeys > 0'; }
check "the same is counted among its numbers" counted
sticks "what comes has another Q_Key" qkey "datagrams dropped since RESET for their Q_Key, which is not its own: 1"
sticks "retries used up" exhausted "ended with RETRY_EXC_ERR"
kill "$stuck"
check "a queue pair that is gone" is_gone_soon
# XRC has its SRQ named by each message.
xrc() {
	program victim "$said.victim"
	coproc VICTIM { exec "$said.victim" pib0 xrc; }
	read -r -t 60 _ _ _ _ qpn <&"${VICTIM[0]}"
	echo immediate >&"${VICTIM[1]}"
}
xrc
check "XRC: no receive in the SRQ that is named" explains_soon "the SRQ that its peer has named last, [0-9]*, has no receive"
echo receive >&"${VICTIM[1]}"
read -r -t 60 <&"${VICTIM[0]}"
echo send >&"${VICTIM[1]}"
read -r -t 60 <&"${VICTIM[0]}"
kill "$VICTIM_PID"
wait "$VICTIM_PID" 2>/dev/null
check "queue pair 0 of a port" special
check "the same as JSON" as_json
check "no such HCA" refuses 1 pibctl explain pib9 qp 2
check "no number" refuses 2 pibctl explain pib0 qp many

# ---- two HCAs ----

pibctl del pib0
fabric() {
	pibctl switch add sw ports 2 && pibctl add pib0 && pibctl add pib1 && pibctl link add pib0/1 sw/1 &&
		pibctl link add sw/2 pib1/1 && fabric_sm && subnet_up && wait_for 60 all_active
}
check "two HCAs and a switch" fabric
sm_end
check "a program with two ends" program reasons "$said.reasons"
coproc PAIR { exec "$said.reasons" pib0 pib1; }
says() { echo "$1" >&"${PAIR[1]}" && read -r -t 60 made near far <&"${PAIR[0]}" && echo "$made $near $far"; }
# makes SERVICE: the near queue pair is $qpn
makes() {
	says "make $1" >/dev/null
	qpn=$near
}
waits_for() { pibctl -j show objects pib0 qp "$qpn" | jq -e ".objects[0].waits_for == \"$1\""; }
pibctl link set pib0/1 rate 1M
makes uc
check "more than the cable takes" says "post write 65536 n=40"
check "a full link" explains_soon "the receiver or the link is full"
check "the same among its numbers" wait_for 20 waits_for room
pibctl link set pib0/1 healthy
# answers_from_memory: the far queue pair of pib1 says what it waits for
answers_from_memory() { wait_for 20 sh -c "pibctl explain pib1 qp $far | tee $said.out | grep 'a page of memory of what it answers'" || { cat "$said.out"; return 1; }; }
makes rc
check "a READ of memory that does not come" says "post read 64 to=slow"
check "who answers waits for it" answers_from_memory
says release >/dev/null
makes rc

# The cable to the far HCA is slow: its port of the switch marks what waits, and the near HCA slows down, by much.
lid0=$(lid_of pib0)
conf() { timeout 60 ibccconfig -C pib0 "$@"; }
control() {
	mapfile -t table < <(yes 0:16383 | head -n 64)
	conf CT "$lid0" 63 0 "${table[@]}" && conf CS "$lid0" 0 0xffff 0 1 1 0 &&
		conf SP "$(pibctl -j show sw | jq '.switches[0].ports[0].lid')" 2 1 0 15 0 0
}
check "congestion control" control
pibctl link set pib1/1 rate 50M
makes rc
check "more than that cable takes" says "post write 65536 n=200"
check "congestion" explains_soon "congestion control slows it: place [0-9]* of the table"
# Between two bursts nothing else holds it up.
check "congestion among its numbers" wait_for 60 waits_for congestion
ktap_end

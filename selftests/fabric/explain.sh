#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pibctl explain: why a queue pair does not move, of queue pairs that lib/stuck.py makes on purpose.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/programs.sh"
stuck=''
qpn=none
clean() {
	[ -z "$stuck" ] || kill "$stuck" 2>/dev/null
	pibctl del pib0 2>/dev/null
	ip link del pibdummy 2>/dev/null
	rm -f "$said" "$said.out" "$said.smpset"
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

ktap_plan 23
modprobe -a ib_core ib_uverbs ib_umad
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
check "queue pair 0 of a port" special
check "the same as JSON" as_json
check "no such HCA" refuses 1 pibctl explain pib9 qp 2
check "no number" refuses 2 pibctl explain pib0 qp many
ktap_end

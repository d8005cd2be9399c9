#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every Nth allocation, or copy from a user, that has the module's code on its stack fails: while devices are made and
# unmade, then under traffic. Nothing may break, nothing may stay behind. Needs a kernel with fault injection:
#
#	vm/run --kernel debug ... stress/no-memory.sh [SECONDS [SEED]]
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
LAYOUT=netns
debugfs=/sys/kernel/debug
faults=(failslab fail_page_alloc fail_usercopy)
seconds=$((${1:-60} / 2))
RANDOM=${2:-$RANDOM}
trap 'never; kill $(jobs -p) 2>/dev/null; hosts_clean' EXIT

# For all of the module's code, in every context, without a word in the log.
arm() {
	local name dir text size
	text=$(cat /sys/module/pib/sections/.text)
	size=$(awk '$1 == "pib" { print $2 }' /proc/modules)
	for name in "${faults[@]}"; do
		dir=$debugfs/$name
		printf '0x%x' $((text)) >"$dir/require-start"
		printf '0x%x' $((text + size)) >"$dir/require-end"
		echo 32 >"$dir/stacktrace-depth"
		[ ! -e "$dir/ignore-gfp-wait" ] || echo N >"$dir/ignore-gfp-wait"
		echo 0 >"$dir/times"
		echo 0 >"$dir/verbose"
		echo 100 >"$dir/probability"
	done
	echo 0 >$debugfs/fail_page_alloc/min-order
	echo N >$debugfs/fail_page_alloc/ignore-gfp-highmem
}
every() {
	local name
	for name in "${faults[@]}"; do
		echo "$1" >"$debugfs/$name/interval"
		echo -1 >"$debugfs/$name/times"
	done
}
never() { for name in "${faults[@]}"; do echo 0 >"$debugfs/$name/times"; done; } 2>/dev/null

# try COMMAND...: counted, and counted again if it has failed
tries=0 failures=0
try() {
	tries=$((tries + 1))
	timeout 60 "$@" >/dev/null 2>&1 || failures=$((failures + 1))
}

make_hca() {
	case $((RANDOM % 4)) in
	0) try ip netns exec h1 pibctl add pib0 netdev eth0 standalone ;;
	1) try ip netns exec h1 pibctl add pib0 netdev eth0 ;;
	2) try ip netns exec h1 pibctl add pib0 netdev eth0 peer "$(addr4 2)" ;;
	3) try ip netns exec h1 rdma link add pib0 type pib netdev eth0 ;;
	esac
}
control_round() {
	make_hca
	try ip netns exec h1 pibctl switch add swA ports 4
	try ip netns exec h1 pibctl switch add swB ports 4
	try ip netns exec h1 pibctl link add swA/1 swB/1
	try ip netns exec h1 pibctl link set swA/1 rate 1G buffer 8k latency 1ms
	try ip netns exec h1 pibctl link add swA/2 udp eth0 peer "$(addr4 2)"
	try ip netns exec h1 pibctl -j show
	try ip netns exec h1 ibv_devinfo -v
	try ip netns exec h1 pibctl del pib0
	try ip netns exec h1 pibctl switch del swA
}
undo_round() {
	h 1 pibctl switch del swA
	h 1 pibctl switch del swB
	h 1 pibctl del pib0
} >/dev/null 2>&1
control_path() {
	local end=$((SECONDS + seconds))
	while [ $SECONDS -lt $end ]; do
		# Mostly late ones: the first allocations are always the same.
		every $((1 + (RANDOM % 4 ? RANDOM % 1500 : RANDOM % 60)))
		control_round
		never
		undo_round
	done
	echo "# control path: $tries commands, $failures failed"
}
nothing_left() { [ -z "$(rdma dev show)" ] && h 1 pibctl -j show | jq -e '[.hcas, .switches] | map(length // 0) | add == 0'; }

data_round() {
	local k=$((1 + RANDOM % 2)) program
	case $((RANDOM % 4)) in
	0) program=(ib_write_bw -F -D 4) ;;
	1) program=(ib_send_bw -F -D 4 -c UD) ;;
	2) program=(ib_read_bw -F -D 4 --odp) ;;
	3) program=(ib_send_bw -F -n 500 -x 0 --use-srq) ;;
	esac
	h 1 timeout 40 "${program[0]}" -d pib0 "${program[@]:1}" >/dev/null 2>&1 &
	wait_for 5 h 1 sh -c 'ss -Hltn "sport = :18515" | grep -q .'
	try ip netns exec "h$k" "${program[0]}" -d "pib$((k - 1))" "${program[@]:1}" "$(addr4 1)"
	pkill -x "${program[0]}"
	wait
	try ip netns exec h2 ibv_devinfo -v
}
data_path() {
	local end=$((SECONDS + seconds))
	while [ $SECONDS -lt $end ]; do
		every $((2 + RANDOM % 60))
		data_round
		never
	done
	echo "# data path: $tries commands, $failures failed"
}
some_failed() { [ $failures -gt 0 ] && [ $failures -lt $tries ]; }

[ -e $debugfs/failslab/require-start ] && [ -e $debugfs/fail_usercopy ] ||
	{ echo "1..0 # SKIP this kernel has no fault injection"; exit 4; }
modprobe -a pib ib_umad ib_uverbs ib_ipoib
hosts_make 2
arm
ktap_plan 7
control_path
check "control path: some commands failed, some did not" some_failed
check "nothing is left" wait_for 20 nothing_left
pib_add 1 standalone && pib_add 2 standalone
check "ACTIVE" wait_active 60
tries=0 failures=0
data_path
check "data path: some commands did not fail" [ $failures -lt $tries ]
check "ACTIVE still" wait_active 60
check "traffic as before" pair 1 2 60 ibv_rc_pingpong
hosts_clean
check "the module can be unloaded" wait_for 20 modprobe -r pib
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# One allocation after the other fails in every control call: verbs, and netlink by pibctl and rdma. Nothing is
# left behind, and the call works afterwards. Needs a kernel with fault injection (--kernel debug).
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
trap 'kill $(jobs -p) 2>/dev/null; hosts_clean' EXIT
preload=$(readlink -e "$here/../hostile-built/fail-nth.so")

if [ ! -e /proc/self/fail-nth ]; then
	ktap_plan 1
	skip "allocation failures" "this kernel lets no allocation fail"
	ktap_end
	exit
fi

# Those that may wait for memory as well, and of every size; without a word in the log.
for f in failslab fail_page_alloc fail_usercopy; do
	d=/sys/kernel/debug/$f
	for setting in ignore-gfp-wait=N ignore-gfp-highmem=N min-order=0 verbose=0; do
		[ ! -e "$d/${setting%=*}" ] || echo "${setting#*=}" >"$d/${setting%=*}"
	done
done

n() { ip netns exec "$@" >/dev/null 2>&1; }
with_failure() { n h1 env LD_PRELOAD="$preload" FAIL_NTH="$1" FAIL_REPORT=/tmp/report "${@:2}"; }

# each SETUP UNDO COMMAND...: the allocations of COMMAND's requests fail in turn, as many as there is time for, and a
# few in any case, spread over all of them.
each() {
	local setup=$1 undo=$2 k nth total hits=0 end
	shift 2
	end=$((SECONDS + seconds / 16 + 4))
	eval "$setup"
	: >/tmp/report
	with_failure 1000000 "$@"
	eval "$undo"
	total=$(awk '/left/ { used = 1000000 - $2; if (used > most) most = used } END { print most + 0 }' /tmp/report)
	[ "$total" -gt 0 ] || { echo "no request was made"; return 1; }
	for ((k = 0; k < total && (k < 4 || SECONDS < end); k++)); do
		nth=$((1 + k * 101 % total))
		eval "$setup"
		: >/tmp/report
		with_failure $nth "$@"
		eval "$undo"
		hits=$((hits + $(grep -c failed /tmp/report)))
	done
	echo "# $*: $total allocations and copies, $k tries, $hits failures" >&3
	eval "$setup"
	n h1 "$@" || { echo "$* does not work any more"; return 1; }
	eval "$undo"
	[ "$hits" -gt 0 ]
}

pib0="n h1 pibctl add pib0 netdev eth0 standalone"
keyed="n h1 pibctl add pib0 netdev eth0 standalone key-file /tmp/key.one"
injected="n h1 pibctl inject pib0 qp 1 drop all every 1000"
no_pib0="n h1 pibctl del pib0"
switches="n h1 pibctl switch add swA ports 4; n h1 pibctl switch add swB ports 4"
no_switches="n h1 pibctl switch del swA; n h1 pibctl switch del swB"
cable="n h1 pibctl link add swA/1 swB/1"
nothing_left() {
	[ ! -e /sys/class/infiniband/pib0 ] && [ -z "$(h 1 pibctl show)" ]
}

# A queue pair that does nothing, and its counter.
LINK=pib0/1
lqpn() { h 1 rdma -j resource show qp link $LINK | jq -r '[.[] | select(.comm == "ibv_rc_pingpong")][0].lqpn // empty'; }
cntn() { h 1 rdma -j statistic qp show link $LINK | jq -r '.[].cntn // empty'; }
idle_qp() {
	h 1 ibv_rc_pingpong -d pib0 >/dev/null 2>&1 &
	wait_for 30 eval '[ -n "$(lqpn)" ]'
}
unbind() {
	local c
	c=$(cntn)
	[ -z "$c" ] || n h1 rdma statistic qp unbind link $LINK cntn "$c" lqpn "$(lqpn)"
}

exec 3>&1
ktap_plan $((21 + AFTER))
modprobe vgem 2>/dev/null	# for a dma-buf
echo 0123456789abcdef0123456789abcdef >/tmp/key.one
echo fedcba9876543210fedcba9876543210 >/tmp/key.two
chmod 600 /tmp/key.one /tmp/key.two
hosts_make 2
check "pibctl add" each "" "$no_pib0" pibctl add pib0 netdev eth0 standalone
check "rdma link add" each "" "rdma link delete pib0" rdma link add pib0 type pib netdev eth0
check "pibctl del" each "$pib0" "$no_pib0" pibctl del pib0
check "pibctl set, a behavior" each "$pib0" "$no_pib0" pibctl set pib0 behavior srq-any-order
check "pibctl set, a key" each "$keyed" "$no_pib0" pibctl set pib0 second-key-file /tmp/key.two
check "pibctl inject" each "$pib0" "$no_pib0" pibctl inject pib0 qp 1 drop all every 1000
check "pibctl inject del" each "$pib0; $injected" "$no_pib0" pibctl inject del pib0 all
check "pibctl capture" each "$pib0" "$no_pib0" \
	timeout --preserve-status "${PIB_SLOW:-1}" pibctl capture pib0 -w /tmp/capture.pcapng
check "pibctl switch add" each "" "$no_switches" pibctl switch add swA ports 4
check "pibctl switch del" each "$switches" "$no_switches" pibctl switch del swA
check "pibctl link add" each "$switches" "$no_switches" pibctl link add swA/1 swB/1
check "pibctl link add, by UDP" each "$switches" "$no_switches" pibctl link add swA/1 udp eth0 peer 10.77.0.2
check "pibctl link set" each "$switches; $cable" "$no_switches" \
	pibctl link set swA/1 rate 1G buffer 8k latency 1ms
check "pibctl link del" each "$switches; $cable" "$no_switches" pibctl link del swA/1
check "pibctl show" each "$pib0" "$no_pib0" pibctl -j show
check "pibctl show uplinks" each "$pib0" "$no_pib0" pibctl -j show uplinks
check "pibctl show objects" each "$pib0" "$no_pib0" pibctl -j show objects
check "rdma link delete" each "$pib0" "$no_pib0" rdma link delete pib0
check "nothing is left" nothing_left
two_ports
idle_qp || bail "no queue pair"
check "rdma statistic qp bind" each "" unbind rdma statistic qp bind link $LINK lqpn "$(lqpn)"
pkill -x ibv_rc_pingpong
before
check "verbs" hostile 1 allocations --seconds "$seconds"
after
ktap_end

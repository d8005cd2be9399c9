#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# All that makes and unmakes, at the same time, for some seconds: what the kernel then has to say is the result (vm/run),
# best on a debug kernel.
#
#	churn.sh [SECONDS [SEED]]
#
#	 h1    h2    h3     h9 comes and goes
#	 |     |     |      |
#	 +-- bridge0 +      eth9 -- (this namespace)
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
LAYOUT=netns
seconds=${1:-60}
seed=${2:-$RANDOM}
workers=(hosts_1 hosts_2 hosts_3 switches readers spaces ipoib unloads)
counts=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; hosts_clean; clean_spaces; rm -rf "$counts"' EXIT

# in_ns NAMESPACE COMMAND...: it may fail: another may have taken away what it needs
in_ns() { timeout 30 ip netns exec "$@" >/dev/null 2>&1; }
quietly() { timeout 30 "$@" >/dev/null 2>&1; }
below() { echo $((RANDOM % $1)); }
pause() { sleep "0.$(below "$1")"; }

# An HCA of host K, made in one way, disturbed in another, and unmade.
make_hca() {
	case $(below 4) in
	0) in_ns "h$1" pibctl add "$2" netdev eth0 ;;
	1) in_ns "h$1" pibctl add "$2" netdev eth0 standalone ;;
	2) in_ns "h$1" pibctl add "$2" netdev eth0 peer "$(addr4 $(($1 % 3 + 1)))" ;;
	3) in_ns "h$1" rdma link add "$2" type pib netdev eth0 ;;
	esac
}
disturb_hca() {
	case $(below 5) in
	0)
		in_ns "h$1" ip link set eth0 down
		in_ns "h$1" ip link set eth0 up
		in_ns "h$1" ip addr add "$(addr4 "$1")/24" dev eth0
		;;
	1) in_ns "h$1" ip link set eth0 mtu $((1280 + $(below 4000))) ;;
	2)
		quietly rdma dev set "$2" name "x$1"
		quietly rdma dev set "x$1" name "$2"
		;;
	3)
		in_ns "h$1" timeout 5 ibv_rc_pingpong -d "$2" -n 50 &
		pause 4
		in_ns "h$1" timeout 5 ibv_rc_pingpong -d "$2" -n 50 "$(addr4 "$1")"
		wait $!
		;;
	esac
}
hosts() {
	local name=pib$(($1 - 1))
	make_hca "$1" "$name"
	pause 9
	disturb_hca "$1" "$name"
	if [ "$(below 2)" = 0 ]; then in_ns "h$1" pibctl del "$name"; else quietly rdma link delete "$name"; fi
}
hosts_1() { hosts 1; }
hosts_2() { hosts 2; }
hosts_3() { hosts 3; }

# Two switches with a cable, an HCA at each, and a cable over UDP.
disturb_cables() {
	case $(below 6) in
	0) in_ns h3 pibctl link set swA/1 latency 1ms loss 1% ;;
	1)
		in_ns h3 pibctl link set swA/1 rate 1G buffer 8k
		in_ns h3 pibctl link set pibA/1 rate 1G buffer 4352
		;;
	2) in_ns h3 pibctl link set pibA/1 flap 50ms/20ms ;;
	3)
		in_ns h3 pibctl link set swA/1 down
		in_ns h3 pibctl link set swA/1 up width 1x
		;;
	4) in_ns h3 pibctl link set swA/3 loss 5% latency 1ms ;;
	5)
		in_ns h3 timeout 5 smpquery -D nodeinfo 0,1 -C pibA
		in_ns h3 timeout 5 smpquery -D nodeinfo 0,1,1 -C pibA
		;;
	esac
}
switches() {
	local name
	for name in swA swB; do in_ns h3 pibctl switch add $name ports 8; done
	for name in pibA pibB; do in_ns h3 pibctl add $name netdev eth0; done
	in_ns h3 pibctl link add swA/1 swB/1
	in_ns h3 pibctl link add pibA/1 swA/2
	in_ns h3 pibctl link add pibB/1 swB/2
	in_ns h3 pibctl link add swA/3 udp eth0 peer "$(addr4 $((1 + $(below 2))))"
	disturb_cables
	pause 5
	in_ns h3 pibctl switch del swA
	in_ns h3 pibctl del pibA
	in_ns h3 pibctl switch del swB
	in_ns h3 pibctl del pibB
}

readers() {
	local k what
	for k in 1 2 3; do
		for what in '' '-j show links' 'show peers' 'show counters'; do
			# shellcheck disable=SC2086
			in_ns "h$k" pibctl ${what:-show}
		done
	done
	for what in 'link show' '-d resource show' 'resource show qp' 'statistic show' 'resource show cm_id'; do
		# shellcheck disable=SC2086
		quietly rdma $what
	done
	quietly cat /sys/class/infiniband/*/ports/*/* /sys/class/infiniband/*/ports/*/*/* /sys/class/infiniband/*/*
	quietly ibv_devinfo -v
	in_ns h1 ibstat
}

# A namespace that goes with its HCA, under traffic, in three orders.
clean_spaces() {
	ip netns pids h9 | xargs -r kill -9
	ip netns del h9
	ip link del far9
} 2>/dev/null
spaces() {
	ip netns add h9 && ip link add eth9 type veth peer name far9 && ip link set eth9 netns h9 || { clean_spaces; return; }
	ip -n h9 link set eth9 up
	ip link set far9 up
	ip -n h9 addr add 10.99.0.1/24 dev eth9
	in_ns h9 pibctl add pib9 netdev eth9 standalone
	in_ns h9 timeout 5 ibv_rc_pingpong -d pib9 -n 100000 &
	pause 9
	case $(below 3) in
	0) ip link del far9 ;;
	1) ip netns del h9 ;;
	esac 2>/dev/null
	clean_spaces
	wait $!
}

ipoib() {
	local k netdev
	for k in 1 2 3; do
		for netdev in $(ip -n "h$k" -br link | sed -n 's/^\(ib[^ @]*\).*/\1/p'); do
			quietly ip -n "h$k" link set "$netdev" up
			quietly ip -n "h$k" addr add "10.88.0.$k/24" dev "$netdev"
			in_ns "h$k" ping -c 1 -W 1 "10.88.0.$((k % 3 + 1))"
		done
	done
	for netdev in /sys/class/net/ib*; do [ ! -e "$netdev" ] || quietly ip link set "${netdev##*/}" up; done
	pause 5
}

unloads() {
	sleep 3	# for the others to have something in hand
	quietly modprobe -r ib_ipoib
	quietly modprobe ib_ipoib
	quietly modprobe -r pib
	quietly modprobe pib
}

# worker NAME: again and again, until time is over, but once at least; how often it was
worker() {
	local n=0
	RANDOM=$((seed + ${#1} * 97 + $(cksum <<<"$1" | cut -c1-4)))
	while [ $n = 0 ] || [ $SECONDS -lt $end ]; do
		"$1"
		n=$((n + 1))
		echo $n >"$counts/$1"
	done
}
all_worked() {
	local name
	for name in "${workers[@]}"; do echo "$name: $(cat "$counts/$name" 2>/dev/null || echo 0) rounds"; done
	[ "$(find "$counts" -type f | wc -l)" = ${#workers[@]} ]
}
nothing_left() {
	rdma dev show
	[ -z "$(rdma dev show)" ]
}
pair_again() {
	hosts_make 2 && pib_add 1 standalone && pib_add 2 standalone && wait_active 20 && pair 1 2 60 ibv_rc_pingpong
}

modprobe -a pib ib_umad ib_uverbs ib_ipoib rdma_ucm
ktap_plan 4
hosts_make 3
echo "# seed $seed"
end=$((SECONDS + seconds))
for name in "${workers[@]}"; do worker "$name" 2>/dev/null & done
wait
all_worked | sed 's/^/# /'
check "all of them had their turns" all_worked
hosts_clean
clean_spaces
check "no device is left" wait_for 20 nothing_left
check "a new pair carries traffic" pair_again
hosts_clean
check "the module can be unloaded" wait_for 20 modprobe -r pib
ktap_end

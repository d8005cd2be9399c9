#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Making and unmaking, ROUNDS times in a row each (5; `run ... -- env ROUNDS=100 fabric/lifecycle.sh` for long), under traffic where it says so. Nothing may be left behind.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap 'kill $(jobs -p) 2>/dev/null; hosts_clean' EXIT
ROUNDS=${ROUNDS:-5}

ktap_plan 9
modprobe -a ib_umad ib_uverbs ib_ipoib

refs() { cat /sys/module/pib/refcnt; }
# Unreclaimable kernel memory in kB once the deferred work has run.
kernel_memory() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	sleep 1
	awk '/^(SUnreclaim|Percpu|KernelStack|VmallocUsed):/ { s += $2 } END { print s }' /proc/meminfo
}

# Traffic between two standalone hosts until it is stopped by whatever happens to them.
traffic_start() {
	h 1 ib_write_bw -d pib0 -F -D 60 >/dev/null 2>&1 &
	wait_for 10 port_listens 1 18515
	h 2 ib_write_bw -d pib1 -F -D 60 "$(addr4 1)" >/dev/null 2>&1 &
	wait_for 20 moving
}
moving() {
	local a b
	a=$(cat /sys/class/infiniband/pib1/ports/1/counters/port_xmit_packets)
	sleep 0.1
	b=$(cat /sys/class/infiniband/pib1/ports/1/counters/port_xmit_packets)
	[ "$b" -gt "$a" ]
}
traffic_stop() {
	pkill -x ib_write_bw
	wait_for 5 sh -c '! pgrep -x ib_write_bw'
}
gone() { [ ! -e "/sys/class/infiniband/$1" ]; }

add_del() {
	local i
	for ((i = 0; i < ROUNDS; i++)); do
		h 1 pibctl add pib0 netdev eth0 && h 1 pibctl del pib0 || return 1
	done
}
rdma_link() {
	local i
	for ((i = 0; i < ROUNDS; i++)); do
		h 1 rdma link add pib0 type pib netdev eth0 && rdma link delete pib0 || return 1
		wait_for 5 gone pib0 || return 1
	done
}
standalone_pair() {
	pib_add 1 standalone && pib_add 2 standalone
}
# loop_under_traffic REMOVAL: with each round's removal while ib_write_bw runs
del_hca() { h 2 pibctl del pib1; }
del_netdev() { h 2 ip link del eth0; }
del_netns() { ip netns pids h2 | xargs -r kill -9; ip netns del h2; }
under_traffic() {
	local i
	for ((i = 0; i < ROUNDS; i++)); do
		[ -e /run/netns/h1 ] || hosts_make 2
		standalone_pair || return 1
		traffic_start || { echo "round $i: no traffic"; return 1; }
		"$1" || return 1
		wait_for 10 gone pib1 || { echo "round $i: pib1 is still there"; return 1; }
		traffic_stop || return 1
		if [ "$1" = del_hca ]; then
			h 1 pibctl del pib0 || return 1
		else
			# A veth takes the other one with it.
			wait_for 10 gone pib0 || { echo "round $i: pib0 is still there"; return 1; }
			hosts_clean
		fi
	done
}
reload() {
	local i
	for ((i = 0; i < ROUNDS; i++)); do
		h 1 pibctl add pib0 netdev eth0 || return 1
		h 1 pibctl del pib0 || return 1
		wait_for 5 modprobe -r pib || { echo "round $i: $(refs) references"; return 1; }
	done
}
# A process holds the device open while it is removed.
held_open() {
	pib_add 1 standalone || return 1
	h 1 ib_write_bw -d pib0 -F >/dev/null 2>&1 &
	sleep 0.5
	timeout 5 ip netns exec h1 pibctl del pib0 || return 1
	traffic_stop
}

hosts_make 2
check "pibctl add, del" add_del
check "rdma link add, delete" rdma_link
check "del while a process holds the device open" held_open
ROUNDS_WARM=$ROUNDS
ROUNDS=2 under_traffic del_netns >/dev/null
ROUNDS=$ROUNDS_WARM
hosts_make 2
mem0=$(kernel_memory)
check "del while ib_write_bw runs" under_traffic del_hca
check "netdev deleted while ib_write_bw runs" under_traffic del_netdev
hosts_clean
check "namespace deleted while ib_write_bw runs" under_traffic del_netns
hosts_clean
hosts_make 2
check "rmmod after the last user" reload
mem1=$(kernel_memory)
no_growth() {
	echo "before $mem0 kB, after $mem1 kB"
	[ $((mem1 - mem0)) -lt 8192 ]
}
check "kernel memory has not grown by 8 MiB" no_growth
check "no module reference is left" wait_for 5 sh -c 'modprobe -r pib'
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Devices, netdevs, namespaces and the module go, and CPUs, while processes hold objects of every kind and use
# them, IPoIB floods and OpenSM sweeps. The processes are in no namespace that goes: nothing ends them.
#
#	 h1: OpenSM	    h2
#	 pib0, ib0 -------- pib1, ib1
#
#	removal.sh [REMOVAL]...
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
trap 'kill $(jobs -p) 2>/dev/null; hosts_clean' EXIT
[ $# -gt 0 ] || set -- del rdma_link netdev netns module cpus
removals=("$@")
until=$((SECONDS + seconds))

gone() { [ ! -e "/sys/class/infiniband/$1" ]; }
moving() {
	local a
	a=$(cat "/sys/class/infiniband/$1/ports/1/counters/port_xmit_packets") || return 1
	sleep 0.1
	[ "$(cat "/sys/class/infiniband/$1/ports/1/counters/port_xmit_packets")" -gt "$a" ]
}
holds_everything() { [ "$(grep -l "holds everything$" /tmp/objects.* | wc -l)" = 2 ]; }

# Two hosts with IPoIB between them, and two processes with objects on the second one's device.
build() {
	local k
	hosts_make 2
	pib_add 1 && pib_add 2 && sm_start 1 && wait_active 90 || return 1
	for k in 1 2; do
		ip link set "$(ipoib $k)" netns h$k && h $k ip addr add 10.78.0.$k/24 dev "$(ipoib $k)" &&
			h $k ip link set "$(ipoib $k)" up || return 1
	done
	wait_for 60 h 1 ping -c1 -W1 10.78.0.2 || return 1
	rdma statistic qp set link pib1/1 auto type on
	users=()
	for k in 1 2; do
		# shellcheck disable=SC2086
		pib-hostile objects --dev pib1 --seconds 300 --seed $((seed + k)) ${WITHOUT:+--without "$WITHOUT"} >/tmp/objects.$k 2>&1 &
		users+=($!)
	done
	h 1 ping -f -s 1000 10.78.0.2 >/dev/null 2>&1 & pings=$!
	wait_for 60 holds_everything && wait_for 30 moving pib1
}

# users_end: they notice, and end without being killed.
users_end() {
	local pid rc=0
	kill "$pings" 2>/dev/null
	for pid in "${users[@]}"; do
		wait_for 90 sh -c "! kill -0 $pid" || { cat "/proc/$pid/stack" /proc/"$pid"/task/*/stack; return 1; }
		wait "$pid" || rc=1
	done
	[ $rc = 0 ] || tail -n 30 /tmp/objects.*
	return $rc
}

del() { timeout 60 ip netns exec h2 pibctl del pib1; }
rdma_link() { timeout 60 rdma link delete pib1; }
netdev() { timeout 60 ip -n h2 link del eth0; }
netns() {
	ip netns pids h2 | xargs -r kill -9
	timeout 60 ip netns del h2
}
module() { timeout 60 modprobe -r pib; }

# remove KIND: while everything runs, until the time is over.
remove() {
	local rounds=0
	while :; do
		build || { echo "round $rounds: nothing to remove"; return 1; }
		"$1" || { echo "round $rounds: it is not removed"; return 1; }
		wait_for 60 gone pib1 || { echo "round $rounds: pib1 is still there"; return 1; }
		users_end || { echo "round $rounds: its users"; return 1; }
		hosts_clean
		modprobe pib
		rounds=$((rounds + 1))
		[ $SECONDS -ge $((until - seconds * left / ${#removals[@]})) ] && break
	done
	echo "$rounds rounds" >/tmp/rounds
}

# CPUs: all but the first go off and on; the traffic goes on, also that of one who looks at each byte.
switch_cpus() {
	local end=$((SECONDS + seconds / ${#removals[@]} + 5)) cpu victim rc=0
	build || { echo "no traffic"; return 1; }
	h 1 pib-hostile victim --dev pib0 --seed "$seed" --seconds $((end - SECONDS)) >/tmp/victim 2>&1 & victim=$!
	while [ $SECONDS -lt $end ]; do
		cpu=/sys/devices/system/cpu/cpu$((1 + RANDOM % ($(nproc --all) - 1)))/online
		echo 0 >"$cpu" || rc=1
		[ $((RANDOM % 2)) = 0 ] || { h 1 pibctl add pibx netdev eth0; h 1 pibctl del pibx; } 2>/dev/null
		echo 1 >"$cpu" || rc=1
	done
	wait $victim || rc=1
	sed 's/^/# /' /tmp/victim
	wait_for 30 moving pib1 || { echo "no traffic afterwards"; rc=1; }
	h 1 ping -c 3 -W 10 10.78.0.2 || rc=1
	kill "${users[@]}"
	users_end || rc=1
	hosts_clean
	return $rc
}

ktap_plan $((${#removals[@]} + AFTER))
modprobe -a pib ib_umad ib_uverbs ib_ipoib vgem
left=${#removals[@]}
# Once, so that what is made for good has been made.
build || bail "no hosts"
kill "${users[@]}"
users_end
hosts_clean
hosts_make 2
two_ports
before
hosts_clean
for removal in "${removals[@]}"; do
	left=$((left - 1))
	if [ "$removal" = cpus ] && [ "$(nproc --all)" -lt 2 ]; then
		skip "cpus" "there is but one"
	elif [ "$removal" = cpus ]; then
		check "CPUs go off and on under traffic" switch_cpus
	else
		check "$removal: goes with all that is open" remove "$removal"
		sed 's/^/# /' /tmp/rounds
	fi
done
hosts_make 2
two_ports
after
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Would a second thread in pibnetd pay? Two pairs of hosts talk at a time: behind one daemon, then each behind a
# daemon of its own, which is the best that two threads could come to. "daemon CPU" is of how many processors the
# daemons have the time. Not part of `make bench`:
#
#	selftests/vm/run --smp 4 --mem 4096 --copy selftests/lib --copy selftests/bench -- bench/pibnetd-two.sh
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/netd.sh"
. "$here/points.sh"
LAYOUT=netns
HOSTS=4
rounds=${BENCH_ROUNDS:-3}
daemons=()
clean() {
	[ ${#daemons[@]} = 0 ] || kill "${daemons[@]}" 2>/dev/null
	netd_clean
}
trap clean EXIT

# daemon NAME ADDRESS
daemon() {
	echo "{ \"listen\": [\"$2\"] }" >"$netd/$1.json"
	ip netns exec sw pibnetd --config "$netd/$1.json" --control "$netd/$1.control" --state "$netd/$1.state" \
		>>"$netd/log" 2>&1 &
	daemons+=($!)
}

# join A B: host 1 and 2 at address A, 3 and 4 at B; each daemon has a subnet manager
join() {
	local k
	pkill -9 -x opensm
	for k in 1 2 3 4; do
		h $k pibctl del "$(dev $k)" 2>/dev/null
		if [ $k -le 2 ]; then pib_add $k peer "$1"; else pib_add $k peer "$2"; fi || die "host $k: no HCA"
	done
	sm_start 1
	[ "$1" = "$2" ] || sm_start 3
	wait_active 60 || die "the ports are not ACTIVE"
}

# sent COLUMN: what the hosts that send have sent, in the units of measure()'s points
sent() {
	local k counters='.counters[].counters.port_xmit_bytes'
	[ "$1" = 4 ] || counters='.counters[].counters.port_xmit_packets'
	for k in 2 4; do h $k pibctl -j show counters; done | jq -s "[.[] | $counters] | add"
}

cpu_ms() {
	local pid
	for pid in "${daemons[@]}"; do cat "/proc/$pid/stat"; done |
		awk -v tick="$(getconf CLK_TCK)" '{ ms += ($14 + $15) * 1000 / tick } END { print ms }'
}

# both POINT: the rate at which both pairs together send while both run, and the daemons' processors. By the ports'
# counters, since perftest cannot always tell the clock's rate on a machine that is this busy.
both() {
	local column program runs=() k before after began ended used
	read -r _ _ column _ program <<<"$1"
	for k in 1 3; do
		# shellcheck disable=SC2086
		(pair_out=/tmp/pair.$k && pair $k $((k + 1)) 100 $program -F -D $((seconds + 6))) >&2 &
		runs+=($!)
	done
	sleep 3
	before=$(sent "$column") began=$EPOCHREALTIME used=$(cpu_ms)
	sleep "$seconds"
	after=$(sent "$column") ended=$EPOCHREALTIME used=$(($(cpu_ms) - used))
	for k in "${runs[@]}"; do wait "$k" || die "$program failed"; done
	awk -v n=$((after - before)) -v from="$began" -v to="$ended" -v c="$column" -v used="$used" \
		'BEGIN { v = n / (to - from); if (c == 4) v /= 1048576; if (v <= 0) exit 1; print v, used / 1000 / (to - from) }' ||
		die "$program: nothing was sent"
}

netd_init
bridge bridge0
for k in 1 2 3 4; do cable h$k eth0 bridge0 10.77.0.$k/24; done
cable sw eth0 bridge0 10.77.0.9/24
ip -n sw addr add 10.77.0.10/24 dev eth0
daemon a 10.77.0.9
daemon b 10.77.0.10
sleep 1

printf '%-20s%-10s%8s%14s%12s   (%s CPUs)\n' case unit daemons rate "daemon CPU" "$(nproc)"
for ((i = 0; i < rounds; i++)); do
	for n in 1 2; do
		if [ $n = 1 ]; then join 10.77.0.9 10.77.0.9; else join 10.77.0.9 10.77.0.10; fi
		for point in "${points[@]}"; do
			read -r name unit _ <<<"$point"
			read -r rate cpu < <(both "$point") || exit 1
			printf '%-20s%-10s%8s%14.0f%12.2f\n' "$name" "$unit" $n "$rate" "$cpu"
		done
	done
done

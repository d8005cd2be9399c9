#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The gain by threads in pibnetd. Two pairs of hosts talk at a time, through a daemon of one thread and of more. "daemon CPU"
# is of how many processors it has the time. Not part of `make bench`:
#
#	selftests/vm/run --smp 4 --mem 4096 --copy selftests/lib --copy selftests/bench -- bench/pibnetd-threads.sh
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/netd.sh"
. "$here/points.sh"
trap netd_clean EXIT
LAYOUT=netns
HOSTS=4
rounds=${BENCH_ROUNDS:-3}
threads=${THREADS:-1 2}

# daemon THREADS: a new one, by root, so that its buffers are large
daemon() {
	[ -z "$netd_pid" ] || netd_stop
	echo '{ "listen": ["0.0.0.0"], "threads": '"$1"' }' >$netd/config.json
	ip netns exec sw pibnetd --config $netd/config.json --control $netd/control --state $netd/state >>$netd/log 2>&1 &
	netd_pid=$!
	netd_answers || die "no daemon"
	wait_active 60 || die "the ports are not ACTIVE"
}

# sent COLUMN: what the hosts that send have sent, in the units of measure()'s points
sent() {
	local k counters='.counters[].counters.port_xmit_bytes'
	[ "$1" = 4 ] || counters='.counters[].counters.port_xmit_packets'
	for k in 2 4; do h $k pibctl -j show counters; done | jq -s "[.[] | $counters] | add"
}

# both POINT: the rate at which both pairs together send while both run, and the daemon's processors. By the ports'
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
	before=$(sent "$column") began=$EPOCHREALTIME used=$(netd_cpu_ms)
	sleep "$seconds"
	after=$(sent "$column") ended=$EPOCHREALTIME used=$(($(netd_cpu_ms) - used))
	for k in "${runs[@]}"; do wait "$k" || die "$program failed"; done
	awk -v n=$((after - before)) -v from="$began" -v to="$ended" -v c="$column" -v used="$used" \
		'BEGIN { v = n / (to - from); if (c == 4) v /= 1048576; if (v <= 0) exit 1; print v, used / 1000 / (to - from) }' ||
		die "$program: nothing was sent"
}

netd_init
bridge bridge0
cable sw eth0 bridge0 10.77.0.9/24
for k in 1 2 3 4; do
	cable h$k eth0 bridge0 10.77.0.$k/24
	pib_add $k peer 10.77.0.9 || die "host $k: no HCA"
done
sm_start 1

printf '%-20s%-10s%8s%14s%12s   (%s CPUs)\n' case unit threads rate "daemon CPU" "$(nproc)"
for ((i = 0; i < rounds; i++)); do
	for n in $threads; do
		daemon "$n"
		for point in "${points[@]}"; do
			read -r name unit _ <<<"$point"
			read -r rate cpu < <(both "$point") || exit 1
			printf '%-20s%-10s%8s%14.0f%12.2f\n' "$name" "$unit" "$n" "$rate" "$cpu"
		done
	done
done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Would a second thread in pibnetd pay? Two pairs of hosts talk at a time: behind one daemon, then each behind a
# daemon of its own, which is the best that two threads could come to. Not part of `make bench`:
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
	for k in 1 2 3 4; do
		h $k pibctl del "$(dev $k)" 2>/dev/null
		if [ $k -le 2 ]; then pib_add $k peer "$1"; else pib_add $k peer "$2"; fi || die "host $k: no HCA"
	done
	sm_start 1
	[ "$1" = "$2" ] || sm_start 3
	wait_active 60 || die "the ports are not ACTIVE"
}
leave() { pkill -9 -x opensm; }

# sent COLUMN: what hosts 2 and 4 have sent, in the units of measure()'s points
sent() {
	local k sum=0 counter=port_xmit_data unit=4
	[ "$1" = 4 ] || counter=port_xmit_packets unit=1
	for k in 2 4; do sum=$((sum + $(h $k cat "/sys/class/infiniband/$(dev $k)/ports/1/counters/$counter") * unit)); done
	echo $sum
}

# both POINT: the rate at which both pairs together send while both run. By the ports' counters, since perftest
# cannot always tell the clock's rate on a machine that is busy with two of it.
both() {
	local column program runs=() k before after began ended
	read -r _ _ column _ program <<<"$1"
	for k in 1 3; do
		# shellcheck disable=SC2086
		(pair_out=/tmp/pair.$k && pair $k $((k + 1)) 100 $program -F -D $((seconds + 6))) >&2 &
		runs+=($!)
	done
	sleep 3
	before=$(sent "$column") began=$EPOCHREALTIME
	sleep "$seconds"
	after=$(sent "$column") ended=$EPOCHREALTIME
	for k in "${runs[@]}"; do wait "$k" || die "$program failed"; done
	awk -v n=$((after - before)) -v from="$began" -v to="$ended" -v c="$column" \
		'BEGIN { v = n / (to - from); if (c == 4) v /= 1048576; if (v <= 0) exit 1; print v }' || die "$program: nothing was sent"
}

netd_init
bridge bridge0
for k in 1 2 3 4; do cable h$k eth0 bridge0 10.77.0.$k/24; done
cable sw eth0 bridge0 10.77.0.9/24
ip -n sw addr add 10.77.0.10/24 dev eth0
daemon a 10.77.0.9
daemon b 10.77.0.10
sleep 1
points=("${points[@]:0:2}")	# without acknowledgements, two daemons would only lose more

printf '%-20s%-10s%14s%14s%8s   (%s CPUs)\n' case unit "one daemon" "two daemons" ratio "$(nproc)"
for ((i = 0; i < rounds; i++)); do
	for layout in one two; do
		if [ $layout = one ]; then join 10.77.0.9 10.77.0.9; else join 10.77.0.9 10.77.0.10; fi
		for point in "${points[@]}"; do both "$point" >"/tmp/${point%% *}.$layout"; done
		leave
	done
	for point in "${points[@]}"; do
		read -r name unit _ <<<"$point"
		paste "/tmp/$name.one" "/tmp/$name.two" | awk -v n="$name" -v u="$unit" \
			'{ printf "%-20s%-10s%14.0f%14.0f%8.2f\n", n, u, $1, $2, $1 ? $2 / $1 : 0 }'
	done
done

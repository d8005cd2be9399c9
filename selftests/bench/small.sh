#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Small messages over a veth: writes of 64 bytes beside a plain UDP sender's datagrams of 64 bytes (iperf3, as many as
# arrive), one by one and sixteen at a time; and two queue pairs of two processes beside one, which together have more
# only where there are CPUs for them. Medians. Part of `make bench`; alone:
#
#	selftests/vm/run --smp 4 --copy selftests/lib --copy selftests/bench -- bench/small.sh
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/points.sh"
LAYOUT=netns
rounds=${BENCH_ROUNDS:-3}
trap hosts_clean EXIT
single="write_rate_64 msg/s 5 1000000 ib_write_bw -s 64"
listed="write_rate_64_l16 msg/s 5 1000000 ib_write_bw -s 64 -l 16"
bulk="write_bw_64k MiB/s 4 1 ib_write_bw -s 65536"

# datagrams: those of 64 bytes that a plain sender gets to host 2, in a second
datagrams() {
	local server out
	h 2 timeout 100 iperf3 -s -1 >/dev/null 2>&1 & server=$!
	wait_for 20 listening || die "iperf3 does not listen"
	out=$(h 1 timeout 100 iperf3 -u -b 0 -l 64 -c "$(addr4 2)" -t "$seconds" -J) || die "iperf3 -u failed: $out"
	wait $server
	jq '.end.sum | (.packets - .lost_packets) / .seconds' <<<"$out"
}
# two POINT: of two pairs of processes at a time, together
two() {
	local one other
	(pair_out=/tmp/pair.other; measure "$1 -p 18600" pair 2 1 100 >/tmp/small.other) & other=$!
	one=$(measure "$1" pair 2 1 100) || return 1
	wait $other || return 1
	echo "$one $(cat /tmp/small.other)" | awk '{ print $1 + $2 }'
}

hosts_make 2
standalone_hosts
declare -A all=()
for ((i = 0; i < rounds; i++)); do
	all[udp]+="$(datagrams) " && all[single]+="$(measure "$single" pair 2 1 100) " &&
		all[listed]+="$(measure "$listed" pair 2 1 100) " && all[bulk]+="$(measure "$bulk" pair 2 1 100) " &&
		all[two_single]+="$(two "$single") " && all[two_bulk]+="$(two "$bulk") " || exit 1
done

rows=()
# row CASE UNIT WHAT AND BESIDE IT
row() {
	local a b
	a=$(median "${all[$3]}") b=$(median "${all[$5]}")
	printf '%-10s%-20s%-8s%12.0f  %-8s%12.0f%8.2f\n' veth "$1" "$2" "$a" "$4" "$b" "$(echo "$a $b" | awk '{ print $1 / $2 }')"
	rows+=("{\"case\":\"$1\",\"path\":\"veth\",\"unit\":\"$2\",\"better\":\"higher\",\"pib\":$a,\"$4\":$b}")
}
printf '%-10s%-20s%-8s%12s  %-8s%12s%8s\n' path case unit pib beside it ratio
row write_rate_64 msg/s single udp udp
row write_rate_64_l16 msg/s listed udp udp
row write_rate_64_2proc msg/s two_single one single
row write_bw_64k_2proc MiB/s two_bulk one bulk
echo "BENCH-JSON [$(IFS=,; echo "${rows[*]}")]"

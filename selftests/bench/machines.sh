#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Between two machines, by one netdev of each: pib beside iperf3's TCP, at an MTU of 1500 and of 9000 bytes, in turns;
# medians. MTUS="1500 9000": only these. Part of `make bench`; alone:
#
#	selftests/vm/run --hosts 2 --copy selftests/lib --copy selftests/bench -- bench/machines.sh
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/points.sh"
rounds=${BENCH_ROUNDS:-3}
[ "$LAYOUT" = machines ] || die "this is for two machines: vm/run --hosts 2"
trap hosts_clean EXIT
points+=("send_bw_64k MiB/s 4 1 ib_send_bw -s 65536" "read_bw_64k MiB/s 4 1 ib_read_bw -s 65536")

mtu() {
	local k
	for k in 1 2; do h $k ip link set eth0 mtu "$1" || die "host $k takes no MTU of $1"; done
}

hosts_make 2
rows=()
printf '%-10s%-20s%-8s%12s%12s%8s\n' path case unit pib TCP ratio
for bytes in ${MTUS:-1500 9000}; do
	mtu "$bytes"
	standalone_hosts
	declare -A all=()
	for ((i = 0; i < rounds; i++)); do
		all[tcp]+="$(tcp "$(addr4 2)") " || exit 1
		for point in "${points[@]}"; do all[${point%% *}]+="$(measure "$point" pair 2 1 100) " || exit 1; done
	done
	tcp=$(median "${all[tcp]}")
	for point in "${points[@]}"; do
		read -r name unit _ <<<"$point"
		pib=$(median "${all[$name]}")
		rival=(- -) json=
		if [ "$unit" = MiB/s ]; then
			rival=("$(printf %.1f "$tcp")" "$(echo "$pib $tcp" | awk '{ printf "%.2f", $1 / $2 }')")
			json=",\"tcp\":$tcp"
		fi
		printf '%-10s%-20s%-8s%12.1f%12s%8s\n' "mtu$bytes" "$name" "$unit" "$pib" "${rival[@]}"
		rows+=("{\"case\":\"$name\",\"path\":\"machines, MTU $bytes\",\"unit\":\"$unit\",\"better\":\"higher\",\"pib\":$pib$json}")
	done
	unset all
done
echo "BENCH-JSON [$(IFS=,; echo "${rows[*]}")]"

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The cost of a fabric's key: two hosts over a veth, without a key, with one, and beside them TCP through WireGuard and
# plain TCP over the same veth, in turns; medians.
# Part of `make bench`; alone:
#
#	selftests/vm/run --packages wireguard-tools --copy selftests/lib --copy selftests/bench -- bench/keyed.sh
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/points.sh"
LAYOUT=netns
umask 077
rounds=${BENCH_ROUNDS:-3}
trap 'rm -f /tmp/key /tmp/wg.*; hosts_clean' EXIT

tunnel() {
	local k
	for k in 1 2; do wg genkey >/tmp/wg.$k; done
	for k in 1 2; do
		h $k ip link add wg0 type wireguard || die "no WireGuard"
		h $k wg set wg0 private-key /tmp/wg.$k listen-port 51820 peer "$(wg pubkey </tmp/wg.$((3 - k)))" \
			allowed-ips 10.79.0.0/24 endpoint "$(addr4 $((3 - k))):51820"
		h $k ip addr add 10.79.0.$k/24 dev wg0
		h $k ip link set wg0 up
	done
}

hosts_make 2
tunnel
make_keys /tmp/key
declare -A all=()
for ((i = 0; i < rounds; i++)); do
	all[tcp]+="$(tcp "$(addr4 2)") " && all[wg]+="$(tcp 10.79.0.2) " || exit 1
	standalone_hosts
	for point in "${points[@]}"; do all[open_${point%% *}]+="$(measure "$point" pair 1 2 100) " || exit 1; done
	standalone_hosts key-file /tmp/key
	for point in "${points[@]}"; do all[keyed_${point%% *}]+="$(measure "$point" pair 1 2 100) " || exit 1; done
done

rows=()
tcp=$(median "${all[tcp]}") wg=$(median "${all[wg]}")
printf '%-10s%-20s%-8s%12s%12s%8s%12s%12s%8s\n' path case unit keyed open ratio WireGuard TCP /wg
for point in "${points[@]}"; do
	read -r name unit _ <<<"$point"
	keyed=$(median "${all[keyed_$name]}") open=$(median "${all[open_$name]}")
	rivals=(- - -) json=
	if [ "$unit" = MiB/s ]; then
		rivals=("$(printf %.0f "$wg")" "$(printf %.0f "$tcp")" "$(echo "$keyed $wg" | awk '{ printf "%.2f", $1 / $2 }')")
		json=",\"wireguard\":$wg,\"tcp\":$tcp"
	fi
	printf '%-10s%-20s%-8s%12.0f%12.0f%8.2f%12s%12s%8s\n' keyed "$name" "$unit" "$keyed" "$open" \
		"$(echo "$keyed $open" | awk '{ print $1 / $2 }')" "${rivals[@]}"
	rows+=("{\"case\":\"$name\",\"path\":\"keyed\",\"unit\":\"$unit\",\"better\":\"higher\",\"pib\":$keyed,\"open\":$open$json}")
done
echo "BENCH-JSON [$(IFS=,; echo "${rows[*]}")]"

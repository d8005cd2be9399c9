#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# IP over InfiniBand, datagram mode and connected mode, beside TCP over the same veth in the same run: two hosts, with
# the UDP of their uplinks over the veth, and with a cable in the kernel from one HCA to the other.
# Part of `make bench`; alone:
#
#	selftests/vm/run --copy selftests/lib --copy selftests/bench -- bench/ipoib.sh
#
# IPOIB_PATHS="veth" (or "cable"), IPOIB_MODES="datagram": only these.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/ipoib.sh"
. "$here/points.sh"
LAYOUT=netns
rounds=${BENCH_ROUNDS:-3}
trap hosts_clean EXIT

pings() { h 1 ping -c1 -W1 "$(ib_addr 2)"; }
# mode MODE: both interfaces
mode() {
	local k dev
	for k in 1 2; do
		dev=$(ipoib $k)
		h $k sh -c "echo $1 >/sys/class/net/$dev/mode" || die "no $1 mode"
		[ "$1" = datagram ] || h $k ip link set "$dev" mtu 65520
		h $k ip neigh flush dev "$dev"
	done
	wait_for 60 pings || die "no ping in $1 mode"
}

# path_veth: each HCA in its host; path_cable: both have a cable in the kernel
path_veth() { for k in 1 2; do pib_add $k || die "host $k: no HCA"; done; }
path_cable() {
	for k in 1 2; do
		h 1 pibctl add "$(dev $k)" netdev eth0 && h 1 pibctl link del "$(dev $k)/1" || die "no HCA"
	done
	h 1 pibctl link add pib0/1 pib1/1 || die "no cable"
}
path_end() {
	sm_stop 1
	for k in 1 2; do for dev in pib0 pib1; do h $k pibctl del $dev; done; done >/dev/null 2>&1
}
sm_gone() { ! h 1 pgrep -x opensm; }

rows=()
row() {
	local path=$1 case=$2 pib=$3 rival=$4
	printf '%-10s%-14s%-8s%12.0f%12.0f%8.2f\n' "$path" "$case" MiB/s "$pib" "$rival" \
		"$(echo "$pib $rival" | awk '{ print $1 / $2 }')"
	rows+=("{\"case\":\"ipoib_$case\",\"path\":\"ipoib-$path\",\"unit\":\"MiB/s\",\"better\":\"higher\",\"pib\":$pib,\"tcp\":$rival}")
}

# measure_path PATH: all modes and the rival, in turn
measure_path() {
	local path=$1 i m
	local -A all=()
	"path_$path"
	sm_start 1
	wait_active 60 || die "the ports are not ACTIVE"
	ipoib_up || die "no IPoIB"
	for ((i = 0; i < rounds; i++)); do
		all[tcp]+="$(tcp "$(addr4 2)") " || exit 1
		for m in ${IPOIB_MODES:-datagram connected}; do
			mode "$m"
			all[$m]+="$(tcp "$(ib_addr 2)") " || exit 1
		done
	done
	for m in ${IPOIB_MODES:-datagram connected}; do
		row "$path" "$m" "$(median "${all[$m]}")" "$(median "${all[tcp]}")"
	done
	path_end
	wait_for 20 sm_gone
}

hosts_make 2
printf '%-10s%-14s%-8s%12s%12s%8s\n' path mode unit IPoIB TCP ratio
for path in ${IPOIB_PATHS:-veth cable}; do measure_path "$path"; done
echo "BENCH-JSON [$(IFS=,; echo "${rows[*]}")]"

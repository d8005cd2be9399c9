#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# IP over InfiniBand, datagram mode and connected mode, beside TCP over the same veth in the same run: two hosts, with
# the UDP of their uplinks over the veth, and with a cable in the kernel from one HCA to the other. "plain" is TCP over a
# veth that asks of the stack what ib_ipoib asks of it: what an HCA could have that costs nothing.
# Part of `make bench`; alone:
#
#	selftests/vm/run --copy selftests/lib --copy selftests/bench -- bench/ipoib.sh
#
# IPOIB_PATHS="veth" (or "cable"), IPOIB_CASES="datagram": only these.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/ipoib.sh"
. "$here/points.sh"
LAYOUT=netns
rounds=${BENCH_ROUNDS:-3}
trap 'hosts_clean; rm -f "$partitions"' EXIT

pings() { h 1 ping -c1 -W1 "$(ib_addr 2)"; }
# The cases, each with mode and MTU: OpenSM's default, the largest of a datagram, the largest of a connection.
declare -A mode_of=([datagram]=datagram [datagram-4k]=datagram [connected]=connected)
declare -A mtu_of=([datagram]=2044 [datagram-4k]=4092 [connected]=65520)
read -ra cases <<<"${IPOIB_CASES:-datagram datagram-4k connected}"
partitions=$(mktemp)
echo "Default=0x7fff, ipoib, mtu=5 : ALL=full;" >"$partitions"

# set_up CASE: both interfaces
set_up() {
	local k dev
	for k in 1 2; do
		dev=$(ipoib $k)
		h $k sh -c "echo ${mode_of[$1]} >/sys/class/net/$dev/mode" && h $k ip link set "$dev" mtu "${mtu_of[$1]}" &&
			h $k ip neigh flush dev "$dev" || die "no $1 mode"
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
	sm_end h 1
	for k in 1 2; do for dev in pib0 pib1; do h $k pibctl del $dev; done; done >/dev/null 2>&1
}

# In datagram mode the stack cuts what TCP sends into packets and the receiver merges them again; in connected mode the
# packets are large, and the checksums are the stack's.
plain_addr() { echo "10.79.$1.$2"; }	# NET K
plain_link() {
	local net=$1 mtu=$2 k
	ip link add "p$net-1" type veth peer name "p$net-2" || die "no veth"
	for k in 1 2; do
		ip link set "p$net-$k" netns "h$k"
		h $k ip link set "p$net-$k" mtu "$mtu" up && h $k ip addr add "$(plain_addr "$net" $k)/24" dev "p$net-$k" &&
			h $k ethtool -K "p$net-$k" gro on "${@:3}" >/dev/null || die "no plain veth"
	done
}
plain_links() {
	plain_link 1 "${mtu_of[datagram]}" tso off
	plain_link 2 "${mtu_of[datagram-4k]}" tso off
	plain_link 3 "${mtu_of[connected]}" tx off rx off
}
declare -A plain_net=([datagram]=1 [datagram-4k]=2 [connected]=3)

rows=()
# row PATH CASE PIB TCP PLAIN
row() {
	printf '%-10s%-14s%-8s%12.0f%12.0f%8.2f%12.0f%8.2f\n' "$1" "$2" MiB/s "$3" "$4" \
		"$(echo "$3 $4" | awk '{ print $1 / $2 }')" "$5" "$(echo "$3 $5" | awk '{ print $1 / $2 }')"
	rows+=("{\"case\":\"ipoib_$2\",\"path\":\"ipoib-$1\",\"unit\":\"MiB/s\",\"better\":\"higher\",\"pib\":$3,\"tcp\":$4,\"plain\":$5}")
}

# measure_path PATH: all modes and the rival, in turn
measure_path() {
	local path=$1 i m
	local -A all=()
	"path_$path"
	sm_start 1 -P "$partitions"
	wait_active 60 || die "the ports are not ACTIVE"
	ipoib_up || die "no IPoIB"
	for ((i = 0; i < rounds; i++)); do
		all[tcp]+="$(tcp "$(addr4 2)") " || exit 1
		for m in "${cases[@]}"; do
			set_up "$m"
			all[$m]+="$(tcp "$(ib_addr 2)") " || exit 1
			all[plain_$m]+="$(tcp "$(plain_addr "${plain_net[$m]}" 2)") " || exit 1
		done
	done
	for m in "${cases[@]}"; do
		row "$path" "$m" "$(median "${all[$m]}")" "$(median "${all[tcp]}")" "$(median "${all[plain_$m]}")"
	done
	path_end
}

hosts_make 2
plain_links
printf '%-10s%-14s%-8s%12s%12s%8s%12s%8s\n' path case unit IPoIB TCP ratio plain ratio
for path in ${IPOIB_PATHS:-veth cable}; do measure_path "$path"; done
echo "BENCH-JSON [$(IFS=,; echo "${rows[*]}")]"

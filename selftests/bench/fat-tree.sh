#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fat-tree.sh [-p] [HCAS...]: fat trees of two levels in one kernel: what they cost in time and memory, up to SUBNET UP
# with OpenSM's ftree engine. A leaf switch has as many cables to spines as to HCAs, 16 at most.
# With -p each HCA is a host, in a network namespace of its own with an address on its IPoIB interface, and each host
# pings another one that is behind another leaf: as many pairs as there are HCAs.
# Fails if the subnet does not come up or a ping is not answered.
# Part of `make bench`; alone:
#
#	selftests/vm/run --mem 8192 --timeout 3600 --copy selftests/lib --copy selftests/topologies \
#		--copy selftests/bench -- bench/fat-tree.sh -p 16 64 256 512
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/topology.sh"
. "$here/../lib/many-hosts.sh"
no_ipoib=/run/modprobe.d/fat-tree.conf
trap 'topology_clean; rm -f "$no_ipoib"' EXIT

ping=
if [ "${1:-}" = -p ]; then
	ping=1
	shift
fi
[ $# -gt 0 ] || set -- 16 64 256 512

die() { echo "fat-tree: $*" >&2; exit 1; }
available() { awk '/^MemAvailable/ { print $2 }' /proc/meminfo; }
now() { date +%s.%N; }
since() { echo "$(now) $1" | awk '{ printf "%.2f", $1 - $2 }'; }
rows=()
# row CASE UNIT VALUE
row() { rows+=("{\"case\":\"$1\",\"path\":\"fat-tree\",\"unit\":\"$2\",\"better\":\"lower\",\"pib\":$3}"); }

# load FILE HCAS
load() {
	local free t
	free=$(available)
	t=$(now)
	pibctl fabric load "$1" ${ping:+netns} || die "$2 HCAs cannot be loaded"
	loading=$(since "$t")
	t=$(now)
	udevadm settle --timeout=900 || die "udev does not come to an end"
	settling=$(since "$t")
	sleep 1		# what RCU frees is free
	memory=$(((free - $(available)) / $2))
}

# OpenSM tries for ever what ftree refuses.
# shellcheck disable=SC2317  # by wait_for
swept() { grep -Eq "SUBNET UP|No routing engine" "$SM_DIR/opensm.log"; }

# sweep HCAS: an SM until all is ACTIVE
sweep() {
	local t
	t=$(now)
	fabric_sm -R ftree,no_fallback || { cat "$SM_DIR/out"; die "no SM"; }
	wait_for 1800 swept
	subnet_up 1 || { tail -n 20 "$SM_DIR/opensm.log"; die "$1 HCAs: no SUBNET UP"; }
	sweeping=$(since "$t")
	wait_for 600 all_active || die "$1 HCAs: not all ports are ACTIVE"
	activating=$(since "$t")
	grep -q "ftree tables configured" "$SM_DIR/opensm.log" || die "$1 HCAs: not routed by ftree"
}

# hosts HCAS: their IPoIB, and the pings
hosts() {
	local t free
	free=$(available)
	t=$(now)
	many_hosts_up "$1" || die "$1 HCAs: not all IPoIB interfaces have joined"
	joining=$(since "$t")
	t=$(now)
	many_hosts_ping "$1" || unanswered=1
	pinging=$(since "$t")
	memory=$((memory + (free - $(available)) / $1))
	pings="# $1 HCAs: $ANSWERED of $1 pairs answered; joined in $joining s, pings $pinging s; then $memory KiB/HCA"
	row "ping_$1" s "$pinging"
}

# half HCAS: how many HCAs, and how many spines, a leaf has
half() {
	local n=16
	while [ $((n * n)) -gt "$1" ]; do n=$((n / 2)); done
	echo $n
}

tree() {
	local hcas=$1 n leaves file t
	n=$(half "$hcas") leaves=$((hcas / n))
	file=$(net xgft "$n,$leaves" "1,$n")
	printf '%8d %8d %8d' "$hcas" $((leaves + n)) $((hcas + n * leaves))
	load "$file" "$hcas"
	printf ' %10s %10s %10d' "$loading" "$settling" "$memory"
	sweep "$hcas"
	printf ' %10s %10s' "$sweeping" "$activating"
	row "subnet_up_$hcas" s "$sweeping"
	row "memory_$hcas" KiB/HCA "$memory"
	[ -z "$ping" ] || hosts "$hcas"
	sm_end
	t=$(now)
	pibctl fabric clear || die "$hcas HCAs do not go away"
	udevadm settle --timeout=900
	printf ' %10s\n%s' "$(since "$t")" "${pings:+$pings$'\n'}"
}

unanswered=0 pings=
if [ -n "$ping" ]; then
	many_hosts_init
else
	topology_init
	# or rdma-core's rules load it, with the first HCA
	mkdir -p "${no_ipoib%/*}"
	echo "install ib_ipoib /bin/true" >"$no_ipoib"
fi
# "load" is pibctl's time, "udev" what its rules need from then on; "sweep" goes to SUBNET UP, "active" until all ports are
printf '%8s %8s %8s %10s %10s %10s %10s %10s %10s\n' HCAs switches cables "load s" "udev s" "KiB/HCA" "sweep s" "active s" "clear s"
for hcas in "$@"; do
	[[ $hcas =~ ^[0-9]+$ ]] && [ "$hcas" -ge 4 ] && [ $((hcas % $(half "$hcas"))) = 0 ] || die "no fat tree of $hcas HCAs"
done
for hcas in "$@"; do tree "$hcas"; done
echo "BENCH-JSON [$(IFS=,; echo "${rows[*]}")]"
exit $unanswered

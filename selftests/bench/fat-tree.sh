#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fat-tree.sh [PODS...]: fat trees of 16 HCAs a leaf switch in one kernel: what they cost in time and
# memory, up to SUBNET UP with OpenSM's ftree engine. Run it in a machine of its own:
#
#	selftests/vm/run --mem 8192 --timeout 3600 --copy selftests/lib --copy selftests/topologies \
#		--copy selftests/bench -- bench/fat-tree.sh 1 4 16 32
#
# A tree of N leaf switches has 16 N HCAs and 16 spine switches.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/topology.sh"
trap topology_clean EXIT

[ $# -gt 0 ] || set -- 1 4 16 32
[ -n "${PIB_IPOIB:-}" ] && modprobe ib_ipoib
topology_init

available() { awk '/^MemAvailable/ { print $2 }' /proc/meminfo; }
now() { date +%s.%N; }
since() { echo "$(now) $1" | awk '{ printf "%.1f", $1 - $2 }'; }

printf '%8s %8s %8s %10s %10s %10s %10s %8s\n' HCAs switches cables "load s" "KiB/HCA" "sweep s" "active s" "clear s"
for leaves in "$@"; do
	file=$(net xgft "16,$leaves" 1,16)
	hcas=$((16 * leaves))
	free=$(available)
	t=$(now)
	pibctl fabric load "$file" || exit 1
	load=$(since "$t")
	sleep 1
	memory=$((free - $(available)))
	t=$(now)
	fabric_sm -R ftree,no_fallback || { cat "$SM_DIR/out"; exit 1; }
	subnet_up 1800 || { tail -n 20 "$SM_DIR/opensm.log"; exit 1; }
	sweep=$(since "$t")
	wait_for 600 all_active || { echo "not all ports are ACTIVE"; exit 1; }
	active=$(since "$t")
	grep -q "ftree tables configured" "$SM_DIR/opensm.log" || echo "# not by ftree"
	fabric_sm_stop
	t=$(now)
	pibctl fabric clear || exit 1
	printf '%8d %8d %8d %10s %10d %10s %10s %8s\n' "$hcas" $((leaves + 16)) $((hcas + 16 * leaves)) "$load" \
		$((memory / hcas)) "$sweep" "$active" "$(since "$t")"
done

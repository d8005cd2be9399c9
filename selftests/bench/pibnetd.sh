#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The packets that pibnetd forwards, and their cost: two hosts with one between them, beside the same hosts with a switch of
# the kernel in its place, which has links over UDP to both, and with a cable from one to the other. "ns/packet" is the
# processor time of the daemon by the packets that left its ports; segments of large packets and GRO make it depend on their
# size. The receiving host's work on a packet happens in softirqs of the daemon's system calls, and is part of it. Part of
# `make bench`; alone:
#
#	selftests/vm/run --copy selftests/lib --copy selftests/bench -- bench/pibnetd.sh
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/netd.sh"
. "$here/points.sh"
trap netd_clean EXIT
LAYOUT=netns
HOSTS=2

# join PEER-OF-1 PEER-OF-2: the HCAs made again, with an SM
join() {
	for k in 1 2; do
		h $k pibctl del "$(dev $k)" 2>/dev/null
		pib_add $k peer "${!k}" || die "host $k: no HCA"
	done
	sm_start 1
	wait_active 60 || die "the ports are not ACTIVE"
}
leave() { kill -9 "$(cat /tmp/opensm.1/pid)"; }

packets() { ctl -j show counters | jq '[.counters[] | select(.port != 0) | .counters.port_xmit_packets] | add'; }

netd_init
bridge bridge0
cable h1 eth0 bridge0 10.77.0.1/24
cable h2 eth0 bridge0 10.77.0.2/24
cable sw eth0 bridge0 10.77.0.9/24
echo '{ "listen": ["0.0.0.0"] }' >$netd/config.json
netd_start
netd_answers || die "no daemon"

declare -A through cost direct
join 10.77.0.9 10.77.0.9
for point in "${points[@]}"; do
	name=${point%% *}
	before=$(packets) used=$(netd_cpu_ms)
	through[$name]=$(measure "$point" pair 1 2 100) || exit 1
	cost[$name]=$(echo "$(netd_cpu_ms) $used $(packets) $before" | awk '{ printf "%.0f", ($1 - $2) * 1e6 / ($3 - $4) }')
done
leave
netd_stop
netd_pid=
# The module's switch takes the place of the daemon, at the same address.
declare -A switched
ip netns exec sw pibctl switch add between ports 2 || die "no switch"
for k in 1 2; do ip netns exec sw pibctl link add between/$k udp eth0 peer 10.77.0.$k || die "no link to host $k"; done
join 10.77.0.9 10.77.0.9
for point in "${points[@]}"; do switched[${point%% *}]=$(measure "$point" pair 1 2 100) || exit 1; done
leave
ip netns exec sw pibctl switch del between
join 10.77.0.2 10.77.0.1
for point in "${points[@]}"; do direct[${point%% *}]=$(measure "$point" pair 1 2 100) || exit 1; done
leave

rows=()
printf '%-10s%-20s%-10s%12s%12s%12s%8s%12s\n' path case unit pibnetd switch cable ratio ns/packet
for point in "${points[@]}"; do
	read -r name unit _ <<<"$point"
	ratio=$(echo "${through[$name]} ${direct[$name]}" | awk '{ printf "%.2f", $1 / $2 }')
	printf '%-10s%-20s%-10s%12.0f%12.0f%12.0f%8s%12s\n' pibnetd "$name" "$unit" "${through[$name]}" "${switched[$name]}" \
		"${direct[$name]}" "$ratio" \
		"${cost[$name]}"
	rows+=("{\"case\":\"$name\",\"path\":\"pibnetd\",\"unit\":\"$unit\",\"better\":\"higher\",\"pib\":${through[$name]},\"switch\":${switched[$name]},\"cable\":${direct[$name]}}"
		"{\"case\":\"${name}_cost\",\"path\":\"pibnetd\",\"unit\":\"ns/packet\",\"better\":\"lower\",\"pib\":${cost[$name]}}")
done
echo "BENCH-JSON [$(IFS=,; echo "${rows[*]}")]"

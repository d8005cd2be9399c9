#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A stream of RC writes beside one TCP flow through a bottleneck, and each alone at a loss of 1 %. The queue before the
# bottleneck holds what is on the way in a round trip (the bandwidth-delay product). "ratio" is pib's part by TCP's: of a
# fair share it is 1.
#
#	h1 eth0 ---+ net0 +--- eth0 h2		to h2: MBIT (16); to h1: DELAY ms (40)
#
# h1's netdev sends packets of the MTU, so that the queue counts the same ones for both. A machine without KVM fills a way of
# 16 Mbit/s, and no one of 50. MBIT, DELAY, LOSS (1, percent),
# BENCH_SHARE_SECONDS (30), BENCH_ROUNDS, BENCH_PARTS (alone beside loss). Part of `make bench`; alone:
#
#	selftests/vm/run --copy selftests/lib --copy selftests/bench -- bench/friendly.sh
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/netd.sh"
. "$here/points.sh"
trap netd_clean EXIT
LAYOUT=netns
HOSTS=2
MBIT=${MBIT:-16} DELAY=${DELAY:-40} LOSS=${LOSS:-1}
seconds=${BENCH_SHARE_SECONDS:-30}
rounds=${BENCH_ROUNDS:-3}
read -ra parts <<<"${BENCH_PARTS:-alone beside loss}"
bdp=$((MBIT * 1000 * DELAY / 8 / 1514))

net_make() {
	netd_init
	bridge net0
	cable h1 eth0 net0 10.77.0.1/24
	cable h2 eth0 net0 10.77.0.2/24
	h 1 ethtool -K eth0 gso off tso off tx-udp-segmentation off >/dev/null 2>&1
	ip netns exec hub tc qdisc add dev h1.eth0 root netem delay "${DELAY}ms" limit 100000
}
# bottleneck [NETEM'S ARGUMENTS...]
bottleneck() { ip netns exec hub tc qdisc replace dev h2.eth0 root netem rate "${MBIT}mbit" limit "$bdp" "$@"; }

stream="write_share MiB/s 4 1 ib_write_bw -s 65536"
# The client is host 1, so both streams go to host 2.
pib() { measure "$stream" pair 2 1 $((seconds + 60)); }
# A device in a namespace of its own has no counters in sysfs.
sent_packets() { h 1 pibctl -j show counters | jq '[.counters[].counters.port_xmit_packets] | add'; }
streams() { [ "$(sent_packets)" -gt $((before + 100)) ]; }
beside() {
	local before pid
	before=$(sent_packets)
	pib >/tmp/share.pib & pid=$!
	wait_for 30 streams || return 1
	both_tcp=$(tcp "$(addr4 2)") || return 1
	wait $pid || return 1
	both_pib=$(cat /tmp/share.pib)
}

rows=()
# row CASE PIB TCP
row() {
	printf '%-10s%-20s%-8s%12.2f%12.2f%8.2f\n' way "$1" MiB/s "$2" "$3" "$(echo "$2 $3" | awk '{ print $1 / $2 }')"
	rows+=("{\"case\":\"$1\",\"path\":\"way\",\"unit\":\"MiB/s\",\"better\":\"higher\",\"pib\":$2,\"tcp\":$3}")
}

net_make
standalone_hosts
declare -A all=()
for ((i = 0; i < rounds; i++)); do
	for part in "${parts[@]}"; do
		case $part in
		alone | loss)
			case $part in alone) bottleneck ;; loss) bottleneck loss "$LOSS%" ;; esac
			all[${part}_tcp]+="$(tcp "$(addr4 2)") " && all[${part}_pib]+="$(pib) " || exit 1
			;;
		beside)
			bottleneck
			beside || die "no streams beside each other"
			all[beside_tcp]+="$both_tcp " all[beside_pib]+="$both_pib "
			;;
		esac
	done
done
counters() {
	cd /sys/class/infiniband/pib0/ports/1/hw_counters || return
	for c in packet_seq_err local_ack_timeout_err implied_nak_seq_err late_response retransmits; do [ ! -e $c ] || echo "$c $(cat $c)"; done | paste -sd' '
}
echo "pib0: $(counters)"
printf '%-10s%-20s%-8s%12s%12s%8s\n' path case unit pib TCP ratio
for part in "${parts[@]}"; do row "write_$part" "$(median "${all[${part}_pib]}")" "$(median "${all[${part}_tcp]}")"; done
echo "BENCH-JSON [$(IFS=,; echo "${rows[*]}")]"

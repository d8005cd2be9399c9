#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A path that swallows large datagrams without a word: links find out what passes, keep to it, and notice when it passes again.
#
#	10.77.0/24 +-- r --+ 10.79.0/24		r drops what is larger than 1300 bytes
#	h1 eth0 ---+       +--- eth0 h2, sw
#	fd77::/64                fd79::/64		sw: pibnetd
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/netd.sh"
trap 'rm -rf /tmp/pmtu; netd_clean r' EXIT

HOSTS=2
LAYOUT=netns
addr4() { if [ "$1" = 1 ]; then echo 10.77.0.1; else echo 10.79.0.2; fi; }

# The router sees datagrams as routers do: one by one.
one_by_one() {
	local on
	for on in h1/eth0 h2/eth0 sw/eth0; do
		ip netns exec "${on%/*}" ethtool -K "${on#*/}" gso off tx-udp-segmentation off || return 1
	done
	for on in eth0 eth1; do ip netns exec r ethtool -K $on gro off || return 1; done
}
net_make() {
	mkdir -p /tmp/pmtu
	routed_nets
	cable sw eth0 net1 10.79.0.9/24
	ip -n sw route add 10.77.0.0/24 via 10.79.0.101
	ip netns exec h1 ping -c 1 -W 5 10.79.0.2 && one_by_one
}

# Padded probes are KEEPALIVEs: they may fall into the hole, now and then, and are counted apart.
hole() {
	ip netns exec r nft -f - <<-'END'
	table inet hole {
		counter probes { }
		counter data { }
		chain forward {
			type filter hook forward priority 0;
			udp dport 18514 meta length > 1300 @th,64,8 & 0x0f == 3 counter name probes drop
			udp dport 18514 meta length > 1300 counter name data drop
		}
	}
	END
}
hole_gone() { ip netns exec r nft delete table inet hole; }
swallowed() { ip netns exec r nft -j list counter inet hole "$1" | jq '.nftables[] | .counter? // empty | .packets'; }
stands_still() { echo "$1 then $(swallowed data)"; [ "$(swallowed data)" = "$1" ]; }
few_probes() { echo "$1 then $(swallowed probes)"; [ $(($(swallowed probes) - $1)) -le 40 ]; }

shown() { h "$1" pibctl -j show links; }
# passes K SIZE: what hK says of its link
passes() { shown "$1" | jq -e "[.links[] | select(.up) | .path_mtu] == [$2]"; }
both_pass() { passes 1 "$1" && passes 2 "$1"; }
in_text() { h 1 pibctl show links | grep -q "path_mtu $1"; }
logged() { dmesg | grep -c "large datagrams get lost"; }
bw() { pair 2 1 60 ib_write_bw -s 65536 -n 100 -F; }
writes() { wait_for 20 bw; }
# The control datagrams of a link come from a timer, and as answers: of two CPUs they may overtake one another, and the later one counts alone.
few_overtaken() {
	local k
	for k in 1 2; do [ "$(uplink_counter $k rx_bad_hello)" -le 5 ] || { h $k pibctl -j show uplinks; return 1; }; done
}
nothing_else_lost() { none_counted rx_short rx_wrong_address rx_malformed rx_bad_authentication rx_bad_icrc tx_errors && few_overtaken; }
anew() { h 1 pibctl link set pib0/1 down && h 1 pibctl link set pib0/1 up; }

# finds NAME PEER [KEYWORD]...: what was there before the link
finds() {
	local name=$1 data probes lines
	lines=$(logged)
	check "$name: a hole" hole
	check "$name: pib0" pib_add 1 standalone peer "$2" "${@:3}"
	check "$name: pib1" pib_add 2 standalone "${@:3}"
	check "$name: ACTIVE" wait_active 30
	check "$name: each finds what passes" wait_for 20 both_pass 1280
	check "$name: as text, too" in_text 1280
	check "$name: and counts it" no_less "$(uplink_counter 1 tx_shrunk)" 2
	check "$name: the log has a line of each end" [ "$(logged)" = $((lines + 2)) ]
	data=$(swallowed data) probes=$(swallowed probes)
	check "$name: 64 KiB writes" writes
	check "$name: nothing of them has fallen into the hole" stands_still "$data"
	check "$name: few probes have" few_probes "$probes"
}

# The path changes while the link is up.
changes() {
	local name=$1
	check "$name: the hole is gone" hole_gone
	check "$name: each finds that as well" wait_for 70 both_pass 1500
	check "$name: 64 KiB writes" writes
	check "$name: a hole that opens while the link is up" hole
	check "$name: each finds it" wait_for 30 both_pass 1280
	check "$name: 64 KiB writes" writes
}
leaves() {
	local name=$1
	check "$name: nothing else was lost" nothing_else_lost
	hole_gone
	check "$name: the link goes down and up" anew
	check "$name: it begins with the route's MTU" wait_for 5 both_pass 1500
	check "$name: deleted" eval 'h 1 pibctl del pib0 && h 2 pibctl del pib1'
}

# daemon_passes SIZE: to h1
daemon_passes() { ctl -j show links | jq -e "[.links[] | select(.up and .address == \"10.77.0.1:18514\") | .path_mtu] == [$1]"; }
netd_suite() {
	local data
	echo '{ "listen": ["0.0.0.0"], "switches": [ { "name": "net0", "ports": 4 } ] }' >$netd/config.json
	netd_start
	check "pibnetd" netd_answers
	check "pibnetd: a hole before it" hole
	check "pibnetd: host 1 joins" pib_add 1 peer 10.79.0.9
	check "pibnetd: host 2 joins" pib_add 2 peer 10.79.0.9
	check "pibnetd: host 1 finds what passes" wait_for 20 passes 1 1280
	check "pibnetd: so does pibnetd" wait_for 20 daemon_passes 1280
	check "pibnetd: host 2 has no hole" passes 2 1500
	sm_start 1
	check "pibnetd: ACTIVE" wait_active 60
	data=$(swallowed data)
	check "pibnetd: 64 KiB writes" writes
	check "pibnetd: 64 KiB reads" wait_for 20 pair 2 1 60 ib_read_bw -s 65536 -n 100 -F
	check "pibnetd: nothing of them has fallen into the hole" stands_still "$data"
	check "pibnetd: the hole is gone" hole_gone
	check "pibnetd: host 1 finds that as well" wait_for 70 passes 1 1500
	check "pibnetd: so does pibnetd" wait_for 70 daemon_passes 1500
}

ktap_plan 66
check "two hosts, a router" net_make
finds "open" 10.79.0.2
changes "open"
leaves "open"
make_keys /tmp/pmtu/key
finds "keyed" 10.79.0.2 key-file /tmp/pmtu/key
leaves "keyed"
finds "IPv6" fd79::2
leaves "IPv6"
netd_suite
ktap_end

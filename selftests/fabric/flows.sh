#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Flows: the data of each QP has a UDP source port of its own, and IPv6's flow label, so that queues and ways can share the work, and keeps its order.
#
#	h1 eth0 ------ eth0 h2		both of h2's CPUs take in what comes, by flow (RPS)
#	   pib0        pib1
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/programs.sh"
. "$here/../lib/sniff.sh"
trap 'rm -rf "$sniffed" /tmp/key.a /tmp/allpairs; hosts_clean' EXIT

LAYOUT=netns

# Source ports of more than a stray datagram
ports=".data[].ports | to_entries | map(select(.value >= 20).key | tonumber)"
all_ports=".data[].ports | keys | map(tonumber)"
# flows LEAST MOST: the module's ports are the first 16 that are free
flows() { saw "[${3:-$ports}] | add | length >= $1 and length <= $2 and all(. >= 49152 and . < 49168)"; }
labels() { saw "[.data.v6.labels | to_entries[] | select(.value >= 20).key] | length >= $1 and length <= $2 and all(. != \"0\")"; }
no_labels() { saw "(.$1.v6.labels | keys) == [\"0\"]"; }
one_port() { saw "[$ports] | add == [$1]"; }
# Probes come from one more port than the link's own.
control_ports() { saw "([.control[].ports | keys[]] | unique) == [\"$1\", \"$2\"]"; }
control_port() { saw "([.control[].ports | keys[]] | unique) == [\"$1\"]"; }

# No data was dropped: a busy machine loses sessions, and counts what is said of these.
still() { none_counted rx_short rx_malformed rx_bad_icrc rx_bad_seal rx_replayed rx_reassembly tx_errors; }
out_of_order() { cat "/sys/class/infiniband/$(dev "$1")/ports/1/hw_counters/out_of_sequence"; }
in_order() { echo "$1 then $(out_of_order 1) $(out_of_order 2)"; [ "$(out_of_order 1) $(out_of_order 2)" = "$1" ]; }
# Packets that CPUs have got from others
handed_over() { local n sum=0; while read -r n; do sum=$((sum + 0x$n)); done < <(awk '{ print $10 }' /proc/net/softnet_stat); echo $sum; }
rps() { h 2 sh -c "echo $1 >/sys/class/net/eth0/queues/rx-0/rps_cpus"; }

talk() { pair 1 2 120 ibv_rc_pingpong -s 16384 -n 50; }
# Of so many it is not by chance that all have one port of 16.
six_times() { talk && talk && talk && talk && talk && talk; }
# Packets of 2048 bytes need segments. The data that arrives is compared with what was sent.
segments() { /tmp/allpairs -n 50 -s 16384 pib0 pib1; }
# Where ciphers are slow and the machine is busy an answer may be late by a second.
many() { pair 2 1 300 ib_write_bw -q "$1" -s 65536 -n 40 -F -u 20; }
# Of 640 frames: who stands still for long loses some.
most_come_whole() { uplink_counter 2 rx_reassembly | tee "$sniffed/lost" && [ "$(cat "$sniffed/lost")" -lt 320 ]; }
# by_flow N true|false: what hN's end says of its link to the other host, soon: the other end tells it of probes
by_flow() { h "$1" pibctl -j show peers | jq -e "[.peers[].flows // false] == [$2]"; }
comes_from() { sniff talk && one_port "$1"; }

# suite NAME PEER [KEYWORD]...: PEER: of h1, or nothing
suite() {
	local name=$1 before handed
	check "$name: pib0" pib_add 1 standalone ${2:+peer "$2"} "${@:3}"
	check "$name: pib1" pib_add 2 standalone "${@:3}"
	check "$name: ACTIVE" wait_active 60
	check "$name: each hears that its flows get through" eval 'wait_for 20 by_flow 1 true && wait_for 20 by_flow 2 true'
	check "$name: one queue pair" sniff talk
	check "$name: has one source port" flows 1 1
	check "$name: links' own datagrams have the UDP port, and that of probes" control_ports 18514 49152
	check "$name: six, one after the other" sniff six_times
	check "$name: have several" flows 2 6
	check "$name: segments, whose data arrives whole" sniff segments
	check "$name: have one, too" flows 1 1
	check "$name: datagrams of two processes" sniff pair 1 2 120 ibv_ud_pingpong -s 2048 -n 50
	check "$name: as well" flows 1 1
	check "$name: two CPUs receive" rps 3
	before="$(out_of_order 1) $(out_of_order 2)" handed=$(handed_over)
	check "$name: eight queue pairs" sniff many 8
	check "$name: have several" flows 3 8 "$all_ports"
	check "$name: one CPU had others do a part" more "$(handed_over)" "$handed"
	check "$name: each kept its order" in_order "$before"
	check "$name: one CPU receives" rps 0
	check "$name: nothing was dropped" still
}
gone() { h 1 pibctl del pib0 && h 2 pibctl del pib1; }

# A firewall in front of h2 lets in the links' own port alone, or what h2 has sent to.
firewall() { h 2 nft "add table inet wall; add chain inet wall in { type filter hook input priority 0; }; add rule inet wall in $1"; }
firewall_gone() { h 2 nft delete table inet wall; }
own_port_only='udp dport 18514 udp sport != 18514 counter drop'
answers_only='udp dport 18514 ct state != established counter drop'
stopped() { h 2 nft list table inet wall | grep -Eq 'counter packets [1-9]'; }

# Segments of many flows, mixed packet by packet, as a queue that is fair to flows sends them where it is full
offloads() { h 1 ethtool -K eth0 gso "$1" tx-udp-segmentation "$1" && h 2 ethtool -K eth0 gro "$1"; }
mixed() { offloads off && h 1 tc qdisc replace dev eth0 root handle 1: tbf rate 200mbit burst 3000 limit 10000000 && h 1 tc qdisc add dev eth0 parent 1: fq_codel quantum 1514 target 10s interval 10s memory_limit 64m; }
not_mixed() { h 1 tc qdisc del dev eth0 root && offloads on; }

# A process of h1 listens to each port that data may come from.
listener='
import select, socket, sys, time
taken = []
for port in range(49152, 49152 + 300):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        s.bind(("", port))
    except OSError:
        print(port)
'
taken() { h 1 python3 -c "$listener" >"$sniffed/taken" || return 1; cat "$sniffed/taken"; [ "$(tr '\n' ' ' <"$sniffed/taken")" = "$1" ]; }
# The module's ports are nobody else's.
reserved() { taken "$(seq -s ' ' 49152 49167) "; }
not_reserved() { taken ""; }
# Datagrams that strangers send there are dropped and counted.
stray() {
	local before
	before=$(uplink_counter 1 rx_unknown_link)
	h 2 python3 -c "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); [s.sendto(b'x' * 100, ('$(addr4 1)', 49152)) for n in range(5)]"
	wait_for 10 eval "[ \$(uplink_counter 1 rx_unknown_link) = $((before + 5)) ]"
}

ktap_plan 123
hosts_make 2
check "allpairs compiles" program allpairs /tmp/allpairs
suite "open" ""
check "shown" uplink_has 1 "flow_ports == true"
check "no process gets the ports" reserved
check "what comes there is counted" stray
check "h2 does without" h 2 pibctl set pib1 flow-ports off
check "shown there" uplink_has 2 "flow_ports == false"
check "h1 hears of it" wait_for 20 by_flow 1 false
check "its data comes from the UDP port" comes_from 18514
check "h2 takes part again" h 2 pibctl set pib1 flow-ports on
check "h1 hears of it" wait_for 20 by_flow 1 true
check "h1's data comes by flow" sniff talk
check "from one port" flows 1 1
check "h1 does without" h 1 pibctl set pib0 flow-ports off
check "its data comes from the UDP port" comes_from 18514
check "it leaves the ports to others" not_reserved
check "h1 takes part again" h 1 pibctl set pib0 flow-ports on
check "it has the ports again" reserved
check "each hears of it" eval 'wait_for 20 by_flow 1 true && wait_for 20 by_flow 2 true'
refuse "an HCA beside it that wants otherwise" "'pibctl set' changes that" h 1 pibctl add pib5 netdev eth0 flow-ports off
refuse "no netdev" "needs 'netdev DEV'" h 1 pibctl add pib5 ports 1 flow-ports off

check "a firewall that knows the links' port only" firewall "$own_port_only"
check "stops probes" wait_for 10 stopped
check "h1 hears of it" wait_for 20 by_flow 1 false
check "data comes from the UDP port" comes_from 18514
check "h2's goes by flow" by_flow 2 true
check "the firewall goes" firewall_gone
check "h1 hears of it" wait_for 20 by_flow 1 true

check "segments of flows are mixed" mixed
check "of 16 queue pairs" many 16
check "most frames come whole" most_come_whole
check "not mixed" not_mixed
check "deleted" gone
make_keys /tmp/key.a
suite "keyed" "" key-file /tmp/key.a
check "deleted" gone
suite "IPv6" "$(addr6 2)"
check "one queue pair" sniff talk
check "has one flow label" labels 1 1
check "six, one after the other" sniff six_times
check "have several" labels 2 6
check "links' own datagrams have none" no_labels control
check "h1 does without flows' ports" h 1 pibctl set pib0 flow-ports off
check "its data has no label, either" eval 'sniff talk && no_labels data'
check "deleted" gone

check "h1 does without from the start" pib_add 1 standalone flow-ports off
check "no port is taken" not_reserved
check "it takes part" h 1 pibctl set pib0 flow-ports on
check "the ports are taken" reserved
check "deleted" h 1 pibctl del pib0
check "the ports are free" not_reserved

check "another UDP port than the peer's" pib_add 1 standalone udp-port 20001 peer "$(addr4 2):18514"
check "h2" pib_add 2 standalone
check "they meet" wait_active 60
check "h1's data goes by flow" wait_for 20 by_flow 1 true
check "its own datagrams come from its port, and that of probes" eval 'sniff talk && control_ports 20001 49152'
check "its data by flow" flows 1 1
check "deleted" gone

check "a firewall that lets in answers only" firewall "$answers_only"
check "h1" pib_add 1 standalone
check "h2 calls" pib_add 2 standalone peer "$(addr4 1)"
check "they meet" wait_active 60
check "no data comes by flow" by_flow 1 false
check "but from the UDP port" comes_from 18514
check "the firewall goes" firewall_gone
check "then it comes by flow" wait_for 20 by_flow 1 true
check "deleted" gone
ktap_end

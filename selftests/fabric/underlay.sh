#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Datagrams and the network between the hosts tell each other things: marks where a queue fills, classes, MTUs on the way.
#
#	10.77.0/24 +-- r --+ 10.79.0/24
#	h1 eth0 ---+       +--- eth0 h2
#	fd77::/64                fd79::/64
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/sniff.sh"
. "$here/../lib/netd.sh"
. "$here/../lib/programs.sh"
trap 'rm -rf /tmp/underlay /tmp/allpairs "$sniffed"; netd_clean r' EXIT

HOSTS=2
LAYOUT=netns
TO=10.79.0.2

# meet PROGRAM [OPTION]...: h1 sends to h2, which answers. Packets of 2048 bytes need segments.
meet() {
	local server rc=0
	h 2 timeout 60 "$1" -d pib1 -m 2048 -s 65536 "${@:2}" >/tmp/underlay/server 2>&1 &
	server=$!
	wait_for 20 sh -c "ip netns exec h2 ss -Hltn | grep -q :18515" &&
		h 1 timeout 60 "$1" -d pib0 -m 2048 -s 65536 "${@:2}" $TO >/tmp/underlay/client 2>&1 && wait $server || rc=1
	[ $rc = 0 ] || { kill $server 2>/dev/null; tail -n 5 /tmp/underlay/client /tmp/underlay/server; }
	return $rc
}
# talk COUNT: the same, both ways. The data that arrives is compared with what was sent.
talk() { /tmp/allpairs -n "$1" -s 65536 pib0 pib1; }
# on_sl LEVEL
on_sl() { meet ibv_rc_pingpong -n 20 -l "$1"; }
# ACKs are dropped where data is marked, the last one, too. The ends of perftest wait for each other before they leave, so it is
# sent again.
talk_for_long() { meet ib_send_lat -F -n 100; }
one() { talk 1; }
linked() { wait_active 30 && wait_for 30 one; }

# port_counter K NAME: of congestion control
port_counter() { h "$1" timeout 20 perfquery -C "$(dev "$1")" --rcvcc | sed -n "s/^$2:\.*//p"; }
retried() { cat /sys/class/infiniband/pib1/ports/1/hw_counters/out_of_sequence; }

# The router drops what it cannot mark.
fills() { ip netns exec r tc qdisc replace dev eth1 root netem limit 20000 loss 10% ecn; }
empties() { ip netns exec r tc qdisc del dev eth1 root; }

# marked NAME: the router marks data of h1
marked() {
	local name=$1 ce fecn becn again
	ce=$(uplink_counter 2 rx_ce) fecn=$(port_counter 2 PortPktRcvFECN) becn=$(port_counter 1 PortPktRcvBECN) again=$(retried)
	check "$name: a router whose queue fills" fills
	check "$name: traffic" talk_for_long
	check "$name: the router is itself again" empties
	check "$name: datagrams came marked" more "$(uplink_counter 2 rx_ce)" "$ce"
	check "$name: FECN at the receiver" more "$(port_counter 2 PortPktRcvFECN)" "$fecn"
	check "$name: BECN at the sender" more "$(port_counter 1 PortPktRcvBECN)" "$becn"
	check "$name: no data was dropped" test "$(retried)" = "$again"
}

# one_by_one on|off: super-packets, or the segments of a frame one by one
one_by_one() {
	local super=on
	[ "$1" = off ] || super=off
	h 1 ethtool -K eth0 gso $super tx-udp-segmentation $super && h 2 ethtool -K eth0 gro $super
}

# over VERSION ADDRESS [KEYWORD]...: h1 calls h2
over() {
	local v=$1 name="IPv${1#v}"
	check "$name: pib0" h 1 pibctl add pib0 netdev eth0 standalone peer "${@:2}" ecn on
	check "$name: pib1" h 2 pibctl add pib1 netdev eth0 standalone "${@:3}"
	check "$name: linked" linked
	check "$name: shown" uplink_has 1 "ecn == true"
	check "$name: not asked for at the other end" uplink_has 2 "ecn == false"
	check "$name: traffic" sniff and_keepalives talk 20
	check "$name: data may be marked" saw ".data.$v.tos | (.[\"2\"] > 0) and (keys - [\"0\", \"2\"] == [])"
	check "$name: control datagrams not" saw ".control.$v.tos | keys == [\"0\"]"
	marked "$name"
	check "$name: off" h 1 pibctl set pib0 ecn off
	check "$name: traffic while it is off" sniff talk 20
	check "$name: data may not be marked" saw ".data.$v.tos | keys == [\"0\"]"
}

# classes VERSION: service levels have a DSCP each, with ECN and without. DSCP 46 is 184 in the byte, 34 is 136.
classes() {
	local v=$1 name="IPv${1#v}"
	check "$name: service level 3 has DSCP 46" h 1 pibctl set pib0 dscp 3=46,0=34
	check "$name: shown" uplink_has 1 'dscp == "0=34,3=46"'
	check "$name: traffic on service level 3" sniff and_keepalives on_sl 3
	check "$name: has it" saw ".data.$v.tos | keys == [\"184\"]"
	check "$name: control datagrams do not" saw ".control.$v.tos | keys == [\"0\"]"
	check "$name: traffic on service level 0" sniff talk 20
	check "$name: has another" saw ".data.$v.tos | keys == [\"136\"]"
	check "$name: ECN in addition" h 1 pibctl set pib0 ecn on
	check "$name: traffic with both" sniff on_sl 3
	check "$name: both are there" saw ".data.$v.tos | (.[\"186\"] > 0) and (keys - [\"184\", \"186\"] == [])"
	check "$name: no DSCP any more" h 1 pibctl set pib0 dscp none ecn off
	check "$name: traffic without" sniff on_sl 3
	check "$name: nothing is there" saw ".data.$v.tos | keys == [\"0\"]"
}

# pieces: fragments that h2 has got
pieces() {
	h 2 awk '$1 == "Ip:" && !n { for (n = 2; $n != "ReasmReqds"; n++); next }
		$1 == "Ip:" { sum += $n } $1 == "Ip6ReasmReqds" { sum += $2 } END { print sum }' /proc/net/snmp /proc/net/snmp6
}
whole() { echo "$1 then $(pieces)"; [ "$(pieces)" = "$1" ]; }
# learned ADDRESS SOURCE MTU
learned() { ip -n h1 route get "$1" from "$2" oif eth0 | grep -q "mtu $3"; }
# narrow VERSION ADDRESS SOURCE [WHERE]: the router's way to h2 is narrower than the netdevs of both
narrow() {
	local v=$1 name="IPv${1#v}${4:+, $4}" before
	before=$(pieces)
	check "$name: a narrow way" ip -n r link set eth1 mtu 1280
	check "$name: traffic on it" talk 20
	check "$name: its MTU is learned" learned "$2" "$3" 1280
	check "$name: and kept to" sniff talk 20
	check "$name: no router may cut data up" saw ".data.$v | .count > 0 and .df == .count"
	check "$name: nothing was cut up" whole "$before"
	ip -n r link set eth1 mtu 1500
	ip -n h1 route flush cache
	ip -n h1 -6 route flush cache
}
by_source() { ip -n h1 route add table 100 10.79.0.0/24 via 10.77.0.101 && ip -n h1 rule add from 10.77.0.1 lookup 100; }
# locked: the user says what the MTU is, and it is wrong
locked() {
	local before
	before=$(pieces)
	check "an MTU that is locked" ip -n h1 route replace 10.79.0.0/24 via 10.77.0.101 mtu lock 1500
	ip -n r link set eth1 mtu 1280
	check "traffic by it" sniff talk 20
	check "routers cut up what they must" more "$(pieces)" "$before"
	ip -n r link set eth1 mtu 1500
	check "not locked" ip -n h1 route replace 10.79.0.0/24 via 10.77.0.101
}
gone() { h 1 pibctl del pib0 && h 2 pibctl del pib1; }

ktap_plan 98
mkdir -p /tmp/underlay
check "allpairs compiles" program allpairs /tmp/allpairs
routed_nets
check "two hosts, a router" sh -c "ip netns exec h1 ping -c 1 -W 5 10.79.0.2"
over v4 10.79.0.2
classes v4
narrow v4 10.79.0.2 10.77.0.1
check "a route by the source" by_source
narrow v4 10.79.0.2 10.77.0.1 "by the source"
ip -n h1 rule del from 10.77.0.1 lookup 100
locked
refuse "an HCA beside it that wants otherwise" "sends its data otherwise" h 1 pibctl add pib5 netdev eth0 ecn on
check "deleted" gone
over v6 fd79::2
classes v6
narrow v6 fd79::2 fd77::1
check "segments one by one" one_by_one on
h 1 pibctl set pib0 ecn on
marked "one by one"
check "segments together" one_by_one off
gone
ktap_end

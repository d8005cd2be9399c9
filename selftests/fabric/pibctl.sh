#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pibctl and rdma against the module: what they show, and what is refused and why.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap 'kill $(jobs -p) 2>/dev/null; h 1 pibctl del swt 2>/dev/null; hosts_clean' EXIT

ktap_plan 69
modprobe -r pib
hosts_make 2
check "the module loads by itself on pibctl add" pib_add 1
check "del" h 1 pibctl del pib0
modprobe -r pib
check "the module loads by itself on rdma link add" h 1 rdma link add pib0 type pib netdev eth0
check "rdma link shows the port" sh -c "rdma link show pib0/1 | grep -q 'state'"
check "rdma dev shows the device" sh -c "rdma dev show pib0 | grep -q 'node_type ca'"
check "rdma resource answers" rdma resource show qp link pib0/1
check "rdma statistic answers" rdma statistic show link pib0/1
check "ibv_devinfo shows InfiniBand" sh -c "ibv_devinfo -d pib0 -v | grep -q 'link_layer:.*InfiniBand'"
check "ibstat knows it" sh -c "ibstat pib0 | grep -q 'Link layer: InfiniBand'"
check "show names it" sh -c "ip netns exec h1 pibctl show | grep -q pib0"
check "show pib0 -j is JSON with its node GUID" sh -c "ip netns exec h1 pibctl -j show pib0 | jq -e '.. | .node_guid? // empty' | grep -q ."
for what in links peers counters uplinks objects; do
	check "show $what -j is JSON" sh -c "ip netns exec h1 pibctl -j show $what | jq -e ."
done
check "another namespace does not show it" sh -c "! ip netns exec h2 pibctl show | grep -q pib0"
refuse "name taken" "exist|taken|in use" h 1 pibctl add pib0 netdev eth0
refuse "name taken, by another namespace" "exist|taken|in use" h 2 pibctl add pib0 netdev eth0
refuse "no such netdev" "no such (net)?dev|netdev" h 1 pibctl add pib7 netdev nonesuch
refuse "no such object" "no .*pib9|not found|no such" h 1 pibctl del pib9
refuse "bad name" "name" h 1 pibctl add 'pi/b' netdev eth0
refuse "no permission" "permi|CAP_NET_ADMIN" h 1 setpriv --reuid 65534 --bounding-set=-all --inh-caps=-all --clear-groups pibctl add pib7 netdev eth0
# As nobody, who is root of a user and a network namespace that he has made, with a netdev of his own.
own_namespace() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --inh-caps=-all \
		unshare -Urn sh -ec "ip link add mine0 type dummy; ip link set mine0 up; $1"
}
check "nobody may have a namespace with a netdev" own_namespace "ip link show mine0"
refuse "no permission in it: add" "initial user namespace" own_namespace "pibctl add evil0 netdev mine0"
refuse "no permission in it: switch add" "initial user namespace" own_namespace "pibctl switch add evil1 ports 4"
refuse "bad peer address" "address|peer" h 1 pibctl add pib7 netdev eth0 peer not-an-address
on_loopback() { h 1 pibctl add pib7 netdev lo standalone && h 1 pibctl del pib7; }
check "an HCA on the loopback netdev" on_loopback
# under KIND: mine0 is a port of over0
under() { h 1 ip link add over0 type "$1" && h 1 ip link add mine0 type dummy && h 1 ip link set mine0 master over0; }
for kind in bridge bond; do
	check "a $kind" under $kind
	refuse "an HCA on a port of it" "port of a $kind" h 1 pibctl add pib7 netdev mine0
	h 1 ip link del over0
	h 1 ip link del mine0
done
# A netdev that becomes a port when an HCA is on it already: the log says so, and the HCA speaks again when it is one no more
# (linkdown.sh: its links are down meanwhile).
hellos() { h 1 pibctl -j show uplinks | jq '[.uplinks[] | select(.netdev == "mine0").counters.tx_datagrams] | add'; }
on_mine() { h 1 ip link add mine0 type dummy && h 1 ip link set mine0 up && h 1 pibctl add pib7 netdev mine0; }
speaks_more() { [ "$(hellos)" -gt "$1" ]; }
said_of() { dmesg | grep -q "mine0 is a port of over$1 now"; }
# A bridge takes a netdev that is up, a bond does not.
joins() {
	h 1 ip link add "over$1" type "$1" || return 1
	[ "$1" = bridge ] || h 1 ip link set mine0 down || return 1
	h 1 ip link set mine0 master "over$1" && h 1 ip link set mine0 up
}
leaves() { h 1 ip link set mine0 nomaster && h 1 ip link set mine0 up; }
for kind in bridge bond; do
	check "an HCA whose netdev is none's" on_mine
	check "speaks" wait_for 20 speaks_more 0
	check "the netdev becomes a port of a $kind" joins $kind
	check "the log says what that means" wait_for 10 said_of $kind
	count=$(hellos)
	check "it is one no more" leaves
	check "and the HCA speaks again" wait_for 20 speaks_more "$count"
	h 1 pibctl del pib7
	h 1 ip link del over$kind
	h 1 ip link del mine0
done
# A netdev that carries nothing: the HCA is made, and whoever made it is told why nobody is met.
silent() { local out; out=$("$@" 2>&1) && [ -z "$out" ] || { echo "$out"; return 1; }; }
# noted PATTERN COMMAND...: it succeeds, prints nothing and says this
noted() {
	local pattern=$1
	shift
	"$@" >/tmp/noted.out 2>/tmp/noted.err && [ ! -s /tmp/noted.out ] && grep -q -- "$pattern" /tmp/noted.err || { cat /tmp/noted.*; return 1; }
}
# uplink_is STATE: of eth0, as ip(8) has it
uplink_is() { h 1 pibctl -j show uplinks | jq -e --arg state "$1" '[.uplinks[] | select(.netdev == "eth0").state] == [$state]' || { h 1 pibctl show uplinks; return 1; }; }
check "a netdev that is up: no word" silent h 1 pibctl add pib7 netdev eth0
check "up: so is its uplink" uplink_is UP
h 1 pibctl del pib7
h 2 ip link set eth0 down
check "no carrier: added, and said" noted "HCA pib7 is added, but netdev eth0 has no carrier" h 1 pibctl add pib7 netdev eth0
check "no carrier: its uplink has none" uplink_is NO-CARRIER
h 1 pibctl del pib7
h 1 ip link set eth0 down
check "down: added, and said" noted "HCA pib7 is added, but netdev eth0 is down" h 1 pibctl add pib7 netdev eth0
check "down: so is its uplink" uplink_is DOWN
check "down: in words" sh -c "ip netns exec h1 pibctl show uplinks | grep -q '^uplink eth0 .*state DOWN'"
h 1 pibctl del pib7
h 1 ip link set eth0 up
h 2 ip link set eth0 up
check "an HCA without a netdev" silent h 1 pibctl add pib7 ports 2
cabled() { h 1 pibctl switch add swt ports 4 && h 1 pibctl link add pib7/2 swt/1 && h 1 pibctl switch del swt; }
check "it takes a cable" cabled
refuse "without a netdev: not standalone" "'standalone' needs 'netdev DEV'" h 1 pibctl add pib8 standalone
check "del of it" h 1 pibctl del pib7
check "switch add" h 1 pibctl switch add swt ports 4
refuse "switch name taken" "exist|taken|in use" h 1 pibctl switch add swt ports 4
refuse "too many ports" "254|ports" h 1 pibctl switch add swu ports 4000
# A user who knows the ids of a link needs not see its traffic to make packets up.
ids_are_told() { "$@" pibctl -j show peers | jq -e '[.peers[]] | length > 0 and all(has("local_id") and has("remote_id"))'; }
ids_are_kept() { "$@" pibctl -j show peers | jq -e '[.peers[]] | length > 0 and all((has("local_id") or has("remote_id")) | not)'; }
check "a link over UDP" h 1 pibctl link add swt/1 udp eth0 peer 10.77.0.2
check "its ids are told to root" ids_are_told h 1
check "and to nobody else" ids_are_kept h 1 setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --inh-caps=-all
# As nobody who is root of a user namespace, but of none of the network: he may look at this one, and listen.
as_own_root() {
	h 1 setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --inh-caps=-all unshare -Ur "$@"
}
looks() { as_own_root pibctl show | grep -q swt; }
check "root of a user namespace looks" looks
check "and is told no ids" ids_are_kept as_own_root
as_own_root pibctl monitor >/tmp/pibctl.heard 2>&1 &
heard() { h 1 pibctl switch add probe ports 1 && h 1 pibctl del probe && grep -q probe /tmp/pibctl.heard; }
check "and listens" wait_for 30 heard
refuse "but changes nothing: link set" "initial user namespace" as_own_root pibctl link set swt/1 down
refuse "link del" "initial user namespace" as_own_root pibctl link del swt/1
refuse "switch del" "initial user namespace" as_own_root pibctl switch del swt
check "the link is as it was" ids_are_told h 1
check "switch del" h 1 pibctl switch del swt
ktap_end

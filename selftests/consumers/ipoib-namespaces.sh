#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# IPoIB's interfaces in other network namespaces than the HCA: moved there and back, a child interface moved alone, a namespace that
# is deleted under them.
#
#	h1, SM	ib0, c1 ------ ib1, c2	h2
#				  h3, a namespace without a cable
set -u
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/../lib/stream.sh"
clean() {
	stream_clean
	ip netns del h3 2>/dev/null
}
trap clean EXIT
LAYOUT=netns
moved="IPoIB, network namespaces (ib_ipoib)"
CLUB=0x8001

ktap_plan 42
a=$(ipoib 1) b=$(ipoib 2)
echo "Default=0x7fff, ipoib : ALL=full; club=$CLUB, ipoib : ALL=full;" >/tmp/partitions.conf
hosts_make 2
for k in 1 2; do check "host $k: pibctl add" pib_add $k; done
sm_start 1 -P /tmp/partitions.conf
check "subnet up, both ports ACTIVE" wait_active 60
check "IPoIB" ipoib_up
third() { ip netns add h3 && ip -n h3 link set lo up; }
check "a third namespace" third

in_initial() { ip link show "$1"; }
in_host() { ip -n "h$1" link show "$2"; }
not_in_host() { ! in_host "$@"; }
# at K DEVICE ADDRESS: it is in host K, without an address of IPv4, until it gets this one
at() {
	in_host "$1" "$2" || return 1
	ip -n "h$1" -4 addr show dev "$2" | grep inet && return 1
	ip -n "h$1" addr add "$3/24" dev "$2" && ip -n "h$1" link set "$2" up
}
# to FROM K DEVICE ADDRESS
to() { ip -n "h$1" link set "$3" netns "h$2" && not_in_host "$1" "$3" && at "$2" "$3" "$4"; }
reached() { wait_for 60 h 1 ping -c 1 -W 1 "$1" || { h 1 ip neigh; return 1; }; }
# stream FROM K ADDRESS: one that ends with the same checksum
stream() {
	stream_start "$@" || return 1
	stream_moves && stream_whole && return
	stream_kill
	return 1
}
# rdma_cm FROM K ADDRESS: rping, whose data are compared
rdma_cm() {
	local server rc=0
	h "$2" timeout $((60 * ${PIB_SLOW:-1})) rping -s -a "$3" -C 20 -V >/tmp/rping.server 2>&1 & server=$!
	wait_for 20 listens "$2" || rc=1
	h "$1" timeout $((60 * ${PIB_SLOW:-1})) rping -c -a "$3" -C 20 -V >/tmp/rping.client 2>&1 || rc=1
	wait $server || rc=1
	[ $rc = 0 ] || cat /tmp/rping.client /tmp/rping.server
	return $rc
}
listens() { h "$1" rdma resource show cm_id | grep 'state LISTEN.*comm rping'; }
# carries NAME K ADDRESS: to host K
carries() {
	check "$1: ping" reached "$3"
	shown "$moved" kernel "$1: TCP, the same checksum" stream 1 "$2" "$3"
}

# ---- an interface moved, and back ----

check "host 2's interface moved into another namespace" to 2 3 "$b" "$(ib_addr 2)"
carries "moved" 3 "$(ib_addr 2)"
check "moved: TCP from it, the same checksum" stream 3 1 "$(ib_addr 1)"
shown "$moved" kernel "moved: rdma-cm by its address (rping)" rdma_cm 1 3 "$(ib_addr 2)"
connected() {
	local k dev
	for k in "1 $a" "3 $b"; do
		read -r k dev <<<"$k"
		h "$k" sh -c "echo $1 >/sys/class/net/$dev/mode" && h "$k" ip link set "$dev" mtu "$2" || return 1
	done
	wait_for 60 h 1 ping -c 1 -W 1 "${@:3}" "$(ib_addr 2)"
}
check "moved: connected mode" connected connected 65520 -M "do" -s 60000
carries "moved, connected mode" 3 "$(ib_addr 2)"
check "moved: datagram mode again" connected datagram 2044
check "moved back" to 3 2 "$b" "$(ib_addr 2)"
carries "moved back" 2 "$(ib_addr 2)"

# ---- a child interface alone ----

child() { h "$1" ip link add link "$(ipoib "$1")" name "c$1" type ipoib pkey $CLUB; }
for k in 1 2; do check "host $k: a child interface" child $k; done
check "host 1: its address" at 1 c1 10.79.0.1
check "host 2's is moved alone" to 2 3 c2 10.79.0.2
has_key() { ip -n h3 -d link show c2 | grep -E "ipoib pkey *$CLUB"; }
check "ip -d link: the P_Key" has_key
carries "a child interface moved alone" 3 10.79.0.2
check "a child interface moved alone: TCP from it, the same checksum" stream 3 1 10.79.0.1
check "its parent, which stayed: ping" reached "$(ib_addr 2)"
shown "$moved" kernel "the parent of a child interface that was moved: TCP, the same checksum" stream 1 2 "$(ib_addr 2)"
again_up() { ip -n h2 link set "$b" down && ip -n h2 link set "$b" up; }
check "the parent goes down and comes up" again_up
check "the child interface is reached again" reached 10.79.0.2

# ---- a namespace is deleted under them ----

check "the parent is moved, too" to 2 3 "$b" "$(ib_addr 2)"
check "it is reached" reached "$(ib_addr 2)"
check "the namespace is deleted" ip netns del h3
# The kernel takes a namespace apart when it comes to it, after others: it may take long.
both_back() { in_initial "$b" && in_initial c2; }
shown "$moved" kernel "a namespace is deleted: its interfaces are in the initial one" wait_for 120 both_back
taken() { ip link set "$1" netns h2 && at 2 "$1" "$2"; }
check "host 2 takes its interface" taken "$b" "$(ib_addr 2)"
check "and the child interface" taken c2 10.79.0.2
check "the child interface: ping" reached 10.79.0.2
carries "after its namespace was deleted" 2 "$(ib_addr 2)"

check "a third namespace again" third
check "the interface is moved into it" ip -n h2 link set "$b" netns h3
check "pibctl del at host 2" h 2 pibctl del pib1
both_gone() { ip -n h3 link show lo && ip -n h2 link show lo && not_in_host 3 "$b" && not_in_host 2 c2 && ! in_initial "$b" && ! in_initial c2; }
shown "$moved" kernel "the HCA is deleted: its interfaces are nowhere" wait_for 20 both_gone
ktap_end

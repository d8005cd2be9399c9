#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# TCP over IPoIB goes on, and loses nothing, while the fabric changes under it: OpenSM is restarted, ports get other LIDs, another
# subnet prefix, a cable is pulled and put back.
#
#	h1, SM  ib0 ------ ib1  h2
set -u
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/../lib/stream.sh"
trap stream_clean EXIT
LAYOUT=netns
changes="IPoIB, a fabric that changes (ib_ipoib)"
sm=/tmp/opensm.1

ktap_plan 59
subnet_with_ipoib

# sm_again [OPTION]...: another OpenSM, and both ports as it wants them
sm_again() {
	rm -f $sm/opensm.log
	sm_start 1 "$@"
	wait_for 60 sm_log_has 1 "SUBNET UP" || { tail -n 20 $sm/opensm.log; return 1; }
}
lid() { echo $(($(port_attr "$1" lid))); }
lids_are() { [ "$(lid 1) $(lid 2)" = "$1 $2" ]; }
guid() { port_attr "$1" gids/0 | tr -d : | tail -c 17; }
pings() { wait_for 60 h 1 ping -c 1 -W 1 "$@" "$(ib_addr 2)" || { state; return 1; }; }
# state: what a failure may come from
state() {
	local k
	for k in 1 2; do
		echo "host $k: LID $(lid $k) GID $(port_attr $k gids/0) $(port_attr $k state)"
		h $k ip -s neigh show dev "$(ipoib $k)"
		h $k ip -s link show "$(ipoib $k)" | tail -n 4
	done
	tail -n 8 $sm/opensm.log
	dmesg | tail -n 8
}
# goes_on NAME: the stream, after what was done, and new connections
goes_on() {
	check "$1: the stream goes on" stream_moves
	check "$1: ping" pings
}
# stream NAME: begins again, before something is done to it
stream() {
	stream_start 1 2 "$(ib_addr 2)"
	check "$1: a stream" stream_moves
}
# ends NAME WHAT: a row
ends() { shown "$changes" kernel "$1" stream_whole; }

# ---- OpenSM ----

members() { h 1 saquery -C pib0 --smkey 1 MCMR 2>/dev/null | grep -c "MGID.*ff12:401b:ffff::ffff:ffff$"; }
both_members() { [ "$(members)" = 2 ]; }
stream "OpenSM"
check "OpenSM: both are in the broadcast group" both_members
check "OpenSM: it ends" sm_end h 1
check "OpenSM: without it the stream goes on" stream_moves
check "OpenSM: another one" sm_again
check "OpenSM: both join anew" wait_for 30 both_members
goes_on "OpenSM"
ends "OpenSM is restarted under a TCP stream: the same checksum"

# ---- LIDs ----

# relabel LID LID: what OpenSM keeps for both ports, and another OpenSM that reads it
relabel() {
	sm_end h 1 || return 1
	printf '0x%s 0x%04x 0x%04x\n\n' "$(guid 1)" "$1" "$1" "$(guid 2)" "$2" "$2" >$sm/guid2lid
	sm_again && wait_for 30 lids_are "$1" "$2" || { echo "LIDs $(lid 1) and $(lid 2)"; cat $sm/guid2lid; return 1; }
}
stream "LIDs"
check "LIDs: both others" relabel 51 52
goes_on "LIDs"
check "LIDs: the far one, again" relabel 51 53
goes_on "LIDs, the far one"
check "LIDs: exchanged" relabel 53 51
goes_on "LIDs, exchanged"
ends "ports get other LIDs under a TCP stream: the same checksum"

# ---- subnet prefix: all GIDs ----

b=$(ipoib 2)
colons() { sed 's/../&:/g; s/:$//'; }
PREFIX=fec0:0000:0000:1234
prefix() {
	sm_end h 1 || return 1
	echo "subnet_prefix 0x${PREFIX//:/}" >/tmp/prefix.conf
	sm_again -F /tmp/prefix.conf && wait_for 30 prefix_is 1 && wait_for 30 prefix_is 2
}
prefix_is() { [[ $(port_attr "$1" gids/0) = $PREFIX:* ]]; }
in_address() { h 2 cat "/sys/class/net/$b/address" | grep "$(colons <<<"${PREFIX//:/}")"; }
stream "subnet prefix"
check "subnet prefix: another" prefix
check "subnet prefix: the interface's address has it" wait_for 30 in_address
goes_on "subnet prefix"
ends "all GIDs get another subnet prefix under a TCP stream: the same checksum"

# ---- cables ----

no_carrier() { h 2 ip link show "$b" | grep NO-CARRIER; }
# pulled NAME SEEN DOWN UP: commands; the cable is out until SEEN
pulled() {
	stream "$1"
	check "$1: out" eval "$3"
	check "$1: that is seen" wait_for 30 eval "$2"
	check "$1: in" eval "$4"
	goes_on "$1"
	ends "$1 is pulled and put back under a TCP stream: the same checksum"
}
cables() {
	pulled "$1the InfiniBand cable" no_carrier "h 2 pibctl link set pib1/1 down" "h 2 pibctl link set pib1/1 up"
	pulled "$1the Ethernet cable" "trunk_is false" "h 2 ip link set eth0 down" "h 2 ip link set eth0 up"
}
cables ""
connected() {
	local k dev
	for k in 1 2; do
		dev=$(ipoib $k)
		h $k sh -c "echo connected >/sys/class/net/$dev/mode" && h $k ip link set "$dev" mtu 65520 || return 1
	done
	pings -s 60000
}
check "connected mode" connected
cables "connected mode, "
ktap_end

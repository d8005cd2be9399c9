#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Child interfaces of IPoIB in a partition of OpenSM's partition file, whose MTU is 4092: full and limited members, who may talk
# to whom, and members that change while the interfaces are up.
#
#	h1, SM	ib0, c1	full ------- limited	ib1, c2	h2
#			     \	   /
#			     limited	ib2, c3	h3
set -u
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/../lib/stream.sh"
trap stream_clean EXIT
LAYOUT=netns
children="IPoIB, child interfaces of partitions (ib_ipoib)"
mtus="IPoIB, MTUs (ib_ipoib)"
CLUB=0x8001

guid() { echo "0x$(port_attr "$1" gids/0 | tr -d : | tail -c 17)"; }
# club LEVEL LEVEL LEVEL: what the partition file says of the three hosts from now on
club() {
	local k members=()
	for k in 1 2 3; do members+=("$(guid $k)=${!k}"); done
	echo "Default=0x7fff, ipoib, mtu=4 : ALL=full; club=$CLUB, ipoib, mtu=5 : $(IFS=,; echo "${members[*]}");" >/tmp/partitions.conf
}
reread() { h 1 pkill -HUP -x opensm; }
keys() { cat "/sys/class/infiniband/$(dev "$1")/ports/1/pkeys/"{0,1} | paste -sd' '; }
keys_are() { [ "$(keys "$1")" = "$2" ]; }

ktap_plan 42
hosts_make 3
for k in 1 2 3; do check "host $k: pibctl add" pib_add $k; done
club full limited limited
sm_start 1 -P /tmp/partitions.conf
check "subnet up, three ports ACTIVE" wait_active 60
check "IPoIB" ipoib_up
check "the full member's P_Keys" wait_for 30 keys_are 1 "0xffff 0x8001"
for k in 2 3; do check "host $k: a limited member's" wait_for 30 keys_are $k "0xffff 0x0001"; done

# child K: cK, with an address in 10.79.0.0/24
child() { h "$1" ip link add link "$(ipoib "$1")" name "c$1" type ipoib pkey $CLUB && h "$1" ip addr add "10.79.0.$1/24" dev "c$1" && h "$1" ip link set "c$1" up; }
pings() { h "$1" ping -c 1 -W 1 "10.79.0.$2" "${@:3}"; }
may() { wait_for 30 pings "$@" || pings "$@"; }
silent() { local out; ! out=$(h "$1" ping -c 3 -i 0.3 -W 1 "10.79.0.$2") && grep "100% packet loss" <<<"$out"; }
for k in 1 2 3; do check "host $k: a child interface" child $k; done
shown "$children" kernel "a full and a limited member of OpenSM's partition file talk" may 1 2
check "the full and the other limited member talk" may 3 1
shown "$children" kernel "two limited members do not" silent 2 3
in_kernel() { h 1 ip -d link show c1 | grep -E "ipoib pkey *$CLUB"; }
check "ip -d link: the P_Key" in_kernel

# ---- MTUs ----

mtu_is() { [ "$(h "$1" cat "/sys/class/net/$2/mtu")" = "$3" ]; }
has_mtu() { wait_for 20 mtu_is "$@" || { h "$1" ip link show "$2"; return 1; }; }
unfragmented() { h 1 ping -c 2 -M "do" -s "$1" "$2"; }
check "MTU of the default partition: 2044" has_mtu 1 "$(ipoib 1)" 2044
check "MTU of the partition with mtu=5: 4092" has_mtu 1 c1 4092
check "and of a limited member's child" has_mtu 2 c2 4092
shown "$mtus" kernel "2044: a ping that fills it, unfragmented" unfragmented 2016 "$(ib_addr 2)"
shown "$mtus" kernel "4092 (OpenSM's mtu=5): a ping that fills it, unfragmented" unfragmented 4064 10.79.0.2
refuse "4092: a ping that does not fit" "too long" unfragmented 4065 10.79.0.2
stream_start 1 2 10.79.0.2
check "4092: a TCP stream" stream_moves
check "4092: the same checksum" stream_whole

# ---- members that change while the interfaces are up, and a stream goes on ----

stream_start 1 2 10.79.0.2
check "a stream from the full to a limited member" stream_moves
club full limited full
check "OpenSM reads the file again: host 3 is a full member" reread
check "its P_Keys" wait_for 30 keys_are 3 "0xffff 0x8001"
check "the stream goes on" stream_moves
shown "$children" kernel "a limited member becomes a full one while it is up: both talk" may 2 3
club full limited limited
check "host 3 is a limited member again" reread
check "its P_Keys again" wait_for 30 keys_are 3 "0xffff 0x0001"
check "and does not reach the other one" silent 3 2
check "but the full one" may 3 1
shown "$children" kernel "the file is read again under a TCP stream: the same checksum" stream_whole

# ---- children in connected mode ----

connected() { h "$1" ip link set "c$1" type ipoib mode connected && h "$1" ip link set "c$1" mtu 65520 && h "$1" ip neigh flush dev "c$1"; }
for k in 1 2; do check "host $k: its child is in connected mode" connected $k; done
filled() { unfragmented 65492 10.79.0.2; }
shown "$children" kernel "connected mode, 65520: a ping that fills it, unfragmented" wait_for 30 filled
stream_start 1 2 10.79.0.2
check "connected mode: a TCP stream" stream_moves
shown "$children" kernel "connected mode: a TCP stream, the same checksum" stream_whole

alone() { echo "Default=0x7fff, ipoib, mtu=4 : ALL=full; club=$CLUB, ipoib, mtu=5 : $(guid 1)=full, $(guid 3)=limited;" >/tmp/partitions.conf; reread; }
check "host 2 is no member any more" alone
check "its P_Key is gone" wait_for 30 keys_are 2 "0xffff 0x0000"
check "nobody reaches it" silent 1 2

check "a child interface is deleted" h 1 ip link del c1
ktap_end

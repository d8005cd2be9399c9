#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Hosts with several addresses, and addresses that go and come. A host answers from the address that was asked: h1's firewall
# lets nothing else in. Data goes on in the same session when an address of either end is exchanged for another.
#
#	h1 eth0 10.77.0.1, fd77::1 ---- 10.77.0.2 and .22, fd77::2 and ::22 eth0 h2
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/topology.sh"
trap 'traffic_clean; hosts_clean' EXIT

LAYOUT=netns
PORT=18514

# address K FAMILY add|del|change ADDRESS [WORD]...: of eth0
address() {
	local k=$1 family=$2 length=24
	[ "$family" = -4 ] || length=64
	ip -n "h$k" "$family" addr "$3" "$4/$length" dev eth0 "${@:5}"
}
# exchange K FAMILY OLD NEW
exchange() { address "$1" "$2" add "$4" && address "$1" "$2" del "$3"; }
endpoint() { case $1 in *:*) echo "[$1]:$PORT" ;; *) echo "$1:$PORT" ;; esac; }

# peer K JQ: of the only link over UDP of hK that is up
peer() { h "$1" pibctl -j show peers | jq -er "[.peers[] | select(.up)] | if length == 1 then .[0] | $2 else empty end"; }
# speaks_from K ADDRESS: hK does, by what it says itself and by what the other host sees
speaks_from() {
	[ "$(peer "$1" .own_address)" = "$(endpoint "$2")" ] && [ "$(peer $((3 - $1)) .address)" = "$(endpoint "$2")" ]
}
text_says() { h "$1" pibctl show links | tr -d '"' | grep -F "own_address $(endpoint "$2")"; }
session() { peer 1 .restarts; peer 2 .restarts; }
moves() { peer "$1" ".moves >= $2"; }

# Answers alone come in to h1, and of UDP nothing else.
firewall() {
	h 1 nft add table inet t && h 1 nft add chain inet t in '{ type filter hook input priority 0; }' &&
		h 1 nft add rule inet t in meta l4proto udp ct state new drop
}
no_firewall() { h 1 nft delete table inet t; }

# joined ADDRESS: h1 calls h2 there. Ports are ACTIVE before there is a link between them.
is_joined() { peer 1 .up && peer 2 .up; }
joined() {
	pib_add 2 standalone || return
	pib_add 1 standalone peer "$1" || return
	wait_active 30 && wait_for 30 is_joined || { h 1 pibctl show peers; h 1 pibctl -j show uplinks; h 2 pibctl show peers; return 1; }
}
parted() { h 1 pibctl del pib0 && h 2 pibctl del pib1; }
# asked FAMILY ADDRESS: of h2, not the one that it speaks from by itself
asked() {
	check "$1: h2 speaks from another address by itself" not_preferred "$2" "$3"
	check "$1: h1 calls h2" joined "$2"
	check "$1: h2 answers from there" wait_for 10 speaks_from 2 "$2"
	check "$1: the text says so" text_says 2 "$2"
	check "$1: data" pair 1 2 60 ibv_rc_pingpong
	check "$1: nothing comes from elsewhere" none_counted rx_wrong_address
	check "$1: both go" parted
}

# not_preferred ADDRESS OTHER: h2 would speak to host OTHER from another one
not_preferred() { ! h 2 ip route get "$2" | grep "src $1 "; }

received() { cat "/sys/class/infiniband/$1/ports/1/counters/port_rcv_data"; }
received_more() { [ "$(received pib0)" -gt "$1" ] && [ "$(received pib1)" -gt "$2" ]; }
# goes_on: data still arrives at both ends
goes_on() { wait_for 60 received_more $(($(received pib0) + 20000)) $(($(received pib1) + 20000)); }
# change NAME COMMAND...: while data goes, and it goes on afterwards
change() {
	local name=$1
	shift
	check "$name" "$@"
	check "$name: data goes on" goes_on
}

# exchanged FAMILY PREFIX: addresses of both ends, one after the other, under traffic
exchanged() {
	local family=$1 at=$2 before
	check "$at: h1 calls h2" joined "${at}22"
	traffic_start -s 20000 pib0 pib1
	check "$at: traffic runs" traffic_runs
	before=$(session)
	change "$at: another address of the caller" exchange 1 "$family" "${at}1" "${at}11"
	check "$at: h1 speaks from there" wait_for 10 speaks_from 1 "${at}11"
	change "$at: another address of the host that was called" exchange 2 "$family" "${at}22" "${at}23"
	check "$at: h2 speaks from an address that it has" wait_for 10 eval "speaks_from 2 ${at}2 || speaks_from 2 ${at}23"
	traffic_end
	check "$at: all data arrived whole" traffic_whole
	check "$at: in one session" [ "$(session)" = "$before" ]
	check "$at: each end has counted it" eval 'moves 1 2 && moves 2 2'
	check "$at: the log says so" log_says "own address ${at}1 is gone" "moved to ${at}11" "own address ${at}22 is gone"
	exchange 1 "$family" "${at}11" "${at}1"
	exchange 2 "$family" "${at}23" "${at}22"
	check "$at: the caller's address is back" wait_for 10 speaks_from 1 "${at}1"
}
log_says() {
	local what
	for what; do dmesg | grep -F "pib: " | grep -F "$what" || { echo "not: $what"; dmesg | tail -n 20; return 1; }; done
}
# A session that was silent for long enough to be lost
calls() { h 1 pibctl -j show peers | jq -e --arg at "$(endpoint "$1")" '[.peers[].address] == [$at]'; }
flap() {
	speaks_from 2 10.77.0.2 && ip -n h1 link set eth0 down || return
	wait_for 20 calls 10.77.0.22 || { h 1 pibctl show peers; return 1; }
	ip -n h1 link set eth0 up && address 1 -6 add fd77::1 && wait_for 30 speaks_from 2 10.77.0.22
}

temporary() { ip -n h1 -6 addr show dev eth0 temporary | sed -n 's,.*inet6 \(fd78[^/]*\)/.*,\1,p' | grep .; }
has_temporary() {
	h 1 sysctl -qw net.ipv6.conf.eth0.use_tempaddr=2 && address 1 -6 add fd78::1 mngtmpaddr && address 2 -6 add fd78::2 &&
		wait_for 10 temporary
}
# The stack's own choice, without which the next lines show nothing
is_preferred() { ip -n h1 route get fd78::2 | grep "src $(temporary)" || { ip -n h1 route get fd78::2; ip -n h1 addr; return 1; }; }
stays() { sleep 2; speaks_from 1 "$1"; }
deprecate() { address 1 -6 add fd78::11 && address 1 -6 change fd78::1 preferred_lft 0; }

no_links() { ! peer 1 . && ! peer 2 .; }
renumbered() {
	ip -n h1 addr del 10.77.0.1/24 dev eth0
	wait_for 20 no_links || return
	ip -n h1 addr add 10.77.0.31/24 dev eth0
	wait_for 20 speaks_from 1 10.77.0.31 && wait_for 20 pair 2 1 30 ibv_rc_pingpong
}

ktap_plan 72
hosts_make 2
for k in 1 2; do h $k sysctl -qw net.ipv4.conf.all.promote_secondaries=1 net.ipv4.conf.eth0.promote_secondaries=1; done
modprobe pib
echo "module pib +p" >/sys/kernel/debug/dynamic_debug/control
address 2 -4 add 10.77.0.22
address 2 -6 add fd77::22
check "traffic generator compiles" allpairs_build
check "a firewall" firewall
asked IPv4 10.77.0.22 10.77.0.1
asked IPv6 fd77::2 fd77::1
check "no firewall" no_firewall

exchanged -4 10.77.0.
check "after a loss h2 is called where the user says" flap
check "both go" parted
exchanged -6 fd77::
check "both go" parted

check "h1 has a temporary address" has_temporary
check "the stack prefers it" is_preferred
check "h1 calls h2" joined fd78::2
check "h1 speaks from its lasting address" wait_for 10 speaks_from 1 fd78::1
before=$(session)
check "the lasting address is deprecated" deprecate
check "h1 goes on from there" stays fd78::1
check "it goes" address 1 -6 del fd78::1
check "h1 speaks from the next one" wait_for 10 speaks_from 1 fd78::11
check "in the same session" [ "$(session)" = "$before" ]
check "data" pair 1 2 60 ibv_rc_pingpong
check "both go" parted

# A trunk knows its peer by IPv4 and IPv6, by the address of the link there. When the addresses of one are gone it is there again by the other.
by() { [[ $(peer 1 .address) = "$1"* ]] && [[ $(peer 2 .address) = "$1"* ]]; }
by_either() { by 10.77.0. || by "["; }
lose() { for k in 1 2; do ip -n h$k "$1" addr flush dev eth0 || return; done; }
of_link() { ip -n "h$1" -6 -j addr show dev eth0 scope link | jq -er '[.[].addr_info[].local // empty][0]'; }
other_protocol() {
	local link1 link2
	link1=$(of_link 1) link2=$(of_link 2)
	check "two host switches that find each other" eval 'pib_add 1 standalone && pib_add 2 standalone && wait_for 30 by_either'
	check "IPv6 is gone" lose -6
	check "the trunk is one by IPv4" wait_for 30 by 10.77.0.
	check "data passes" wait_for 60 pair 2 1 20 ibv_rc_pingpong
	check "IPv6 is back" eval "address 1 -6 add $link1 nodad && address 2 -6 add $link2 nodad"
	check "IPv4 is gone" lose -4
	check "the trunk is one by IPv6" wait_for 60 by "["
	hosts_side_net
	check "data passes" wait_for 60 pair 2 1 20 ibv_rc_pingpong
	for k in 1 2; do ip -n h$k link del side$k 2>/dev/null; done
	check "IPv4 is back, and IPv6 gone" eval 'address 1 -4 add 10.77.0.1 && address 2 -4 add 10.77.0.2 && lose -6'
	check "the trunk is one by IPv4 again" wait_for 60 by 10.77.0.
	check "data passes" wait_for 60 pair 2 1 20 ibv_rc_pingpong
	check "both go" parted
}
other_protocol

for k in 1 2; do h $k sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1; done
check "two host switches that find each other" eval 'pib_add 1 standalone && pib_add 2 standalone && wait_for 30 peer 1 .up'
check "an address goes, the link with it; another one comes, the link with it" renumbered
check "both go" parted
ktap_end

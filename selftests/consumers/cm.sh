#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# rdma-cm between two hosts: the programs of rdma-core by IPv4, IPv6 and AF_IB, many connections, and sockets over
# RDMA under a program that knows nothing of them.
#
#	vm/run --hosts 2 --packages ibacm ... consumers/cm.sh [CONNECTIONS]
set -u
here=$(dirname "$0")
. "$here/lib.sh"
connections=${1:-1000}
utils=rdmacm-utils

ktap_plan 34
subnet_with_ipoib
for k in 1 2; do h $k ip addr add fd78::$k/64 dev ib0 nodad; done
check "IPoIB: IPv6" wait_for 30 ping -c1 -W1 fd78::2
to=$(ib_addr 2)
gid() { port_attr "$1" gids/0; }

pair_of() { both "$1" "${@:3}" -- "${@:3}" -s "$2"; }
rping_() { both 60 rping -s -a "$1" "${@:2}" -- rping -c -a "$1" "${@:2}"; }
shown rping $utils "IPv4, 60000 bytes, contents compared" rping_ "$to" -C 20 -S 60000 -V
shown rping $utils "IPv6, contents compared" rping_ fd78::2 -C 20 -V
shown ucmatose $utils "4 connections, 100 messages each" pair_of 60 "$to" ucmatose -c 4 -C 100 -S 4096
af_ib() { both 60 ucmatose -f gid -P ib -b "$(gid 2)" -C 10 -- ucmatose -f gid -P ib -s "$(gid 2)" -C 10; }
shown ucmatose $utils "AF_IB" af_ib
shown udaddy $utils "UDP port space" pair_of 60 "$to" udaddy -c 4 -C 50
shown udaddy $utils "IPoIB port space" pair_of 60 "$to" udaddy -p 0x0002 -c 2 -C 20
shown rdma_server $utils "with rdma_client" both 30 rdma_server -- rdma_client -s "$to"
shown rdma_xserver $utils "RC" both 30 rdma_xserver -c r -- rdma_xclient -c r -s "$to"
shown rdma_xserver $utils "XRC" both 30 rdma_xserver -c x -- rdma_xclient -c x -s "$to"

# The first messages of a new sender may be lost, until the switches know the group: it sends more than are waited for.
mckey_() {
	local pid
	h 2 timeout $((60 * ${PIB_SLOW:-1})) mckey -b "$1" "$3" "$4" -C 10 >/tmp/server 2>&1 & pid=$!
	sleep $((4 * ${PIB_SLOW:-1}))
	timeout $((60 * ${PIB_SLOW:-1})) mckey -b "$2" "$3" "$4" -s -C 100 >/tmp/client 2>&1 || { cat /tmp/client; return 1; }
	wait $pid || { cat /tmp/server; return 1; }
}
shown mckey $utils "multicast, IPv4" mckey_ "$to" "$(ib_addr 1)" -m 239.1.2.3
shown mckey $utils "multicast, IPv6" mckey_ fd78::2 fd78::1 -m ff1e::77
shown mckey $utils "multicast, a GID of its own" mckey_ "$to" "$(ib_addr 1)" -M ff15::77

timed_connections() {
	both 300 cmtime -c "$connections" -b "$to" -- cmtime -c "$connections" -s "$to" || return 1
	awk '/^ *connect/' /tmp/client | head -n 1 | tr -s ' ' | sed 's/^ //' >/tmp/figure
	[ -s /tmp/figure ] || { cat /tmp/client; return 1; }
}
shown cmtime $utils "$connections connections at once" timed_connections
# no_more K OBJECT PATTERN: none on host K, and the question was answered
no_more() {
	local list
	list=$(h "$1" rdma resource show "$2") || return 1
	! grep "$3" <<<"$list"
}
# The lists that no_more finds empty have entries while there is a connection.
lists() { h "$1" rdma resource show "$2" | grep "$3"; }
while_connected() {
	local pid k rc=0
	rping_ "$to" -C 100000000 >/dev/null 2>&1 & pid=$!
	for k in 1 2; do
		wait_for 30 lists $k qp "type RC" && wait_for 30 lists $k cm_id "comm rping" || rc=1
		[ $rc = 0 ] || h $k rdma resource show
	done
	for k in 1 2; do h $k pkill -x rping; done
	wait $pid
	return $rc
}
check "a connection is seen on both hosts" while_connected
for k in 1 2; do
	check "host $k: no connected QP is left" wait_for 20 no_more $k qp "type RC"
	check "host $k: no connection ID of cmtime is left" wait_for 20 no_more $k cm_id "comm cmtime"
done

copied() {
	head -c 8M /dev/urandom >/tmp/sent
	forever=1 both 120 rcopy -- rcopy /tmp/sent "$to:/tmp/got" || return 1
	[ "$(h 2 sha256sum /tmp/got | cut -d' ' -f1)" = "$(sha256sum </tmp/sent | cut -d' ' -f1)" ]
}
shown rcopy $utils "8 MiB, the same checksum" copied
# Not -T a: its client takes the hang-up behind the last data for an error, if it comes before the client has polled.
for way in b n r v; do
	shown rstream $utils "-T $way" pair_of 120 "$to" rstream -I 20 -C 20 -S 4096 -T $way
done
shown rstream $utils "a server that forks" pair_of 120 "$to" rstream -I 20 -C 20 -S 4096 -T f
shown riostream $utils "contents compared" pair_of 120 "$to" riostream -I 100 -C 4 -S 16384 -T v
pong() { forever=1 both 120 udpong -b "$to" -- udpong -b "$(ib_addr 1)" -s "$to" -C 100 -S 1000 -T e; }
shown udpong $utils "echo" pong

# Sockets over RDMA under a program that was written for TCP. Where these do not work librspreload falls back to TCP
# without a word; IPoIB in datagram mode makes no RDMA WRITE.
preload=/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so
writes_received() { port_attr 1 hw_counters/rx_write_requests; }
fetched() {
	local before k
	for k in 1 2; do h $k test -e $preload || { echo "host $k: no $preload"; return 1; }; done
	gcc -O1 -Wall -o /tmp/plain_tcp "$here/plain_tcp.c" || return 1
	h 2 sh -c "cat >/tmp/plain_tcp && chmod +x /tmp/plain_tcp" </tmp/plain_tcp || return 1
	h 2 sh -c "head -c 8M /dev/urandom >/tmp/served"
	before=$(writes_received) || return 1
	both 90 env LD_PRELOAD=$preload /tmp/plain_tcp serve "$to" /tmp/served -- \
		env LD_PRELOAD=$preload /tmp/plain_tcp fetch "$to" /tmp/got || return 1
	[ "$(h 2 sha256sum /tmp/served | cut -d' ' -f1)" = "$(sha256sum </tmp/got | cut -d' ' -f1)" ] || return 1
	[ "$(writes_received)" -gt "$before" ] || { echo "no RDMA WRITE has arrived"; return 1; }
}
shown "librspreload" librdmacm1t64 "a program for TCP, 8 MiB, the same checksum" fetched

# ibacm answers for addresses and routes.
acm() {
	local k
	for k in 1 2; do h $k sh -c 'mkdir -p /run/ibacm; ibacm >/tmp/ibacm.log 2>&1 & sleep 2'; done
	wait_for 60 resolved || { cat /tmp/acme /tmp/ibacm.log; return 1; }
	for k in 1 2; do h $k pkill -x ibacm; done
}
resolved() { timeout 20 ib_acme -f i -d "$to" -v >/tmp/acme 2>&1 && grep -q "SA verification: success" /tmp/acme; }
shown ibacm ibacm "ib_acme: a route by IP address, which the SA confirms" acm
check "pib can be unloaded on both" all_unloaded
ktap_end

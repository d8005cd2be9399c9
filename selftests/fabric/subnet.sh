#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Two hosts, an unmodified OpenSM, and what a subnet must then show and carry.
# PIB_V6ONLY=1: over IPv6 alone. In the machines layout (vm/run --hosts 2) the same between machines.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap hosts_clean EXIT

ktap_plan 30
hosts_make 2
check "host 1: pibctl add" pib_add 1
check "host 2: pibctl add" pib_add 2

link_layer() { [ "$(port_attr "$1" link_layer)" = InfiniBand ]; }
check "link layer is InfiniBand" link_layer 1
check "ports leave Down without an SM" wait_for 10 port_is 1 INIT
trunk_up() { h 1 pibctl -j show links | jq -e '.links[] | select(.up == true)'; }
check "trunk between the hosts comes up" wait_for 10 trunk_up
check "opensm starts" sm_start 1
check "SUBNET UP" wait_for 60 sm_log_has 1 "SUBNET UP"
check "both ports ACTIVE" wait_active 30

lids_differ() {
	local a b
	a=$(port_attr 1 lid) b=$(port_attr 2 lid)
	echo "$a $b"
	[ $((a)) != 0 ] && [ $((b)) != 0 ] && [ "$a" != "$b" ]
}
check "LIDs given and different" lids_differ

discover() {
	h 1 ibnetdiscover -C "$(dev 1)" >/tmp/discover 2>&1
	cat /tmp/discover
	[ "$(grep -c ^Ca /tmp/discover)" = 2 ] && [ "$(grep -c ^Switch /tmp/discover)" = 2 ]
}
check "ibnetdiscover lists 2 HCAs and 2 switches" discover

sa() { h 2 saquery -C "$(dev 2)" NR | grep -c NodeRecord | grep -qx 4; }
check "saquery from the other host answers" sa
desc() {
	local want got
	want=$(h 2 cat "/sys/class/infiniband/$(dev 2)/node_desc")
	got=$(h 1 smpquery -C "$(dev 1)" nodedesc $(($(port_attr 2 lid))))
	echo "want '$want', got '$got'"
	[ -n "$want" ] && [[ $got == *"$want"* ]]
}
check "smpquery nodedesc of the far HCA" desc
ibping_ok() {
	h 2 ibping -C "$(dev 2)" -S & local p=$!
	sleep 0.5
	h 1 ibping -C "$(dev 1)" -c 5 -f $(($(port_attr 2 lid))) | grep -q " 0% packet loss"
	local rc=$?
	kill $p 2>/dev/null
	h 2 pkill -x ibping
	wait $p 2>/dev/null
	return $rc
}
check "ibping" ibping_ok

check "ibv_rc_pingpong" pair 1 2 60 ibv_rc_pingpong -g 0
check "ibv_rc_pingpong with events" pair 1 2 60 ibv_rc_pingpong -e
check "ibv_ud_pingpong" pair 1 2 60 ibv_ud_pingpong
for t in ib_write_bw ib_read_bw ib_send_bw ib_atomic_bw ib_write_lat ib_read_lat ib_send_lat; do
	check "$t" pair 1 2 100 $t -n 500 -F
done
# There are 512 receives: a receiver that stands still loses none of so many.
check "ib_send_bw UD" pair 1 2 100 ib_send_bw -c UD -s 1024 -n 500 -F

# data K Xmit|Rcv: of the port of host K, in words of 4 bytes
data() { h "$1" perfquery -C "$(dev "$1")" -x | sed -n "s/^Port$2Data:\.*//p"; }
# 200 writes of 64 KiB by host 2: what they add to both ends. A packet that is lost is sent again: no more comes than was
# sent.
counted() {
	local sent received words=$((200 * 65536 / 4))
	sent=$(data 2 Xmit) received=$(data 1 Rcv)
	pair 1 2 60 ib_write_bw -n 200 -F -s 65536 || return 1
	sent=$(($(data 2 Xmit) - sent)) received=$(($(data 1 Rcv) - received))
	echo "$words words written: $sent sent, $received received"
	[ $received -ge $words ] && [ $received -le $((sent + words / 10)) ]
}
check "perfquery counts the traffic at both ends" counted

ipoib_up() {
	local k dev
	for k in 1 2; do
		dev=$(ipoib "$k")
		wait_for 10 ip link show "$dev" || h "$k" ip link show "$dev" || return 1
		[ $LAYOUT = machines ] || ip link set "$dev" netns "h$k" || return 1
		h "$k" ip addr add "10.78.0.$k/24" dev "$dev" && h "$k" ip link set "$dev" up || return 1
	done
	wait_for 60 h 1 ping -c1 -W1 10.78.0.2
}
check "IPoIB interfaces come up" ipoib_up
check "ping over IPoIB, no loss" h 1 sh -c "ping -c 20 -i 0.1 10.78.0.2 | grep ' 0% packet loss'"
check "ping over IPoIB, 2000 bytes" h 1 sh -c "ping -c 5 -i 0.1 -s 2000 10.78.0.2 | grep ' 0% packet loss'"

# A multicast without a GRH has no group (10.5), though IPoIB is in one of that LID. (Counters are in the first namespace's sysfs.)
dropped() { cat "/sys/class/infiniband/$(dev 1)/ports/1/hw_counters/rx_bad_path"; }
stripped() {
	local before pid
	before=$(dropped)
	h 2 timeout $((90 * ${PIB_SLOW:-1})) python3 "$here/stripped.py" eth0 & pid=$!
	while kill -0 $pid 2>/dev/null; do
		h 2 ip neigh flush dev "$(ipoib 2)"
		h 2 ping -c 1 -W 1 10.78.0.1
	done
	wait $pid || return
	wait_for 10 is_more "$before"
}
is_more() { [ "$(dropped)" -gt "$1" ]; }
check "a multicast without a GRH is dropped, and counted" stripped

rping_client() { h 1 timeout 60 rping -c -a 10.78.0.2 -C 100 -v -V >/tmp/rping.c 2>&1; }
rping_ok() {
	local p
	h 2 timeout $((90 * ${PIB_SLOW:-1})) rping -s -a 10.78.0.2 -C 100 >/tmp/rping.s 2>&1 & p=$!
	# A client that comes before the server listens is rejected.
	for _ in {1..10}; do
		sleep 0.5
		rping_client && break
	done
	wait $p || tail -n 5 /tmp/rping.s /tmp/rping.c
	[ "$(grep -c 'ping data' /tmp/rping.c)" = 100 ]
}
check "rping -C 100, data verified" rping_ok
ktap_end

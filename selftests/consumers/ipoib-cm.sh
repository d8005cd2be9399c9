#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# IPoIB in connected mode: RC connections of the kernel's own, packets of 64 KiB, receives from an SRQ.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/ipoib.sh"
. "$here/../lib/compat.sh"
trap hosts_clean EXIT
MiB=16
ipoib="IPoIB, connected mode (ib_ipoib)"

ktap_plan 13
subnet_with_ipoib connected

mode_is() { h "$1" cat "/sys/class/net/$(ipoib "$1")/mode" | grep -qx "$2"; }
both_connected() { mode_is 1 connected && mode_is 2 connected; }
check "both interfaces are in connected mode" both_connected
connections() { h 1 rdma resource show qp link "$(dev 1)" | grep -c 'type RC .*ib_ipoib'; }
has_connection() {
	h 1 rdma resource show qp link "$(dev 1)"
	[ "$(connections)" -ge 1 ]
}
check "RC queue pairs carry it" has_connection
no_loss() { h 1 ping -c 10 -i 0.2 "$@" "$(ib_addr 2)" | grep ' 0% packet loss'; }
check "ping, no loss" no_loss
shown "$ipoib" kernel "ping with packets of 60000 bytes, unfragmented" no_loss -s 60000 -M 'do'

listening() { h "$1" ss -Hltn 'sport = :7000' | grep -q .; }
# transfer FROM TO: a file by TCP, and the same bytes at the other end
transfer() {
	local from=$1 to=$2 server sent
	h "$from" sh -c "head -c ${MiB}M /dev/urandom >/tmp/sent.$from"
	h "$to" timeout 120 socat -u TCP-LISTEN:7000,reuseaddr "CREATE:/tmp/got.$to" & server=$!
	wait_for 20 listening "$to" || return 1
	h "$from" timeout 120 socat -u "FILE:/tmp/sent.$from" "TCP:$(ib_addr "$to"):7000" || return 1
	wait $server || return 1
	sent=$(h "$from" sha256sum "/tmp/sent.$from")
	h "$to" sha256sum "/tmp/got.$to" | grep "^${sent%% *} "
}
shown "$ipoib" kernel "TCP from 1 to 2: $MiB MiB, the same checksum" transfer 1 2
shown "$ipoib" kernel "TCP from 2 to 1: $MiB MiB, the same checksum" transfer 2 1

# Each side answers in its own mode.
mixed() {
	h 2 sh -c "echo datagram >/sys/class/net/$(ipoib 2)/mode" && mode_is 2 datagram || return 1
	wait_for 60 h 1 ping -c1 -W1 "$(ib_addr 2)" && no_loss
}
check "one end in datagram mode: ping, no loss" mixed
del() { h "$1" pibctl del "$(dev "$1")"; }
check "del with connections" del 1
check "del at the other end" del 2
ktap_end

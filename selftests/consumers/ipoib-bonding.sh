#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Bonding of IPoIB, active-backup, on two-port HCAs: while a TCP stream goes on the active port's cable is pulled, and the other one's.
#
#	h1, SM  bond0: ib0, ib1 ====== ib2, ib3: bond0  h2
set -u
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/../lib/stream.sh"
clean() {
	for k in 1 2; do ip -n h$k link del bond0 2>/dev/null; done
	stream_clean
}
trap clean EXIT
LAYOUT=netns
bonding="IPoIB, bonding (ib_ipoib)"

ktap_plan 26
hosts_make 2
modprobe bonding max_bonds=0
for k in 1 2; do check "host $k: an HCA with two ports" h $k pibctl add "$(dev $k)" netdev eth0 ports 2; done
both_ports() { local k p; for k in 1 2; do for p in 1 2; do grep -q "$1" "/sys/class/infiniband/$(dev $k)/ports/$p/state" || return 1; done; done; }
cabled() { grep -q LinkUp "/sys/class/infiniband/$(dev "$1")/ports/$2/phys_state"; }
second_cables() {
	local k
	for k in 1 2; do
		cabled $k 2 || h $k pibctl link add "$(dev $k)/2" "$(h $k pibctl -j show switches | jq -r '.switches[0].name')/60" || return 1
	done
}
check "both ports have cables" second_cables
sm_start 1
check "all four ports ACTIVE" wait_for 60 both_ports ACTIVE

other_mode() {
	local rc=0
	ip link add bond1 type bond mode balance-rr || return 0
	ip link set ib0 master bond1 || rc=$?
	ip link del bond1
	return $rc
}
refuse "balance-rr is not for InfiniBand" "active-backup" other_mode
while_up() {
	local rc=0
	ip link add bond1 type bond mode active-backup miimon 100 && ip link set ib0 up || return 0
	ip link set ib0 master bond1 || rc=$?
	ip link del bond1
	ip link set ib0 down
	return $rc
}
refuse "an interface that is up is not taken" "while up" while_up

# netdevs K: both, in the order of the ports
netdevs() { echo "ib$(($1 * 2 - 2)) ib$(($1 * 2 - 1))"; }
bond() {
	local k=$1 dev
	for dev in $(netdevs "$k"); do ip link set "$dev" netns h"$k" || return 1; done
	h "$k" ip link add bond0 type bond mode active-backup miimon 100 || return 1
	for dev in $(netdevs "$k"); do h "$k" ip link set "$dev" master bond0 || return 1; done
	h "$k" ip addr add "$(ib_addr "$k")/24" dev bond0 && h "$k" ip link set bond0 up
}
bond_says() { h "$1" grep -Eq "$2" /proc/net/bonding/bond0 || { h "$1" cat /proc/net/bonding/bond0; return 1; }; }
active() { h "$1" cat /sys/class/net/bond0/bonding/active_slave; }
active_is() { [ "$(active "$1")" = "$2" ]; }
for k in 1 2; do check "host $k: bond0 of both interfaces" bond $k; done
check "ping" wait_for 60 h 1 ping -c 1 -W 1 "$(ib_addr 2)"
check "it is active-backup" bond_says 2 "Bonding Mode: fault-tolerance \(active-backup\)"
slaves_up() { [ "$(h 2 grep -c "MII Status: up" /proc/net/bonding/bond0)" = 3 ]; }
check "both interfaces are up" wait_for 30 slaves_up


# cable PORT up|down: of host 2
cable() { h 2 pibctl link set "pib1/$1" "$2"; }
failover() {
	wait_for 30 active_is 2 "$1" || { h 2 cat /proc/net/bonding/bond0; return 1; }
}
read -r first second <<<"$(netdevs 2)"
take_over() { h 2 sh -c "echo $1 >/sys/class/net/bond0/bonding/active_slave" && active_is 2 "$1"; }
check "host 2: the first is made the active one" take_over "$first"
stream_start 1 2 "$(ib_addr 2)"
check "a stream" stream_moves
check "the first one's cable is pulled" cable 1 down
check "the second one takes over" failover "$second"
check "the stream goes on" stream_moves
check "the first one's cable is put back" cable 1 up
check "both are up" wait_for 60 slaves_up
check "the second one's cable is pulled" cable 2 down
check "the first one takes over" failover "$first"
check "the stream goes on again" stream_moves
check "new connections" wait_for 30 h 1 ping -c 1 -W 1 "$(ib_addr 2)"
shown "$bonding" kernel "active-backup, both cables pulled one after the other under a TCP stream: the same checksum" stream_whole
check "the second one's cable is put back" cable 2 up
check "both are up again" wait_for 60 slaves_up
# Bonding gives bond0 the hardware address of its active interface.
hardware() { h 2 cat "/sys/class/net/$1/address"; }
of_active() { echo "$(hardware bond0), $(hardware "$first")"; [ "$(hardware bond0)" = "$(hardware "$first")" ]; }
check "bond0 has the active one's hardware address" of_active
ktap_end

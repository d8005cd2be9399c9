#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The network below changes: MTUs of netdevs and of the path, a router that dies, an address that changes.
# The trunk's session lives through it, and so does RC traffic whose data are looked at.
#
#	         10.77.0/24 +-- ra --+ 10.79.0/24
#	h1 eth0 ---- net0 --+        +-- net1 ---- eth0 h2
#	                    +-- rb --+
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/netd.sh"
. "$here/../lib/topology.sh"
trap 'traffic_clean; netd_clean ra rb' EXIT

HOSTS=2
LAYOUT=netns

net_make() {
	local r
	netd_init
	bridge net0
	bridge net1
	cable h1 eth0 net0 10.77.0.1/24
	cable h2 eth0 net1 10.79.0.2/24
	cable ra eth0 net0 10.77.0.101/24
	cable ra eth1 net1 10.79.0.101/24
	cable rb eth0 net0 10.77.0.102/24
	cable rb eth1 net1 10.79.0.102/24
	for r in ra rb; do
		ip netns exec $r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	done
	address h1 eth0 fd77::1
	address h2 eth0 fd79::2
	address ra eth0 fd77::101
	address ra eth1 fd79::101
	address rb eth0 fd77::102
	address rb eth1 fd79::102
	via 101
}
address() { ip -n "$1" -6 addr add "$3/64" dev "$2" nodad; }
# via N: by the router with this number, both ways
via() {
	ip -n h1 route replace 10.79.0.0/24 via "10.77.0.$1" &&
		ip -n h2 route replace 10.77.0.0/24 via "10.79.0.$1" &&
		ip -n h1 -6 route replace fd79::/64 via "fd77::$1" &&
		ip -n h2 -6 route replace fd77::/64 via "fd79::$1"
}

# mtu BYTES: of both hosts' netdevs
mtu() { ip -n h1 link set eth0 mtu "$1" && ip -n h2 link set eth0 mtu "$1"; }
# path_mtu BYTES: of what is between them
path_mtu() {
	local r
	for r in ra rb; do ip -n $r link set eth1 mtu "$1" || return; done
}

trunk() { h 2 pibctl -j show peers | jq -e ".peers[] | select(.up == true) | $1"; }

# moved: words that h2's HCA has taken in
moved() { h 2 perfquery -x -C pib1 2>/dev/null | sed -n 's/^PortRcvData:\.*//p'; }
moved_to() { [ "$(moved)" -gt "$1" ]; }
# goes_on: traffic still arrives
goes_on() {
	local before
	before=$(moved)
	[ -n "$before" ] && wait_for 60 moved_to $((before + 20000))
}
# change NAME COMMAND...: while traffic runs, and it goes on afterwards
change() {
	local name=$1
	shift
	check "$name" "$@"
	check "$name: traffic goes on" goes_on
}

by_way_of() { [[ $(trunk .address) == *"$1"* ]]; }
no_links() { [ "$(h "$1" pibctl -j show links | jq '[.links[] | select(.address)] | length')" = 0 ]; }
# hung_up: nobody calls back
hung_up() { sleep 3 && no_links 2; }

# over FAMILY ADDRESS: all of it, with h2 calling h1 at the address
over() {
	local family=$1 restarts
	check "$family: h2 calls h1" h 2 pibctl link add sw0/64 udp eth0 peer "$2"
	check "$family: the trunk is up" wait_for 30 by_way_of "$2"
	check "$family: both ports ACTIVE" wait_active 60
	check "$family: traffic of all sizes" /tmp/allpairs -s 200000 pib0 pib1
	restarts=$(trunk .restarts)
	traffic_start -s 20000 pib0 pib1
	check "$family: traffic runs" traffic_runs
	change "$family: netdevs with an MTU of 9000" mtu 9000
	change "$family: and of 1300" mtu 1300
	change "$family: and of 1500 again" mtu 1500
	change "$family: routers with one of 1280" path_mtu 1280
	change "$family: and of 1500 again, for them too" path_mtu 1500
	change "$family: the other router" via 102
	ip -n ra link set eth1 down
	check "$family: the first one is gone: traffic goes on" goes_on
	ip -n ra link set eth1 up
	address ra eth1 fd79::101 2>/dev/null	# it went with the link
	wait_for 10 ip netns exec ra ping -6 -c 1 -W 1 fd79::2
	change "$family: the first router again" via 101
	traffic_end
	check "$family: all data arrived whole" traffic_whole
	check "$family: in one session" [ "$(trunk .restarts)" = "$restarts" ]
	check "$family: h2 hangs up" h 2 pibctl link del sw0/64
	check "$family: and stays so" hung_up
}

ktap_plan 57
check "traffic generator compiles" allpairs_build
net_make
check "two hosts, two routers" sh -c "ip netns exec h1 ping -c 1 -W 5 10.79.0.2"
check "pib0" pib_add 1
check "pib1" pib_add 2
check "an SM" sm_start 1
over IPv4 10.77.0.1
over IPv6 fd77::1

check "h2 calls h1 again" h 2 pibctl link add sw0/64 udp eth0 peer 10.77.0.1
check "the trunk is up" wait_for 30 by_way_of 10.77.0.1
check "both ports ACTIVE" wait_active 60
ip -n h2 addr add 10.79.0.22/24 dev eth0
ip -n h2 addr del 10.79.0.2/24 dev eth0
ip -n h2 addr add 10.79.0.22/24 dev eth0 2>/dev/null	# went along if it was secondary
via 101
again() { trunk .up && port_is 2 ACTIVE && timeout 60 /tmp/allpairs pib0 pib1; }
check "h2 has another address: traffic between them" wait_for 90 again
ktap_end

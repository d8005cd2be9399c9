#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Thirteen hosts, one subnet: a mesh, a pibnetd, a router. A part that dies takes nothing else along, and comes back.
#
#	h1 .. h8 ---- bridge0 ---- sw ---- bridge1 ---- h9 .. h12
#	              |   10.77.0/24       10.78.0/24
#	              r ---- bridge2 ---- h13
#	                     10.79.0/24
#
# h1 to h8 find each other by multicast; h9 to h12 are plugged into the pibnetd in sw, which has a
# trunk to h1 and one to h2; h13 has a trunk to h3, across the router.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/netd.sh"
. "$here/../lib/topology.sh"
trap 'traffic_clean; netd_clean r' EXIT

HOSTS=13
LAYOUT=netns
MASTER=6 STANDBY=7 VICTIM=5

net_make() {
	local k
	netd_init
	for k in 0 1 2; do bridge bridge$k; done
	for ((k = 1; k <= 8; k++)); do cable "h$k" eth0 bridge0 "10.77.0.$k/24"; done
	for ((k = 9; k <= 12; k++)); do cable "h$k" eth0 bridge1 "10.78.0.$k/24"; done
	cable h13 eth0 bridge2 10.79.0.13/24
	cable sw eth0 bridge0 10.77.0.100/24
	cable sw eth1 bridge1 10.78.0.100/24
	cable r eth0 bridge0 10.77.0.101/24
	cable r eth1 bridge2 10.79.0.101/24
	ip netns exec r sysctl -qw net.ipv4.ip_forward=1
	ip -n h13 route add default via 10.79.0.101
	ip -n h3 route add 10.79.0.0/24 via 10.77.0.101
	cat >$netd/config.json <<-END
	{ "listen": ["0.0.0.0"], "threads": 2, "switches": [ { "name": "net0", "ports": 8 } ],
	  "cables": [ ["net0/1", "udp:10.77.0.1"], ["net0/2", "udp:10.77.0.2"] ] }
	END
}

mesh_add() { for ((k = 1; k <= 8; k++)); do pib_add $k || return; done; }
hub_add() { for ((k = 9; k <= 12; k++)); do pib_add $k peer 10.78.0.100 || return; done; }
far_add() { pib_add 13 && h 13 pibctl link add sw0/64 udp eth0 peer 10.77.0.3; }

# links_up K N: host K has N links over UDP that are up
links_up() { h "$1" pibctl -j show links | jq -e "[.links[] | select(.up == true)] | length == $2"; }
# mesh_links VICTIM: what each host of the mesh has when this one, or 0, is not there
mesh_links() {
	local k n
	for ((k = 1; k <= 8; k++)); do
		[ $k != "$1" ] || continue
		n=7
		[ "$1" = 0 ] || n=6
		[ $k -gt 3 ] || n=$((n + 1))
		links_up $k $n || return
	done
}
hub_links() { ctl -j show links | jq -e '[.links[] | select(.up == true)] | length == 6'; }
hub_is() { for ((k = 9; k <= 12; k++)); do port_is $k "$1" || return; done; }

start_sm() {
	printf 'sminfo_polling_timeout 1000\npolling_retry_number 3\n' >/tmp/opensm.conf
	sm_start "$1" -F /tmp/opensm.conf -p "$2"
}
sm_kill() { kill -9 "$(cat "/tmp/opensm.$1/pid")"; }
# sm_is K STATE: as host 1 sees it
sm_is() {
	h 1 sminfo -C pib0 $(($(port_attr "$1" lid))) | grep "sm guid $(port_guid "$(dev "$1")")," | grep "$2"
}
# where_it_stands K: of an SM that gets no further: whether it lives, and is slow or stands still (the activity count is of the SMPs
# that it has sent), its log, its threads, the errors of its HCA, and what ib_mad's workqueues do
where_it_stands() {
	local pid pause
	pid=$(cat "/tmp/opensm.$1/pid")
	tail -n 40 "/tmp/opensm.$1/opensm.log"
	kill -0 "$pid" || { dmesg | grep -E 'opensm|segfault|traps:'; return; }
	for pause in 1 1 15; do h 1 sminfo -C pib0 $(($(port_attr "$1" lid))); sleep $pause; done
	h "$1" grep . "/sys/class/infiniband/$(dev "$1")/ports/1/hw_counters/"{req_cqe_,tx_,rx_}* | grep -v ':0$'
	dmesg | grep 'ib_modify_qp to RTS'
	echo t >/proc/sysrq-trigger
	dmesg | grep -A6 'workqueue ib_mad'
	gdb -p "$pid" -batch -ex 'thread apply all bt 8' 2>/dev/null
}
stands_by() {
	wait_for 60 sm_is "$1" STANDBY && return
	where_it_stands "$1"
	return 1
}
# OpenSM hands over when it sweeps the whole subnet. It may have done so before the other one was on standby, and waits for a trap then.
hands_over() {
	wait_for 40 master_is "$2" && return
	for _ in 1 2 3; do
		echo "another sweep"
		kill -HUP "$(cat "/tmp/opensm.$1/pid")" && wait_for 40 master_is "$2" && return
	done
	tail -n 20 "/tmp/opensm.$1/opensm.log"
	return 1
}
master_is() { h 1 sminfo -C pib0 | grep "sm guid $(port_guid "$(dev "$1")"),.* SMINFO_MASTER"; }

discover() {
	h 1 ibnetdiscover -C pib0 >/tmp/discover 2>&1
	cat /tmp/discover
	[ "$(grep -c ^Ca /tmp/discover)" = 13 ] && [ "$(grep -c ^Switch /tmp/discover)" = 10 ]
}

# Traffic between all pairs of these hosts, until it is asked for what has become of it.
traffic_among() {
	local k devices=()
	for k; do devices+=("$(dev "$k")"); done
	traffic_start "${devices[@]}"
}

ktap_plan 30
check "traffic generator compiles" allpairs_build
net_make
netd_start
check "pibnetd starts" netd_answers
check "eight hosts on one segment" mesh_add
check "four hosts join the pibnetd" hub_add
check "one host calls another across a router" far_add
check "the mesh is complete, with two trunks to the pibnetd and one across the router" wait_for 60 mesh_links 0
check "the pibnetd has its peers" wait_for 20 hub_links
check "an SM" start_sm $MASTER 13
check "SUBNET UP" wait_for 60 sm_log_has $MASTER "SUBNET UP"
check "another, of lower priority" start_sm $STANDBY 3
check "13 ports ACTIVE" wait_active 60
check "it is on standby" stands_by $STANDBY
check "13 HCAs and 10 switches in one subnet" discover
check "RC traffic between all pairs" /tmp/allpairs

# The switch in the middle of four.
traffic_among 1 2 3 4 5 6 7 8 13
check "traffic around the pibnetd" traffic_runs
netd_kill
check "it is killed: its hosts' ports go Down" wait_for 20 hub_is DOWN
traffic_end
check "the others' traffic went on" traffic_whole
netd_start
check "it is started again: 13 ports ACTIVE" wait_active 60
check "RC traffic between all pairs" /tmp/allpairs

# The one that manages.
traffic_among {1..13}
check "traffic between all" traffic_runs
sm_kill $MASTER
check "the master SM is killed: the other takes over" wait_for 60 master_is $STANDBY
traffic_end
check "traffic went on" traffic_whole

# One host, without a farewell.
traffic_among 1 2 3 4 6 7 8 9 10 11 12 13
check "traffic around host $VICTIM" traffic_runs
ip -n hub link set h$VICTIM.eth0 down
h $VICTIM pibctl del "$(dev $VICTIM)"
check "a host is cut off: the others notice" wait_for 20 mesh_links $VICTIM
traffic_end
check "the others' traffic went on" traffic_whole
ip -n hub link set h$VICTIM.eth0 up
check "it is started anew" pib_add $VICTIM
check "13 ports ACTIVE" wait_active 60
check "RC traffic between all pairs" /tmp/allpairs

check "the first SM comes back" start_sm $MASTER 13
check "and is master again" hands_over $STANDBY $MASTER
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# OpenSM's routing engines, each on a topology made for it: RC traffic between all pairs that goes where
# the tables say, and multicast that reaches all. Then OpenSM's own test of the SA.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/topology.sh"
trap topology_clean EXIT

messages=40	# of 1 KiB, and as many RDMA writes, from each HCA to each other
tree_engines=(minhop updn dnup ftree)
mesh_engines=(dor sssp)
torus_engines=(lash dfsssp torus-2QoS)
engines=("${tree_engines[@]}" "${mesh_engines[@]}" "${torus_engines[@]}")
ktap_plan $((1 + 3 * 2 + 4 * ${#engines[@]} + 2))
topology_init ib_ipoib
sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0
check "traffic generator compiles" allpairs_build

ipoib_of() { ip -n "$1" -o link show | sed -n 's/^[0-9]*: \(ib[0-9]*\).*/\1/p'; }

hosts_up() {
	local hca
	for hca in $(pibctl -j show | jq -r '.hcas[].name'); do
		ip netns exec "$hca" sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0
		ip -n "$hca" link set "$(ipoib_of "$hca")" up || return 1
	done
}

# The torus engine must be told this: one switch's neighbours in the directions x and y.
torus_conf() {
	local guid=() name
	for name in s-0-0 s-1-0 s-0-1; do
		guid+=("$(pibctl -j show "$name" | jq -r '.switches[0].node_guid')")
	done
	printf 'torus 3 3 1\nxp_link %s %s\nyp_link %s %s\n' "${guid[0]}" "${guid[1]}" "${guid[0]}" "${guid[2]}"
}

engine_up() {
	local more=()
	[ "$1" != torus-2QoS ] || more=(-Q --torus_config /tmp/torus.conf)
	fabric_sm -R "$1,no_fallback" "${more[@]}" || { cat "$SM_DIR/out"; return 1; }
	subnet_up && wait_for 30 all_active && grep -q "$1 tables configured" "$SM_DIR/opensm.log" && return
	grep -v "^#" "$SM_DIR/opensm.log" | tail -n 20
	return 1
}

# IPoIB and the SM have no more to say: while multicast trees are made, what is sent to them may go round for a while.
sent_by_all() { pibctl -j show counters | jq '[.counters[].counters.port_xmit_bytes] | add'; }
quiet() {
	local before
	before=$(sent_by_all)
	sleep 1
	[ $(($(sent_by_all) - before)) -lt 20000 ]
}

traffic() {
	wait_for 60 quiet
	ibnetdiscover -C pib0 >/tmp/discovered && dump_fts -C pib0 >/tmp/tables 2>/dev/null || return 1
	pibctl -j show counters >/tmp/before
	/tmp/allpairs -n $messages || return 1
	pibctl -j show counters >/tmp/after
}
obeyed() {
	pibctl -j show | "$here/../lib/predict-load" /tmp/before /tmp/after $((messages * 2 * 1024)) /tmp/discovered /tmp/tables
}

# As many other hosts answer to the group of all nodes.
reached() {
	ip netns exec pib0 ping -6 -c 2 -i 0.2 -W 2 "ff02::1%$(ipoib_of pib0)" >/tmp/ping 2>&1
	[ "$(grep -o 'from fe80[^ ]*' /tmp/ping | sort -u | wc -l)" = "$1" ]
}
multicast() {
	wait_for 60 reached $(($1 - 1)) && return
	cat /tmp/ping
	return 1
}

try() {
	local engine=$1 hcas=$2
	check "$engine: SUBNET UP" engine_up "$engine"
	check "$engine: RC traffic between all pairs" traffic
	check "$engine: it went where the tables say" obeyed
	check "$engine: multicast reaches all $hcas" multicast "$hcas"
	sm_end
}

prepare() {
	local file
	file=$(net "${@:2}")
	check "$1: load" pibctl fabric load "$file" netns
	check "$1: hosts" hosts_up
}

prepare tree xgft 2,2,2 1,2,2
for engine in "${tree_engines[@]}"; do try "$engine" 8; done

sa_test() { timeout 200 osmtest -g "$(port_guid pib1)" -i /tmp/osmtest.dat -l /tmp/osmtest.log "$@" >/tmp/osmtest.out 2>&1; }
# The test gives a service a lease of ten seconds and expects it gone after as many, but OpenSM looks at
# leases on whole seconds of the clock: where a second ends between the two, the service is there for one
# more (error 4A1E). Only that is tried again, with an SM that knows of no services.
sa_validations() {
	for _ in 1 2 3; do
		sa_test -f a && return
		grep ERR /tmp/osmtest.log
		grep -q "ERR 4A1E" /tmp/osmtest.log || break
		sm_end && fabric_sm && subnet_up && wait_for 30 all_active || break
	done
	tail -n 20 /tmp/osmtest.out
	return 1
}
# The SA knows ports by their answers to the SM. After one more sweep these are what ports say when nothing changes; the
# answers of the first have bits in them that do not stay (ClientReregister).
sweeps() { grep -c "SUBNET UP" "$SM_DIR/opensm.log"; }
swept_since() { [ "$(sweeps)" -gt "$1" ]; }
swept_again() {
	local before
	before=$(sweeps)
	pkill -HUP -x opensm && wait_for 60 swept_since "$before" && wait_for 60 quiet
}
inventory() { swept_again && sa_test -f c; }

fabric_sm && subnet_up && wait_for 30 all_active
check "osmtest: inventory" inventory
check "osmtest: all validations" sa_validations
sm_end
pibctl fabric clear

prepare mesh mesh 3,3
for engine in "${mesh_engines[@]}"; do try "$engine" 9; done
pibctl fabric clear

prepare torus torus 3,3
torus_conf >/tmp/torus.conf
for engine in "${torus_engines[@]}"; do try "$engine" 9; done
pibctl fabric clear
ktap_end

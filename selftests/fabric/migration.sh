#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Automatic path migration (17.2.8) as what it is for: the path in use dies under load, and the connection goes on by the
# other one. Two paths by LMC, which share the HCAs' ports and differ in the trunk; two by ports, which share nothing.
#
#	      1        1
#	     --- sa --- sb ---		trunks 3 and 4
#	pib0     ||  X  ||    pib1	port 1 of both leads to sa or sb, port 2 to the other switch
#	     --- sb    sa ---
#	      2            2
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/topology.sh"
trap 'pkill -x migrate; topology_clean' EXIT

ktap_plan 48
topology_init
check "migrate compiles" program migrate /tmp/migrate

cat >/tmp/migration.net <<-END
	Switch	4 "sa"	# "sa"
	[1]	"h-0"[1]
	[2]	"h-1"[2]
	[3]	"sb"[3]
	[4]	"sb"[4]

	Switch	4 "sb"	# "sb"
	[1]	"h-1"[1]
	[2]	"h-0"[2]
	[3]	"sa"[3]
	[4]	"sa"[4]

	Hca	2 "h-0"	# "h-0"
	[1]	"sa"[1]
	[2]	"sb"[2]

	Hca	2 "h-1"	# "h-1"
	[1]	"sb"[1]
	[2]	"sa"[2]
END
check "load" pibctl fabric load /tmp/migration.net
printf '%s\n' 'Default=0x7fff, ipoib : ALL=full;' 'Other=0x0001 : ALL=full;' >/tmp/migration.conf
check "an SM that gives each port two LIDs, and two P_Keys" fabric_sm -l 1 -P /tmp/migration.conf
check "SUBNET UP" subnet_up
check "ACTIVE" wait_for 60 all_active

# bits SWITCH TRUNK LID: what to add to the LID to be led to that trunk by that switch
bits() {
	local b out
	for b in 0 1; do
		out=$(ibroute -C pib0 -n "$(switch_lid "$1")" $(($3 + b)) $(($3 + b)) | awk '/^0x/ { print $2 + 0 }')
		[ "$out" != "$2" ] || { echo $b; return; }
	done
	echo none
}
# by_trunk N: a path by port 1 of both that goes, and comes back, by this trunk
by_trunk() { echo "1:$(bits sb "$1" "$(lid_of pib0)"):1:$(bits sa "$1" "$(lid_of pib1)")"; }
LMC_A=$(by_trunk 3) LMC_B=$(by_trunk 4)
PORT_A=$LMC_A PORT_B=2:0:2:0
echo "# paths: $LMC_A and $LMC_B by the trunks, $PORT_A and $PORT_B by the ports"
both_trunks() { echo "$LMC_A $LMC_B"; [[ $LMC_A$LMC_B != *none* ]]; }
check "each LID has a trunk of its own" both_trunks
# Nobody is to program anything while cables are cut.
check "the SM goes" sm_end

start() {
	rm -f /tmp/migrate.out
	{ /tmp/migrate "$@" >/tmp/migrate.out 2>&1; echo "status $?" >>/tmp/migrate.out; } &
}
says() { grep -q "$1" /tmp/migrate.out; }
ends_well() { wait_for 160 says "^status"; cat /tmp/migrate.out; says "^status 0"; }
cut() { local c; for c; do pibctl link set "$c" loss 100% || return; done; }
mend() { local c; for c; do pibctl link set "$c" loss 0 || return; done; }
# goes_on NAME "OPTIONS" PATH PATH CABLE...: the cables are cut under load
goes_on() {
	local name=$1 options=$2 a=$3 b=$4
	shift 4
	# shellcheck disable=SC2086
	start $options pib0 pib1 "$a" "$b"
	check "$name: runs" wait_for 60 says "^running"
	[ $# = 0 ] || check "$name: is cut" cut "$@"
	check "$name: as it should" ends_well
	[ $# = 0 ] || mend "$@"
}

goes_on "LMC, a trunk is cut" "" "$LMC_A" "$LMC_B" sa/3
goes_on "LMC, back again" "" "$LMC_B" "$LMC_A" sa/4
goes_on "LMC, only one end sends" -1 "$LMC_A" "$LMC_B" sa/3
goes_on "LMC, told to" -r "$LMC_A" "$LMC_B"
# The other path is the first to die: a packet that still went by it would prove it.
goes_on "LMC, both trunks are cut" -d "$LMC_A" "$LMC_B" sa/4 sa/3
goes_on "LMC, the other end expects somebody else" "-1 -u" "$LMC_A" "$LMC_B"
goes_on "LMC, the other path is not armed" -s "$LMC_A" "$LMC_B"
goes_on "ports, a cable is cut" "" "$PORT_A" "$PORT_B" pib0/1
goes_on "ports, only one end sends" -1 "$PORT_A" "$PORT_B" pib0/1
goes_on "ports, with another P_Key, only one end sends" "-1 -k" "$PORT_A" "$PORT_B" pib0/1
goes_on "ports, told to, only one end sends" "-1 -r" "$PORT_A" "$PORT_B"
goes_on "ports, back again" "" "$PORT_B" "$PORT_A" pib0/2
goes_on "ports, the other cable is dead, too" "-1 -d" "$PORT_A" "$PORT_B" pib0/2 pib0/1
# Nothing is cut, and the program has not asked: "pibctl inject" has the first end take the other path, and the other one follows.
told() { pibctl inject pib0 qp "$(sed -n 's/^running qp //p' /tmp/migrate.out)" migrate; }
start pib0 pib1 "$PORT_A" "$PORT_B"
check "ports, by pibctl inject: runs" wait_for 60 says "^running"
check "ports, by pibctl inject: it is told" told
check "ports, by pibctl inject: both go on by the other path" ends_well
# A cable that is pulled: the port is DOWN, and stays without LID-routed traffic.
start pib0 pib1 "$PORT_A" "$PORT_B"
check "ports, a cable is pulled: runs" wait_for 60 says "^running"
check "ports, a cable is pulled: it is" pibctl link set pib1/1 down
check "ports, a cable is pulled: as it should" ends_well
ktap_end

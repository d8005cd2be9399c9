#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Topology files: what is loaded is what a subnet manager finds, what is found can be loaded again.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/topology.sh"
trap topology_clean EXIT

examples=(/usr/share/doc/ibsim-utils/net-examples/net*)
[ -e "${examples[0]}" ] || examples=()
ktap_plan $((33 + 2 * ${#examples[@]}))
topology_init
check "traffic generator compiles" allpairs_build

# ---- a tree of three levels: 8 HCAs, 4 + 4 + 4 switches ----

tree=$(net xgft 2,2,2 1,2,2)
check "load: three levels" pibctl fabric load "$tree"
counts() {
	local found
	found=$(pibctl -j show | jq -c '[(.hcas | length), (.switches | length)]')
	echo "$found" "$(pibctl show links | grep -c ^link)"
	[ "$found $(pibctl show links | grep -c ^link)" = "[$1,$2] $3" ]
}
check "8 HCAs, 12 switches, 24 cables" counts 8 12 24
described() { [ "$(cat /sys/class/infiniband/pib5/node_desc)" = h-1-0-1 ]; }
check "NodeDescription is the file's" described
saved_same() {
	pibctl fabric save /tmp/saved.net || return 1
	"$nets/net-graph" --no-guids "$tree" >/tmp/graph.file
	"$nets/net-graph" --no-guids /tmp/saved.net | diff /tmp/graph.file -
}
check "save: the same fabric" saved_same
check "opensm" fabric_sm
check "SUBNET UP" subnet_up
check "all ports ACTIVE" wait_for 30 all_active
check "ibnetdiscover finds the file's fabric" discovers "$tree"
check "RC traffic between all pairs" /tmp/allpairs

draws() {
	pibctl fabric draw /tmp/fabric.svg && pibctl fabric draw /tmp/fabric.dot || return 1
	python3 -c 'import sys, xml.dom.minidom as m; sys.exit(len(m.parse("/tmp/fabric.svg").getElementsByTagName("path")) != 24)' &&
		[ "$(grep -c ' -- .*ACTIVE' /tmp/fabric.dot)" = 24 ] && grep -q "lid $(lid_of pib0)<" /tmp/fabric.svg
}
check "draw: 24 cables ACTIVE, LIDs" draws

cp /tmp/discovered /tmp/first
fabric_sm_stop
check "clear" pibctl fabric clear
nothing() { [ -z "$(pibctl show)$(ls /sys/class/infiniband)" ]; }
check "nothing is left" nothing
check "load: what ibnetdiscover printed" pibctl fabric load /tmp/first
check "opensm again" fabric_sm
check "SUBNET UP again" subnet_up
guids_same() {
	ibnetdiscover -C pib0 >/tmp/second || return 1
	"$nets/net-graph" /tmp/first >/tmp/graph.first
	"$nets/net-graph" /tmp/second | diff /tmp/graph.first -
}
check "ibnetdiscover finds the same, with the same GUIDs" guids_same

# ---- all or nothing ----

state() { pibctl -j show | jq -c '[.hcas[].name, .switches[].name]'; }
state >/tmp/before
refuse "GUIDs that are taken are refused" "GUID.* is taken" pibctl fabric load /tmp/first
unchanged() { state | diff /tmp/before -; }
check "and nothing is left of that load" unchanged
fabric_sm_stop
pibctl fabric clear

head -n 20 "$tree" >/tmp/bad.net
echo "[9] nowhere" >>/tmp/bad.net
refuse "an error names its line" "bad.net:21: " pibctl fabric load /tmp/bad.net
check "nothing was made" nothing

# On a terminal it shows how far it is, and ^C takes back what was made; SIGTERM where nobody looks does, too.
big=$(net xgft 8,16 1,8)
interrupted() {
	local before=$1
	"$here/../lib/interrupt" "$before" pibctl fabric load "$big" >/tmp/interrupted 2>&1
	cat -v /tmp/interrupted
	grep -q "^status 1" /tmp/interrupted && grep -q "interrupted by SIG$2" /tmp/interrupted && grep -q "^had made" /tmp/interrupted
}
check "^C on a terminal" interrupted terminal INT
shows_progress() { grep -Eq "fabric load: [1-9][0-9]* of 408" /tmp/interrupted; }
check "it had shown how far it was" shows_progress
check "it took back what was made" nothing
check "SIGTERM" interrupted pipe TERM
quiet() { [ "$(grep -vc "^status\|^had made" /tmp/interrupted)" = 1 ]; }
check "nothing is shown where there is no terminal" quiet
check "it took back what was made, too" nothing

# ---- a host for each HCA ----

modprobe ib_ipoib
small=$(net xgft 4 1)
check "load netns" pibctl fabric load "$small" netns
four() { [ "$(ip netns list | grep -c '^pib[0-3]')" = 4 ]; }
check "four network namespaces" four
has_ipoib() { ip -n pib2 -o link show | grep -q "link/infiniband"; }
check "each has its IPoIB netdev" has_ipoib
check "clear with namespaces" pibctl fabric clear
no_netns() { [ -z "$(ip netns list)" ]; }
check "the namespaces are gone" no_netns
check "nothing is left but them" nothing
modprobe -r ib_ipoib

# ---- ibsim's own examples ----

example() { pibctl fabric load "$1" && fabric_sm && subnet_up && wait_for 30 all_active; }
for file in "${examples[@]}"; do
	check "ibsim's ${file##*/}: SUBNET UP" example "$file"
	check "ibsim's ${file##*/}: found as in the file" discovers "$file"
	fabric_sm_stop
	pibctl fabric clear
done
ktap_end

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
ktap_plan $((66 + 2 * ${#examples[@]}))
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
sm_end
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
sm_end
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

# port0 SWITCH KEY VALUE: of port 0, by what pibctl shows
port0() { [ "$(pibctl -j show "$1" | jq -c ".switches[0].ports[] | select(.port == 0) | $2")" = "$3" ]; }
made_sm() {
	local conf=/tmp/made.conf
	printf 'lmc 1\nlmc_esp0 TRUE\n' >$conf
	fabric_sm -F $conf
}
# made FILE: description, vendor and device of each node, and the system image of those of which the files say it
made() {
	awk -F '[="]' '/^(vendid|devid|sysimgguid)/ { said[$1] = $2 } /^(Switch|Ca)/ {
		print $4, said["vendid"], said["devid"], said["sysimgguid"] ~ /^0x900a.*3$/ ? said["sysimgguid"] : ""; delete said }' "$1" |
		sed 's/ 0x25049 0x1 / /' | tr -s ' ' | sort
}
enhanced() { grep -q '"MF0;made:MQM8700/U1" enhanced port 0' "$1" && grep -q '"plain" base port 0' "$1"; }

# ---- who made the nodes, and enhanced ports 0 ----

cat >/tmp/made.net <<-END
	vendid=0x2c9
	devid=0xd2f0
	sysimgguid=0x900a840000ab0003
	switchguid=0x900a840000ab0000
	Switch	4 "S"	# "MF0;made:MQM8700/U1" enhanced port 0 lid 1 lmc 0
	[1]	"H"[1]
	[2]	"T"[1]

	vendid=0x8f1
	devid=0x5a5a
	Switch	4 "T"	# "plain" base port 0 lid 2 lmc 0
	[1]	"S"[2]
	[2]	"I"[1]

	vendid=0x2c9
	devid=0x1017
	sysimgguid=0x900a840000cd0003
	caguid=0x900a840000cd0000
	Ca	1 "H"	# "host one"
	[1]	"S"[1]

	Ca	1 "I"	# "host two"
	[1]	"T"[2]
END
check "load: vendors and devices" pibctl fabric load /tmp/made.net
shown() { [ "$(pibctl -j show | jq -c "$1")" = "$2" ] || { pibctl -j show | jq -c "$1"; return 1; }; }
check "show: switches" shown '[.switches[] | [.name, .vendor_id, .device_id, .enhanced_port0]]' \
	'[["S","0x2c9","0xd2f0",true],["T","0x8f1","0x5a5a",false]]'
check "show: HCAs" shown '[.hcas[] | [.vendor_id, .device_id, .sys_image_guid == .node_guid]]' \
	'[["0x2c9","0x1017",false],["0x25049","0x1",true]]'
verbs_say() {
	[ "$(cat /sys/class/infiniband/pib0/sys_image_guid)" = 900a:8400:00cd:0003 ] &&
		ibv_devinfo -d pib0 | grep -q "vendor_id:.*0x02c9" && ibv_devinfo -d pib0 | grep -q "vendor_part_id:.*4119"
}
check "verbs say so, too" verbs_say
refuse "pibctl: a vendor id of 25 bits" "up to 0xffffff" pibctl fabric load <(echo vendid=0x1000000)
check "opensm, with two LIDs for each port" made_sm
check "SUBNET UP" subnet_up
check "all ports ACTIVE" wait_for 30 all_active
check "the enhanced port 0, too" wait_for 30 port0 S .state '"ACTIVE"'
check "it has two LIDs" port0 S .lmc 1
check "the base one has one" port0 T .lmc 0
discover() { ibnetdiscover -C pib0 >/tmp/made.found 2>/tmp/made.errors; }
check "ibnetdiscover" discover
said() { made /tmp/made.net >/tmp/made.a; made /tmp/made.found >/tmp/made.b; diff /tmp/made.a /tmp/made.b; }
check "it finds the file's vendors, devices and system images" said
check "and which port 0 is enhanced" enhanced /tmp/made.found
first=$(pibctl -j show S | jq '.switches[0].ports[0].lid')
asks() { smpquery -C pib0 nodedesc "$1" | grep -q MQM8700 && perfquery -C pib0 "$1" 0 >/dev/null && perfquery -C pib1 "$1" 1 >/dev/null; }
check "its first LID is answered" asks "$first"
check "its second LID is answered" asks $((first + 1))
check "save" pibctl fabric save /tmp/made.saved
saved() { made /tmp/made.saved | diff /tmp/made.b - && enhanced /tmp/made.saved; }
check "saved: the same" saved

# At QDR such devices are asked for their maker's MlnxExtPortInfo, which says whether links are FDR10.
slow() { pibctl link set S/2 speed QDR && wait_for 30 all_active; }
check "a link at QDR" slow
# A packet that came while the link was down is a discard of an inactive port.
cleared() { ibqueryerrors -C pib0 --clear-errors >/tmp/cleared; ibqueryerrors -C pib0; }
check "counters begin anew" cleared
# silent COMMAND...: succeeds, and complains of nothing
silent() {
	"$1" -C pib0 "${@:2}" >/tmp/silent.out 2>/tmp/silent.err && [ ! -s /tmp/silent.err ] && ! grep -i "bad status\|fail\|error:" /tmp/silent.out && return
	cat /tmp/silent.err /tmp/silent.out
	return 1
}
for tool in "ibnetdiscover" "iblinkinfo" "iblinkinfo -l" "ibqueryerrors -s PortRcvSwitchRelayErrors,LinkDownedCounter" "ibqueryerrors -s PortRcvSwitchRelayErrors,LinkDownedCounter --details" "ibportstate $first 2 query" \
	"smpquery mlnxextportinfo $first 2" "smpquery portinfoextended $first 2" "smpquery portinfo $first 0"; do
	# shellcheck disable=SC2086
	check "$tool complains of nothing" silent $tool
done
refuse "a node of ours has no MlnxExtPortInfo" "failed|not supported" smpquery -C pib0 mlnxextportinfo "$(lid_of pib1)" 1
answered() { ! grep -i "error status" "$SM_DIR/opensm.log"; }
check "opensm was refused nothing" answered
sm_end
pibctl fabric clear
check "switch add enhanced" pibctl switch add sw0 ports 2 enhanced
check "port 0 awaits a subnet manager" port0 sw0 .state '"INIT"'
pibctl switch del sw0

# ---- ibsim's own examples ----

example() { pibctl fabric load "$1" && fabric_sm && subnet_up && wait_for 30 all_active; }
for file in "${examples[@]}"; do
	check "ibsim's ${file##*/}: SUBNET UP" example "$file"
	check "ibsim's ${file##*/}: found as in the file" discovers "$file"
	sm_end
	pibctl fabric clear
done
ktap_end

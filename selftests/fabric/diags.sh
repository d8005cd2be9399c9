#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# infiniband-diags and ibutils on a tree of three levels, 8 HCAs and 12 switches: what they print is
# what the fabric is, and what they set happens.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/topology.sh"
trap topology_clean EXIT

# tool COMMAND...: from pib0, and not for ever
tool() {
	case $1 in
	ibdiagnet) timeout 240 "$@" ;;
	ibstat | ibstatus | ibcacheedit | check_lft_balance) timeout 60 "$@" ;;
	*) timeout 60 "$1" -C pib0 "${@:2}" ;;
	esac
}
# says NAME PATTERN COMMAND...: ok if the command succeeds and a line of its output matches PATTERN
says() {
	local name=$1 pattern=$2
	shift 2
	check "$name" says_ "$pattern" "$@"
}
says_() {
	local out
	out=$(tool "${@:2}" 2>&1) || { echo "status $?: $out"; return 1; }
	grep -Eq -- "$1" <<<"$out" || { echo "no line matches '$1':"; echo "$out"; return 1; }
}
# counts NAME NUMBER PATTERN COMMAND...: as many lines match
counts() {
	local name=$1
	shift
	check "$name" counts_ "$@"
}
counts_() {
	local out n
	out=$(tool "${@:3}" 2>&1) || { echo "status $?: $out"; return 1; }
	n=$(grep -Ec -- "$2" <<<"$out")
	[ "$n" = "$1" ] || { echo "$n lines match '$2', not $1:"; echo "$out"; return 1; }
}
# unsupported NAME COMMAND...: what an agent does not have, it says so at once
unsupported() {
	local name=$1 start=$SECONDS
	shift
	refuse "$name" "failed|failure|not supported" tool "$@"
	[ $((SECONDS - start)) -lt 4 ] || echo "# only after $((SECONDS - start)) s"
}

ktap_plan 168
topology_init ib_ipoib
check "traffic generator compiles" allpairs_build
tree=$(net xgft 2,2,2 1,2,2)
pibctl fabric load "$tree" && fabric_sm && subnet_up
ip link set ib0 up
ip link set ib7 up
check "subnet of 8 HCAs and 12 switches" wait_for 30 all_active
near=$(lid_of pib0) far=$(lid_of pib7) sm=$(lid_of pib0)
leaf=$(pibctl -j show s1-0-0-0 | jq '.switches[0].ports[0].lid')
leaf_guid=$(pibctl -j show s1-0-0-0 | jq -r '.switches[0].node_guid')
spine=$(pibctl -j show s3-0-0-0 | jq '.switches[0].ports[0].lid')
far_guid=$(port_guid pib7)
hex() { printf %x "$1"; }

# ---- what is there ----

says "ibstat: state" "^[[:space:]]*State: Active" ibstat pib7
says "ibstat: LID" "Base lid: $far\$" ibstat pib7
says "ibstat: GUID" "Port GUID: $far_guid\$" ibstat pib7
counts "ibstat -l: all HCAs" 8 "^pib[0-7]\$" ibstat -l
counts "ibstat -p: all port GUIDs" 8 "^0x[0-9a-f]{16}\$" ibstat -p
says "ibstatus" "state:.*4: ACTIVE" ibstatus pib3
says "ibaddr: GID and LID" "^GID fe80::.*LID start 0x$(hex "$far") end 0x$(hex "$far")" ibaddr "$far"
says "ibaddr -g" "^GID fe80:" ibaddr -g "$far"
says "ibaddr -l" "^LID start 0x$(hex "$leaf")" ibaddr -l "$leaf"
counts "ibhosts" 8 '^Ca.*0x[0-9a-f]{16} ports 1 "h-' ibhosts
counts "ibswitches" 12 '^Switch.*0x[0-9a-f]{16} ports [24] "s[123]-' ibswitches
counts "ibnodes" 20 '^(Ca|Switch)' ibnodes
counts "ibrouters: none" 0 . ibrouters
check "ibnetdiscover: the fabric" discovers "$tree"
counts "ibnetdiscover -l: nodes" 20 "^(Ca|Switch)" ibnetdiscover -l
counts "ibnetdiscover -H: HCAs" 8 "^Ca" ibnetdiscover -H
counts "ibnetdiscover -S: switches" 12 "^Switch" ibnetdiscover -S
counts "ibnetdiscover -p: ends of cables" 48 "^(CA|SW) .* - (CA|SW) " ibnetdiscover -p
counts "ibnetdiscover -f: speeds in full" 12 "^Switch" ibnetdiscover -f
tool ibnetdiscover --cache /tmp/diags.cache >/dev/null
counts "ibnetdiscover --load-cache" 8 "^Ca" ibnetdiscover --load-cache /tmp/diags.cache
counts "ibnetdiscover --diff: none" 0 "^[<>]" ibnetdiscover --diff /tmp/diags.cache
check "ibcacheedit" ibcacheedit --switchguid "$leaf_guid:0xabcdef00" /tmp/diags.cache /tmp/diags.edited
says "ibcacheedit: the GUID is another" "switchguid=0xabcdef00" ibnetdiscover --load-cache /tmp/diags.edited
counts "iblinkinfo: ends Active" 48 "Active/ +LinkUp" iblinkinfo
says "iblinkinfo -S" "4X +25.78125 Gbps Active/ +LinkUp" iblinkinfo -S "$leaf_guid"
counts "iblinkinfo -d: none is down" 0 Down iblinkinfo -d
counts "ibidsverify" 0 "[Dd]uplicate" ibidsverify

# ---- routes ----

says "ibroute: to the far HCA" "^0x$(printf %04x "$far") 00[34] : .*'h-1-1-1'" ibroute "$leaf"
counts "ibroute: all LIDs" 20 "^0x[0-9a-f]{4} [0-9]{3} : " ibroute "$leaf"
says "ibroute -D" "valid lids dumped" ibroute -D 0,1
says "ibroute -M" "^0xc000 " ibroute -M "$leaf"
counts "ibtracert: five switches" 5 "^\[[0-9]+\] -> switch port" ibtracert "$near" "$far"
says "ibtracert: to the end" "\[[0-9]+\] -> ca port \{$far_guid\}\[1\] lid $far-$far" ibtracert "$near" "$far"
says "ibtracert -G" "^To ca .* lid $far-$far" ibtracert -G "$(port_guid pib0)" "$far_guid"
counts "dump_fts: all switches" 12 "^Unicast lids" dump_fts
counts "dump_lfts" 12 "^Unicast lids" dump_lfts
counts "dump_mfts" 12 "^Multicast mlids" dump_mfts
lft_balance() {
	tool dump_lfts >/tmp/diags.lfts && tool check_lft_balance -v -l /tmp/diags.lfts -i /tmp/diags.cache >/tmp/diags.balance || return 1
	grep -q s1-0-0-0 /tmp/diags.balance
}
check "check_lft_balance" lft_balance
says "ibfindnodesusing" "h-[01]-[01]-1" ibfindnodesusing "$leaf_guid" 3

# ---- SMPs ----

says "smpquery nodeinfo" "^NodeType:\.+Channel Adapter" smpquery nodeinfo "$far"
says "smpquery nodeinfo of a switch" "^NumPorts:\.+4\$" smpquery nodeinfo "$leaf"
says "smpquery nodedesc" "h-1-1-1\$" smpquery nodedesc "$far"
says "smpquery portinfo" "^LinkState:\.+Active" smpquery portinfo "$far" 1
says "smpquery portinfo: LID" "^Lid:\.+$far\$" smpquery portinfo "$far"
says "smpquery portinfo of a switch port" "^PhysLinkState:\.+LinkUp" smpquery portinfo "$leaf" 4
says "smpquery -x portinfo" "^LinkSpeedExtActive:\.+25.78125 Gbps" smpquery -x portinfo "$leaf" 1
says "smpquery portinfoextended" "^CapMask:\.+0x" smpquery portinfoextended "$far" 1
says "smpquery switchinfo" "^LinearFdbTop:\.+[0-9]+" smpquery switchinfo "$leaf"
says "smpquery pkeytable" "0xffff" smpquery pkeytable "$far" 1
says "smpquery pkeytable of a switch port" "0xffff" smpquery pkeytable "$leaf" 2
says "smpquery sl2vltable" "^ports: in  0, out  0: \|" smpquery sl2vltable "$far"
counts "smpquery sl2vltable of a switch port" 5 "^ports: in +[0-4], out +2" smpquery sl2vltable "$leaf" 2
says "smpquery vlarbitration" "WEIGHT: *\|" smpquery vlarbitration "$leaf" 1
says "smpquery guidinfo" "$far_guid" smpquery guidinfo "$far"
unsupported "smpquery mlnxextportinfo: not this vendor's" smpquery mlnxextportinfo "$far" 1
says "smpquery -D" "s1-0-0-0" smpquery -D nodedesc 0,1
says "smpquery -D, three hops" "s3-" smpquery -D nodedesc 0,1,3,3
says "smpquery -c" "s2-" smpquery -c nodedesc "$leaf" 0,3
says "smpquery -G" "^Guid:\.+0x" smpquery -G nodeinfo "$far_guid"
says "smpdump" "^[0-9a-f]{4} [0-9a-f]{4}" smpdump "$far" 0x11
says "smpdump -s" "h-1-1-1" smpdump -s "$far" 0x10
says "smpdump -D" "^[0-9a-f]{4}" smpdump -D 0,1 0x15 1
says "sminfo: master" "sm lid $sm sm guid 0x$(hex "$(port_guid pib0)"), .* state 3 SMINFO_MASTER" sminfo
unsupported "sminfo of a port without SM" sminfo "$far"

# ---- counters ----

# MADs of the GSI were discarded where they came to ports that were not ACTIVE yet.
tool ibqueryerrors -s PortRcvSwitchRelayErrors,PortXmitWait -k -K >/dev/null
check "traffic" /tmp/allpairs

says "perfquery" "^PortXmitPkts:\.+[1-9]" perfquery "$leaf" 1
says "perfquery of the local port" "Lid $near port 1 " perfquery
says "perfquery -G" "^PortRcvPkts:\.+[1-9]" perfquery -G "$far_guid" 1
says "perfquery -x" "^PortUnicastXmitPkts:\.+[1-9]" perfquery -x "$leaf" 1
says "perfquery -a: all ports in one" "Lid $leaf port 255 " perfquery -a "$leaf"
counts "perfquery -l: each port" 2 "Port counters: Lid $leaf port [12] " perfquery -l "$leaf" 1-2
says "perfquery -a with a list" "^PortXmitPkts" perfquery -a "$leaf" 1,4
counts "perfquery -x -l with a list" 2 "Lid $leaf port [14] " perfquery -x -l "$leaf" 1,4
says "perfquery of port 0" "^PortSelect:\.+0\$" perfquery "$leaf" 0
says "perfquery -X" "^XmtDataSL15:\.+[0-9]" perfquery -X "$leaf" 1
says "perfquery -S" "^RcvDataSL15:\.+[0-9]" perfquery -S "$leaf" 1
says "perfquery --xmtdisc" "^PortInactiveDiscards:\.+0" perfquery --xmtdisc "$leaf" 1
says "perfquery -E" "^PortLocalPhysicalErrors:\.+0" perfquery -E "$leaf" 1
says "perfquery -T" "^SyncHeaderErrorCounter:\.+0" perfquery -T "$leaf" 1
says "perfquery --oprcvcounters" "^PortOpRcvPkts:" perfquery --oprcvcounters "$leaf" 1
says "perfquery --flowctlcounters" "^PortXmitFlowPkts:" perfquery --flowctlcounters "$leaf" 1
says "perfquery --vloppackets" "^PortVLOpPackets0:" perfquery --vloppackets "$leaf" 1
says "perfquery --vlopdata" "^PortVLOpData0:" perfquery --vlopdata "$leaf" 1
says "perfquery --vlxmitflowctlerrors" "^PortVLXmitFlowCtlUpdateErrors0:" perfquery --vlxmitflowctlerrors "$leaf" 1
says "perfquery --vlxmitcounters" "^PortVLXmitWait0:" perfquery --vlxmitcounters "$leaf" 1
for option in swportvlcong rcvcc slrcvfecn slrcvbecn xmitcc vlxmittimecc; do
	says "perfquery --$option" "^(#.*|[A-Za-z]+[0-9]*:.*)" perfquery --$option "$leaf" 1
done
says "perfquery -c" "^SampleMechanisms:|^Tick:" perfquery -c "$leaf" 1
counted() { tool perfquery "$leaf" 1 | sed -n "s/^$1:\.*//p"; }
resets() {
	local before after
	before=$(counted PortXmitPkts)
	tool perfquery "$@" >/dev/null || return 1
	after=$(counted PortXmitPkts)
	echo "$before packets, then $after"
	[ "$after" -lt "$before" ]
}
# Bit 14 of the mask is PortXmitPkts. Its neighbours are PortRcvData and PortRcvPkts.
resets_alone() {
	local data packets
	data=$(counted PortRcvData) packets=$(counted PortRcvPkts)
	more "$data" 0 && more "$packets" 0 && resets "$@" && no_less "$(counted PortRcvData)" "$data" &&
		no_less "$(counted PortRcvPkts)" "$packets"
}
check "perfquery -r reads and resets" resets -r "$leaf" 1
/tmp/allpairs >/dev/null
check "perfquery -R with a mask resets only those" resets_alone -R "$leaf" 1 0x4000
/tmp/allpairs >/dev/null
check "perfquery -R -a resets all ports" resets -R -a "$leaf"
ext_zero() { tool perfquery -x -R -a "$leaf" >/dev/null && [ "$(tool perfquery -x "$leaf" 2 | sed -n 's/^PortXmitData:\.*//p')" -lt 2000 ]; }
check "perfquery -x -R -a" ext_zero

# A multicast that would go back where it came from is a relay error, as on hardware; a wait is none.
relay=PortRcvSwitchRelayErrors,PortXmitWait
counts "ibqueryerrors: none" 0 "Errors for" ibqueryerrors -s $relay
says "ibqueryerrors: all nodes looked at" "Summary: 20 nodes checked, 0 bad" ibqueryerrors -s $relay
says "ibqueryerrors --counters" "s1-0-0-0" ibqueryerrors -s PortXmitWait --counters
says "ibqueryerrors -k -K clears" "Summary: 20 nodes" ibqueryerrors -s $relay -k -K

# ---- ports are set ----

state_of() { pibctl -j show "$1" | jq -r ".switches[0].ports[] | select(.port == $2) | $3"; }
leaf_is() { [ "$(state_of s1-0-0-0 "$1" "$2")" = "$3" ]; }
says "ibportstate query: with its peer" "^Peer PortInfo" ibportstate "$leaf" 3 query
says "ibportstate -D" "^LinkState:\.+Active" ibportstate -D 0,1 3
says "ibportstate across switches" "^LinkState:\.+Active" ibportstate "$spine" 1
check "ibportstate disable" tool ibportstate "$leaf" 3 disable
check "the port is Disabled" wait_for 10 leaf_is 3 .physical_state DISABLED
says "iblinkinfo -d names it" "Down/ *Disabled" iblinkinfo -d
check "ibportstate enable" tool ibportstate "$leaf" 3 enable
check "the SM makes it ACTIVE again" wait_for 30 leaf_is 3 .state ACTIVE
check "ibportstate off" tool ibportstate "$leaf" 3 off
check "off is Disabled" wait_for 10 leaf_is 3 .physical_state DISABLED
check "ibportstate on" tool ibportstate "$leaf" 3 on
check "on is ACTIVE" wait_for 30 leaf_is 3 .state ACTIVE

# An SM would set the speeds again at once.
sm_end
says "ibportstate speed" "^LinkSpeedEnabled:\.+2.5 Gbps\$" ibportstate "$leaf" 3 speed 1
check "ibportstate espeed: none" tool ibportstate "$leaf" 3 espeed 30
says "ibportstate width" "^LinkWidthEnabled:\.+1X\$" ibportstate "$leaf" 3 width 1
trains() { tool ibportstate "$@" >/dev/null && wait_for 10 leaf_is 3 .state INIT; }
check "ibportstate reset: INIT" trains "$leaf" 3 reset
check "the link is 1X" leaf_is 3 .width 1X
check "and SDR" leaf_is 3 .speed SDR
read -r peer_port < <(pibctl -j show links s1-0-0-0/3 | jq -r '.links[0] | [.a, .b][] | select(.node != "s1-0-0-0") | .port')
sets_both() { tool ibportstate "$leaf" 3 "$1" && tool ibportstate -D 0,1,3 "$peer_port" "$1" && leaf_is 3 .state "$2"; }
check "ibportstate arm, by LID and by DR path" sets_both arm ARMED
check "ibportstate active, by LID and by DR path" sets_both active ACTIVE
wide() {
	tool ibportstate "$leaf" 3 width 255 >/dev/null && tool ibportstate "$leaf" 3 speed 7 >/dev/null &&
		tool ibportstate "$leaf" 3 espeed 31 >/dev/null && trains -D 0,1 3 reset && leaf_is 3 .width 4X && leaf_is 3 .speed EDR
}
check "width 255, speed 7, espeed 31, reset by DR path: 4X EDR again" wide
active() { sets_both arm ARMED && sets_both active ACTIVE; }
check "armed and active again" active
check "ibportstate down: INIT" trains "$leaf" 3 down
check "ibportstate vls" tool ibportstate "$leaf" 3 vls 2
says "the port has two" "^OperVLs:\.+VL0-1\$" smpquery portinfo "$leaf" 3
check "ibportstate mtu" tool ibportstate "$leaf" 3 mtu 3
says "the port has 1024" "^NeighborMTU:\.+1024\$" smpquery portinfo "$leaf" 3
fabric_sm && subnet_up
check "a new SM makes all ACTIVE" wait_for 30 all_active
says "ibportstate lid, smlid, lmc" "^Lid:\.+$far\$" ibportstate -G "$far_guid" 1 lid "$far" smlid "$sm" lmc 0
says "ibportstate mkeylease" "^MkeyLeasePeriod:\.+60" ibportstate "$far" 1 mkeylease 60

# ---- QP1 ----

ibping -C pib7 -S >/dev/null 2>&1 &
ibping=$!
pinged() { timeout 60 ibping -C pib0 -c 5 "$@" | grep -q " 0% packet loss"; }
check "ibping by LID" wait_for 10 pinged -f "$far"
check "ibping by GUID" pinged -f -G "$far_guid"
kill $ibping; wait $ibping 2>/dev/null
ibsysstat -C pib7 -S >/dev/null 2>&1 &
ibsysstat=$!
check "ibsysstat ping" wait_for 10 tool ibsysstat "$far" ping
says "ibsysstat host" "$(uname -n)" ibsysstat "$far" host
says "ibsysstat cpu: both CPUs" "^cpu 1: model" ibsysstat "$far" cpu
kill $ibsysstat; wait $ibsysstat 2>/dev/null
unsupported "vendstat: no vendor's agent, said at once" vendstat -N "$far"

# ---- SA ----

says "saquery: ClassPortInfo" "Capability mask\.+0x[0-9A-F]*[1-9A-F]" saquery CPI
counts "saquery: NodeRecord" 20 "^NodeRecord dump" saquery NR
says "saquery: NodeRecord of a LID" "h-1-1-1" saquery NR "$far"
counts "saquery: PortInfoRecord" 60 "^PortInfoRecord dump" saquery PIR
says "saquery: PortInfoRecord of a port" "EndPortLid\.+$leaf" saquery PIR "$leaf/2"
says "saquery: SL2VLTableRecord" "OutPort\.+2" saquery SL2VL "$leaf/1/2"
says "saquery: PKeyTableRecord" "0xffff|0xFFFF|ffff" saquery --smkey 1 PKTR "$far/1/0"
says "saquery: VLArbitrationTableRecord" "^VLArbTableRecord" saquery VLAR "$leaf/1"
counts "saquery: InformInfoRecord: none" 0 . saquery IIR
counts "saquery: LinkRecord" 48 "^LinkRecord dump" saquery LR
counts "saquery: ServiceRecord: none" 0 . saquery SR
says "saquery: PathRecord" "dlid\.+$far\$" saquery --slid "$near" --dlid "$far" PR
says "saquery: MCMemberRecord" "mlid\.+0x[cC]000" saquery MCMR
says "saquery: LFTRecord" "LID\.+$leaf\$" saquery LFTR "$leaf/0"
says "saquery: MFTRecord" "^MFT Record" saquery MFTR
says "saquery: GUIDInfoRecord" "$far_guid" saquery GIR "$far"
counts "saquery: SwitchInfoRecord" 12 "^SwitchInfoRecord dump" saquery SWIR
says "saquery: SMInfoRecord" "GUID\.+$(port_guid pib0)" saquery SMIR
says "saquery -L" "^$far\$" saquery -L h-1-1-1
says "saquery -G" "$far_guid" saquery -G h-1-1-1
says "saquery -O" "h-1-1-1" saquery -O "$far"
says "saquery -U" "h-1-1-1" saquery -U "$far_guid"
says "saquery --src-to-dst" "dlid\.+$far" saquery --src-to-dst "$near:$far"
says "saquery --sgid-to-dgid" "dlid\.+$far" saquery --sgid-to-dgid "$(cat /sys/class/infiniband/pib0/ports/1/gids/0)-$(cat /sys/class/infiniband/pib7/ports/1/gids/0)"
says "saquery -s: the SM's port" "base_lid\.+$sm\$" saquery -s
counts "saquery -D: HCAs" 8 "h-[01]-[01]-[01]" saquery -D
says "saquery -g: groups" "Mlid\.+0xC000" saquery -g
says "saquery -m: members" "$(cut -d: -f5-8 /sys/class/infiniband/pib7/ports/1/gids/0 | sed 's/0000:0000:0*//; s/:0*/:/')" saquery -m
counts "saquery -x: cables" 48 "^LinkRecord dump" saquery -x

# ---- ibutils ----

says "ibdiagnet: the whole fabric" "20 nodes .*12 Switches.*8 CA" ibdiagnet -i 1 -o /tmp/ibdiagnet
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# OpenSM keeps ports apart, and keeps others from changing that: P_Keys in HCAs and switches, the M_Key, alias
# GUIDs, and the traps by which ports complain.
#
#	full, SM	pib0 --- 1      1 --- pib2	limited
#				 sa3 -- 3sb
#	limited		pib1 --- 2      2 --- pib3	not a member
#
# All are limited members of the default partition, but for the SM's port and those of the switches themselves: they see
# these, and not one another.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/topology.sh"
. "$here/../lib/traces.sh"
clean() {
	local k
	[ -z "$tracer" ] || kill "$tracer"
	for k in 0 1 2 3; do ip netns del "m$k" 2>/dev/null; done
	topology_clean
}
tracer=''
trap clean EXIT

ktap_plan 119
topology_init ib_ipoib
check "talk compiles" program talk /tmp/talk
check "smpset compiles" program smpset /tmp/smpset
check "sa_guids compiles" program sa_guids /tmp/sa_guids

cat >/tmp/partitions.net <<-END
	Switch	3 "sa"	# "sa"
	[1]	"h-0"[1]
	[2]	"h-1"[1]
	[3]	"sb"[3]

	Switch	3 "sb"	# "sb"
	[1]	"h-2"[1]
	[2]	"h-3"[1]
	[3]	"sa"[3]

	Hca	1 "h-0"	# "h-0"
	[1]	"sa"[1]

	Hca	1 "h-1"	# "h-1"
	[1]	"sa"[2]

	Hca	1 "h-2"	# "h-2"
	[1]	"sb"[1]

	Hca	1 "h-3"	# "h-3"
	[1]	"sb"[2]
END
check "load" pibctl fabric load /tmp/partitions.net

GUID=() LID=()
for k in 0 1 2 3; do GUID[k]=$(port_guid "pib$k"); done
CLUB=0x8001
# club MEMBER=LEVEL...: what partitions.conf says from now on
club() { echo "Default=0x7fff, ipoib : ALL=limited, ALL_SWITCHES=full, SELF=full; club=$CLUB, ipoib : $(paste -sd, <<<"$(printf '%s\n' "$@")");" >/tmp/partitions.conf; }
# sm NAME OPTION...: OpenSM started again, and what it has made known
sm() {
	local k name=$1
	shift
	sm_end
	check "$name" fabric_sm -P /tmp/partitions.conf "$@"
	check "$name: SUBNET UP" subnet_up
	check "$name: ACTIVE" wait_for 60 all_active
	for k in 0 1 2 3; do LID[k]=$(lid_of "pib$k"); done
	SA=$(switch_lid sa) SB=$(switch_lid sb)
}
sm_logs() { wait_for "$1" grep -Eq -- "$2" "$SM_DIR/opensm.log" || { tail -n 20 "$SM_DIR/opensm.log"; return 1; }; }
# trap_from NUMBER LID: OpenSM has had that trap, from there
trap_from() { sm_logs 20 "num:$1 .*from LID:$2 "; }

club "${GUID[0]}=full" "${GUID[1]}=limited" "${GUID[2]}=limited"
sm "a partition of three"

# ---- tables ----

is() { echo "is '$1', not '$2'"; [ "$1" = "$2" ]; }
# keys LID [PORT]: what is in the table, in order, without what is empty
keys() { smpquery -C pib0 pkeytable "$@" | sed -n 's/^ *[0-9]*: *//p' | tr ' ' '\n' | grep 0x | grep -v 0x0000 | paste -sd' '; }
# field NAME LID [PORT]: of PortInfo
field() { smpquery -C pib0 portinfo "${@:2}" | sed -n "s/^$1:\.*//p"; }
# counter NAME LID PORT: of PortCounters
counter() { perfquery -C pib0 "${@:2}" | sed -n "s/^$1:\.*//p"; }
pkey_of() { cat "/sys/class/infiniband/$1/ports/1/pkeys/$2"; }
check "full member: table" is "$(keys "${LID[0]}")" "0xffff 0x8001"
check "limited member: table" is "$(keys "${LID[1]}")" "0x7fff 0x0001"
check "limited member: what its host sees" is "$(pkey_of pib1 0) $(pkey_of pib1 1)" "0x7fff 0x0001"
check "not a member: table" is "$(keys "${LID[3]}")" 0x7fff
check "switch port of a limited member: as the member's" is "$(keys "$SA" 2)" "0x7fff 0x0001"
check "switch port of who is not" is "$(keys "$SB" 2)" 0x7fff
check "switch port to an HCA: enforces" is "$(field PartEnforceInb "$SB" 2) $(field PartEnforceOutb "$SB" 2)" "1 1"
check "switch port to a switch: does not" is "$(field PartEnforceInb "$SB" 3) $(field PartEnforceOutb "$SB" 3)" "0 0"
check "saquery: PKeyTableRecord" sh -c "saquery -C pib0 --smkey 1 PKTR ${LID[1]}/1/0 | grep -q '0x7fff *0x0001'"

# ---- who may talk to whom, by which the tables of OpenSM 1 switches ----

# may RC|UD FROM TO [P_KEY P_KEY]
may() { /tmp/talk "$1" "pib$2" "${4:-$CLUB}" "pib$3" "${5:-$CLUB}"; }
may_not() { loses may "$@"; }
# with_key N COMMAND...: while HCA N has given itself the partition's key, of which its switch knows nothing
with_key() {
	local status=0
	second_key "$1" $((CLUB >> 8)) $((CLUB & 0xFF)) || return 2
	"${@:2}" || status=$?
	second_key "$1" 0 0 && return $status
}
# second_key N BYTE BYTE: in HCA N's P_KeyTable
second_key() { /tmp/smpset "pib$1" "${LID[$1]}" 0x16 0 2 "$2" "$3"; }
# grows COMMAND BEFORE BY: a count is so much larger than it was
grows() { local now; now=$($1); echo "$1: $2, then $now"; [ "$now" = $(($2 + $3)) ]; }
for service in rc ud; do
	check "$service: full to limited" may $service 0 1
	check "$service: limited to full" may $service 2 0
	check "$service: limited to limited: lost" may_not $service 1 2
	check "$service: to who is not a member: lost" may_not $service 0 3 $CLUB 0
	check "$service: from who is not a member: lost" may_not $service 3 0 0 $CLUB
	check "$service: from who has given itself the key: lost" with_key 3 may_not $service 3 0
	check "$service: default partition: to the SM" may $service 3 0 0x7fff 0x7fff
	check "$service: default partition: not to each other" may_not $service 3 1 0x7fff 0x7fff
done
# The switch answers by its own key: a limited member would refuse its limited key if that came back (10.9.3).
check "a switch itself: full member" is "$(keys "$SB" 0)" 0xffff
check "limited member: a switch answers it" perfquery -C pib1 "$SB" 2
no_key() { local out; out=$(may rc 0 3 2>&1); echo "$out"; [[ $out == *"no P_Key of partition 0x1" ]]; }
check "who is not a member has no such P_Key" no_key

# The HCA refuses what the switch lets pass, which compares partitions and not memberships; each datagram counts once.
at_hca() { field PkeyViolations "${LID[2]}"; }
before=$(at_hca)
may_not ud 1 2 >/dev/null
check "limited to limited: PkeyViolations of the HCA" grows at_hca "$before" 1
check "trap 257 from the HCA" trap_from 257 "${LID[2]}"
# A QP in RESET has no P_Key of its own any more: nothing that comes for it is a violation.
before=$(at_hca)
for service in rc ud; do
	check "$service: to a queue pair in RESET: lost" loses /tmp/talk -r $service pib0 $CLUB pib2 $CLUB
done
check "to queue pairs in RESET: no violation" grows at_hca "$before" 0
out_of_switch() { counter PortXmitConstraintErrors "$SB" 2; }
before=$(out_of_switch)
may_not ud 0 3 $CLUB 0 >/dev/null
check "to who is not a member: PortXmitConstraintErrors of the switch" grows out_of_switch "$before" 1
into_switch() { counter PortRcvConstraintErrors "$SB" 2; }
before=$(into_switch)
with_key 3 may_not ud 3 0 >/dev/null
check "from who has given itself the key: PortRcvConstraintErrors of the switch" grows into_switch "$before" 1
check "trap 259 from the switch" trap_from 259 "$SB"

# ---- IPoIB: a child interface of the partition on each HCA, each in a host of its own ----

children() {
	local k
	for k in 0 1 2 3; do
		ip netns add "m$k" && ip link add link "ib$k" name "c$k" type ipoib pkey $CLUB && ip link set "c$k" netns "m$k" &&
			ip -n "m$k" addr add "10.79.0.$((k + 1))/24" dev "c$k" && ip -n "m$k" link set "c$k" up || return 1
	done
}
pings() { ip netns exec "m$1" ping -c 1 -W 1 "10.79.0.$(($2 + 1))"; }
carrier() { ip -n "m$1" link show "c$1" | grep -q LOWER_UP; }
silent() { local out; ! out=$(ip netns exec "m$1" ping -c 3 -i 0.3 -W 1 "10.79.0.$(($2 + 1))") && grep "100% packet loss" <<<"$out"; }
check "IPoIB: child interfaces" children
check "IPoIB: full and limited" wait_for 30 pings 0 1
check "IPoIB: full and the other limited" wait_for 30 pings 0 2
check "IPoIB: limited and limited: nothing" silent 1 2
no_carrier() { ! carrier 3; }
check "IPoIB: no carrier for who is not a member" no_carrier

# ---- members come and go ----

club "${GUID[0]}=full" "${GUID[2]}=limited" "${GUID[3]}=full"
check "the partition changes" pkill -HUP -x opensm
keys_are() { [ "$(keys "$1")" = "$2" ]; }
check "the new member's table" wait_for 30 keys_are "${LID[3]}" "0x7fff 0x8001"
check "the former member's table" wait_for 30 keys_are "${LID[1]}" 0x7fff
check "IPoIB: the new member has a carrier, by itself" wait_for 30 carrier 3
check "IPoIB: the new member and the limited one" wait_for 30 pings 3 2
check "IPoIB: not the former member" silent 0 1
check "rc: the new member" may rc 3 2

# ---- without enforcement by switches: the HCAs themselves refuse ----

# Nobody else is to send in the partition while violations are counted.
hosts_gone() { local k; for k in 0 1 2 3; do ip netns del "m$k" || return; done; }
check "IPoIB: the hosts go" hosts_gone
sm "switches that do not enforce" -Z off
check "it is off" is "$(field PartEnforceInb "$SB" 2) $(field PartEnforceOutb "$SB" 2)" "0 0"
at_hca() { field PkeyViolations "${LID[1]}"; }
before=$(at_hca)
check "to who is not a member: lost" may_not ud 0 1 $CLUB 0
check "PkeyViolations of the HCA" grows at_hca "$before" 1
check "trap 257 from it" trap_from 257 "${LID[1]}"
check "from who is not a member: lost" may_not rc 1 0 0 $CLUB
at_sm() { field PkeyViolations "${LID[0]}"; }
before=$(at_sm)
check "with the key of another partition, a WRITE of four packets: lost" loses /tmp/talk -n rc pib3 $CLUB pib0 0x7fff
grew_past() { local now; now=$($1); echo "$1: $2, then $now"; [ "$now" -gt $(($2 + $3)) ]; }
check "PkeyViolations of the HCA: each packet" grew_past at_sm "$before" 3
check "from who has given itself the key: nobody refuses" with_key 1 may ud 1 0
check "members talk" may ud 0 3

# ---- alias GUIDs ----

ALIAS=0x0002c903deadbeef
alias_is() { [ "$(sed 's/.*:\(....\):\(....\):\(....\):\(....\)$/0x\1\2\3\4/' "/sys/class/infiniband/$1/ports/1/gids/$2")" = "$3" ]; }
guid_is() { smpquery -C pib0 guidinfo "$1" | grep -q "^ *0: .*$2"; }
check "SubnAdmSet(GUIDInfoRecord): an alias of one's own choice" is "$(/tmp/sa_guids set pib3 "${LID[3]}" 1 $ALIAS)" $ALIAS
check "its host has it" wait_for 20 alias_is pib3 1 $ALIAS
check "smpquery guidinfo" wait_for 20 guid_is "${LID[3]}" $ALIAS
check "saquery: GUIDInfoRecord" sh -c "saquery -C pib0 GIR ${LID[3]} | grep 'GUID 1\.*$ALIAS'"
gid() { cat "/sys/class/infiniband/$1/ports/1/gids/$2"; }
leads_to() { saquery -C pib0 --sgid-to-dgid "$(gid pib0 0)-$(gid pib3 1)" | grep "dlid\.*${LID[3]}\$"; }
check "saquery: a path to the alias" leads_to
for service in rc ud; do check "$service by the alias" /tmp/talk -g 1 $service pib0 $CLUB pib3 $CLUB; done
check "an alias that another port has: not given" is "$(/tmp/sa_guids set pib2 "${LID[2]}" 1 $ALIAS)" 0x0000000000000000
check "nor at its host" alias_is pib2 1 0x0000000000000000
chosen() { CHOSEN=$(/tmp/sa_guids set pib3 "${LID[3]}" 2) && [ "$CHOSEN" != 0x0000000000000000 ] && wait_for 20 alias_is pib3 2 "$CHOSEN"; }
check "an alias that the SM chooses" chosen
check "SubnAdmDelete(GUIDInfoRecord)" /tmp/sa_guids delete pib3 "${LID[3]}" 1
check "its host has lost it" wait_for 20 alias_is pib3 1 0x0000000000000000

# ---- what an HCA tells the SM of: a bad Q_Key (trap 258), and what its host changes (trap 144) ----

# tids NUMBER: of the traps of this number that OpenSM has had from HCA 2
tids() { sed -n "s/.* num:$1 .* from LID:${LID[2]} .*TID:0x0*\([0-9a-f]*\).*/\1/p" "$SM_DIR/opensm.log"; }
# passed TID EVENT DEVICE METHOD: the trace has that of a Notice with the TransactionID
passed() {
	jq -s -e --arg tid "0x$1" --arg event "$2" --arg device "$3" --arg method "$4" 'any(.transaction == $tid and .event == $event and
		.device == $device and .method == $method and .class == "0x01" and .attribute == "0x0002")' /tmp/mads >/dev/null
}
# goes_there_and_back TID: HCA 2 sends the Trap, the SM's HCA has it, and its TrapRepress comes back
goes_there_and_back() { passed "$1" mad_sent pib2 0x05 && passed "$1" mad_received pib0 0x05 && passed "$1" mad_received pib2 0x07; }
# new_trap NUMBER COUNT: OpenSM has had more than COUNT of them, and the trace has the last one
more_traps() { [ "$(tids "$1" | wc -l)" -gt "$2" ]; }
new_trap() {
	wait_for 20 more_traps "$@" || { echo "OpenSM has had none"; grep ' num:' "$SM_DIR/opensm.log"; return 1; }
	wait_for 20 goes_there_and_back "$(tids "$1" | tail -n 1)" || { grep 0x0002 /tmp/mads; return 1; }
}
# of_sa RECORD PATTERN: what the SM knows of HCA 2 has it
of_sa() { saquery -C pib0 "$1" "${LID[2]}" | grep -q -- "$2"; }
not_of_sa() { local all; all=$(saquery -C pib0 "$1" "${LID[2]}") && ! grep -q -- "$2" <<<"$all"; }

pibctl -j trace event mad_sent event mad_received >/tmp/mads & tracer=$!
check "a trace of MADs" wait_for 20 trace_runs $tracer
qkeys() { field QkeyViolations "${LID[2]}"; }
bad_qkeys() { cat /sys/class/infiniband/pib2/ports/1/hw_counters/rx_bad_qkey; }
before=$(qkeys) counted=$(bad_qkeys)
check "another Q_Key: lost" loses /tmp/talk -k ud pib0 $CLUB pib2 $CLUB
check "another Q_Key: QkeyViolations of the HCA" grows qkeys "$before" 1
check "another Q_Key: its counter" grows bad_qkeys "$counted" 1
check "another Q_Key: trap 258 goes to the SM, which stops it" new_trap 258 0
check "the same Q_Key: arrives" /tmp/talk ud pib0 $CLUB pib2 $CLUB

traps=$(tids 144 | wc -l)
describe() { printf 'club house' >/sys/class/infiniband/pib2/node_desc; }
check "another NodeDescription" describe
check "another NodeDescription: trap 144" new_trap 144 "$traps"
check "another NodeDescription: the SM asks for it" wait_for 20 of_sa NR "club house"

# A program that opens this says that a subnet manager is at the port.
issm=/dev/infiniband/$(basename "$(dirname "$(grep -lx pib2 /sys/class/infiniband_mad/issm*/ibdev)")")
check "no SM at the port" not_of_sa PIR "IsSM$"
traps=$(tids 144 | wc -l)
exec {is_sm}<>"$issm"
check "an SM at the port: trap 144" new_trap 144 "$traps"
check "an SM at the port: the SM looks" wait_for 60 of_sa PIR "IsSM$"
traps=$(tids 144 | wc -l)
exec {is_sm}>&-
check "it goes: trap 144" new_trap 144 "$traps"
check "it goes: the SM looks" wait_for 60 not_of_sa PIR "IsSM$"
kill $tracer
wait $tracer
tracer=

# ---- M_Key ----

KEY=0x1234567812345678
# guard LEVEL LEASE
guard() {
	printf 'm_key %s\nm_key_protection_level %s\nm_key_lease_period %s\nsweep_interval 1\n' $KEY "$1" "$2" >/tmp/m_key.conf
	sm "M_Key, level $1" -F /tmp/m_key.conf -Z off
}
query() { smpquery -C pib0 -t 300 "$@"; }
shown() { query -K "$@" | sed -n 's/^Mkey:\.*//p'; }
guard 1 0
check "the HCA's level" is "$(field ProtectBits "${LID[1]}")" 1
check "Get without the key: the key is not shown" is "$(shown portinfo "${LID[1]}")" 0x0000000000000000
check "Get with it: it is" is "$(shown -y $KEY portinfo "${LID[1]}")" $KEY
violations() { query -y $KEY portinfo "$1" | sed -n 's/^MkeyViolations:\.*//p'; }
before=$(violations "$SB")
refuse "Set without the key: no answer" "failed" ibportstate -C pib0 -t 300 "$SB" 2 disable
check "and nothing is set" is "$(field LinkState "$SB" 2) $(field PhysLinkState "$SB" 2)" "Active LinkUp"
check "MkeyViolations of the switch" more "$(violations "$SB")" "$before"
check "trap 256 from the switch" trap_from 256 "$SB"
refuse "Set with another key" "failed" ibportstate -C pib0 -t 300 -y 0x77 "$SB" 2 disable
check "Set with the key" ibportstate -C pib0 -y $KEY "$SB" 2 speed 7

guard 2 10
check "Get with the key" is "$(shown -y $KEY portinfo "${LID[1]}")" $KEY
before=$(violations "${LID[1]}")
refuse "Get without the key: no answer" "timed out" query portinfo "${LID[1]}"
refuse "nor by directed route" "timed out" query -D nodeinfo 0,1,2
check "MkeyViolations of the HCA" more "$(violations "${LID[1]}")" "$before"
check "trap 256 from the HCA" trap_from 256 "${LID[1]}"
check "traffic goes on" may rc 0 3

# The lease: nobody with the key is heard of for 10 s after a request without it, and the protection ends.
check "the SM goes" sm_end
asked() { query portinfo "${LID[1]}" >/tmp/asked 2>&1; }
refuse "still no answer" "timed out" query portinfo "${LID[1]}"
check "the lease runs out: an answer" wait_for 60 asked
check "its protection is gone, not the key" is "$(sed -n 's/^ProtectBits:\.*//p' /tmp/asked) $(shown -y $KEY portinfo "${LID[1]}")" "0 $KEY"
ktap_end

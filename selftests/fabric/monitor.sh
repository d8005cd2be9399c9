#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pibctl monitor: what changes, as it happens, to whom it is told, and what is said where it is lost.
#
#	pib0 --- switch --- pib1		h1: pib5 (eth0) ==== UDP ==== h2: pib6 (eth0)
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/topology.sh"
work=$(mktemp -d)
chmod 755 "$work"
trap 'monitors_clean; ip netns del h3 2>/dev/null; hosts_clean; topology_clean; rm -rf "$work"' EXIT

as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --inh-caps=-all)
declare -A pids
# start NAME COMMAND...: a monitor that prints into the file of its name. Not to be called by check.
start() {
	local name=$1
	shift
	"$@" >"$work/$name" 2>"$work/$name.err" &
	pids[$name]=$!
}
monitors_clean() { [ ${#pids[@]} = 0 ] || kill -KILL "${pids[@]}" 2>/dev/null; }
# probe FILE [COMMAND...]: a switch that comes and goes by this is heard in the file
probe() {
	local file=$work/$1 before
	shift
	before=$(grep -c probe "$file")
	"$@" pibctl switch add probe ports 1 && "$@" pibctl del probe && [ "$(grep -c probe "$file")" -gt "$before" ]
}
listens() { wait_for 60 probe "$@" || { cat "$work/$1" "$work/$1.err"; return 1; }; }
has() { grep -Eq -- "$2" "$work/$1"; }
# heard FILE PATTERN: a line comes that matches
heard() { wait_for 60 has "$@" || { tail -n 30 "$work/$1" "$work/$1.err"; return 1; }; }
times_heard() { [ "$(grep -Ec -- "$2" "$work/$1")" -ge "$3" ]; }
# in_order FILE PATTERN PATTERN...: lines that match come one after the other
in_order() { wait_for 60 stand_in_order "$@" || stand_in_order "$@"; }
stand_in_order() {
	local file=$work/$1 line=0 at pattern
	shift
	for pattern; do
		at=$(tail -n +$((line + 1)) "$file" | grep -En -m 1 -- "$pattern" | cut -d: -f1)
		[ -n "$at" ] || { echo "after line $line there is no '$pattern'"; cat "$file"; return 1; }
		line=$((line + at))
	done
}
# json FILE FILTER: each line is JSON, and the filter, given all of them, says true
json() { jq -es "$2" "$work/$1" || { tail -n 5 "$work/$1"; return 1; }; }
# ends NAME SIGNAL STATUS: it ends with that
ends() {
	local status
	[ "$2" = none ] || kill -"$2" "${pids[$1]}"
	wait "${pids[$1]}"
	status=$?
	unset "pids[$1]"
	[ $status = "$3" ] || echo "status $status"
}
# ended: the same as a test; the shell that has started it has to wait
ended() {
	local out
	ends "$2" "$3" "$4" >"$work/end"
	out=$(<"$work/end")
	if [ -z "$out" ]; then ok "$1"; else nok "$1"; echo "# $out"; fi
}
# A process has several sockets, and only the first has its pid for a port.
drops() {
	local inodes
	inodes=$(find "/proc/${pids[$1]}/fd" -type l -printf '%l ' | tr -dc '0-9 ')
	awk -v inodes=" $inodes " 'index(inodes, " " $10 " ") && $9 > 0 { found = 1 } END { exit !found }' /proc/net/netlink
}
# A monitor into a pipe that nobody reads.
start_unread() {
	mkfifo "$work/pipe"
	# shellcheck disable=SC2217 # it is not to read
	sleep 10000 <"$work/pipe" &
	pids[reader]=$!
	pibctl monitor >"$work/pipe" 2>"$work/unread.err" &
	pids[unread]=$!
}
# silence: the peer's BYE gets lost
silence() {
	h 2 nft 'add table inet s; add chain inet s out { type filter hook output priority 0; }; add rule inet s out udp dport 18514 @th,64,8 & 0x0f == 4 drop'
}
# silent_restart: the peer goes without a word, and is there again before it is missed
silent_restart() {
	silence && h 2 sh -c "pibctl del pib6; pibctl add pib6 netdev eth0 key-file '$work/key'"
	h 2 nft delete table inet s
}
silently_restarted() {
	has other "session anew" && return
	wait_for 20 udp_up
	silent_restart
	wait_for 5 has other "session anew"
}
# The first address of a network goes, and takes the others of it along.
peer_moves() {
	case $(h 1 pibctl -j show peers | jq -r '.peers[0].address') in
	10.*) ip -n h2 addr del 10.77.0.2/24 dev eth0 && ip -n h2 addr add 10.77.0.22/24 dev eth0 ;;
	*) ip -n h2 addr add fd77::22/64 dev eth0 nodad && ip -n h2 addr del fd77::2/64 dev eth0 ;;
	esac
}
udp_up() { h 1 pibctl -j show peers | jq -e '.peers | length > 0 and all(.up)'; }
port_state() { pibctl -j show | jq -e --arg state "$1" '.hcas[] | select(.name == "pib1") | .ports[0].state == $state'; }
# amid_events: a namespace goes, while what is in it tells of events
amid_events() {
	ip netns add h3
	h 3 pibctl switch add amid1 ports 1 && h 3 pibctl switch add amid2 ports 1 && h 3 pibctl link add amid1/1 amid2/1 &&
		h 3 pibctl link set amid1/1 flap 1ms/1ms && ip netns del h3
}
# Python gives SIGINT back to what a shell has put into the background.
interruptible=(python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])')
reader_goes() {
	local status
	pibctl monitor 2>"$work/err" | head -n 1 >"$work/out"
	status=${PIPESTATUS[0]}
	grep -q "cannot write the output" "$work/err" && [ "$status" = 1 ] && return
	echo "status $status"
	cat "$work/err"
	return 1
}
# Something is to happen until the command has had enough.
stirred() {
	local pid status
	"$@" &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		pibctl switch add probe ports 1 && pibctl del probe
	done
	wait $pid
}
# documented COMMAND: it prints something; what does not end by itself is interrupted then
documented() {
	rm -f "$work/doc"
	# shellcheck disable=SC2317 # by wait_for
	prints() {
		pibctl link set pib1/1 down && pibctl link set pib1/1 up
		[ -s "$work/doc" ]
	}
	setsid "${interruptible[@]}" bash -o pipefail -c "$1" >"$work/doc" 2>"$work/doc.err" &
	local pid=$!
	wait_for 60 prints || { cat "$work/doc.err"; kill -KILL -- -$pid; return 1; }
	kill -INT -- -$pid 2>/dev/null
	wait $pid
	[ ! -s "$work/doc.err" ] || { cat "$work/doc.err"; return 1; }
}

# The commands of docs/watch.md, which selftests/check copies beside this folder; top.sh and serve.sh have the others.
mapfile -t commands < <(sed -n 's/^    \(pibctl .*[^# ]\) *#.*$/\1/p' "$here/../watch.md" | grep "pibctl.* monitor")
ktap_plan $((87 + ${#commands[@]}))
cp "$here/events.py" "$work"
hosts_make 2
topology_init
start text pibctl monitor
start json pibctl -j monitor
start nobody "${as_nobody[@]}" pibctl -j monitor
start other ip netns exec h1 pibctl monitor
check "a monitor listens" listens text
check "one that prints JSON" listens json
check "nobody's" listens nobody
check "one in another namespace" listens other ip netns exec h1
start raw "${as_nobody[@]}" "$work/events.py"
check "a program that has netlink only" listens raw

net=$(net xgft 2 1)
check "two HCAs and a switch" pibctl fabric load "$net"
switch=$(pibctl -j show | jq -r '.switches[0].name')
check "an HCA, its cable and its port's state, in this order" in_order text "hca pib0 added node_guid 0x" \
	"link (pib0/1 $switch/[12]|$switch/[12] pib0/1) added" "port pib0/1 state INIT physical_state LINK_UP lid 0"
check "a switch" heard text "switch $switch added"
# A partition of both HCAs, by which what is sent comes to the other one's port.
echo "Default=0x7fff : ALL=full; b=0x8002 : $(port_guid pib0)=full, $(port_guid pib1)=full;" >"$work/partitions.conf"
check "opensm" fabric_sm -P "$work/partitions.conf"
check "all ports ACTIVE" wait_for 60 all_active
check "an HCA's port gets its LID and is ACTIVE" heard text "port pib1/1 state ACTIVE physical_state LINK_UP lid [1-9][0-9]* sm_lid [1-9]"
check "a switch's port is ACTIVE" heard text "port $switch/1 state ACTIVE"
check "the switch gets its LID" heard text "port $switch/0 state .* lid [1-9]"
check "the HCA tells its consumers" heard text "port pib1/1 async_event PORT_ACTIVE"
check "and of its LID" heard text "port pib1/1 async_event LID_CHANGE"

modprobe fuse
check "the program compiles" program reasons "$work/reasons"
# another_key: a queue pair writes to one that has another P_Key, and asks again, until it gives up
another_key() {
	printf '%s\n' "make rc pkey=0x8002 timeout=8 retry=1" "post write 64" "end near" | timeout $((60 * ${PIB_SLOW:-1})) "$work/reasons" pib0 pib1 >"$work/said"
	cat "$work/said"
	grep -q '^ended transport retry counter exceeded' "$work/said"
}
check "what has another P_Key is not taken in" another_key
lid=$(lid_of pib1)
check "trap 257 is told" heard text "port pib1/1 lid $lid trap 257 about \"bad P_Key\""
check "also to nobody, as JSON" heard nobody "\"event\":\"trap\",\"node\":\"pib1\",\"port\":1,\"lid\":$lid,\"trap\":257"

check "a cable is pulled" pibctl link set pib1/1 down
check "which is told, and what becomes of the port" in_order text "link pib1/1 $switch/. plugged no" "port pib1/1 state DOWN"
check "and that the switch tells the subnet manager" heard text "port $switch/0 lid [1-9][0-9]* trap 128"
check "it is put back" pibctl link set pib1/1 up
check "the same" in_order text "plugged no" "link pib1/1 $switch/. plugged yes" "port pib1/1 state INIT"
check "a cable is taken away" pibctl link del pib1/1
check "which is told" heard text "link (pib1/1 $switch/[12]|$switch/[12] pib1/1) deleted"
check "it is laid again" eval 'pibctl link add pib1/1 "$switch/1" || pibctl link add pib1/1 "$switch/2"'
check "an HCA fails" pibctl inject pib0 fatal
check "as it tells its consumers" heard text "hca pib0 async_event DEVICE_FATAL"

check "an HCA gets another name" rdma dev set pib0 name other0
check "which is told" heard text "hca other0 renamed node_guid 0x[0-9a-f]+ old_name pib0"
check "and its former one again" rdma dev set other0 name pib0
check "also as JSON" heard json '"event":"hca_renamed","node":"pib0".*"old_name":"other0"'

check "opensm ends" sm_end

head -c 32 /dev/urandom | base64 >"$work/key"
head -c 32 /dev/urandom | base64 >"$work/second"
start over_udp ip netns exec h1 "${as_nobody[@]}" pibctl -j monitor
check "nobody's in another namespace" listens over_udp ip netns exec h1
start raw_udp ip netns exec h1 "${as_nobody[@]}" "$work/events.py"
check "there a program that has netlink only" listens raw_udp ip netns exec h1
check "HCAs on two hosts" eval 'h 1 pibctl add pib5 netdev eth0 key-file "$work/key" && h 2 pibctl add pib6 netdev eth0 key-file "$work/key"'
check "a session, with the peer's address and description" heard other \
	"link sw0/[0-9]+ udp eth0 peer .*:18514 session up restarts 0 peer_node_guid 0x.* peer_description "
check "the peer gets another address" peer_moves
check "which is told, within the session" heard other "udp eth0 peer (10\.77\.0\.22|\[fd77::22\]):18514 session moved restarts 0 "
check "the uplink fails" ip -n h1 link set eth0 down
check "there is no session" heard other "link sw0/.* session down"
check "it comes back" ip -n h1 link set eth0 up
check "a session, once more" wait_for 60 times_heard other "session up" 2
check "the peer is another one at once" wait_for 120 silently_restarted
check "a session after all that" wait_for 60 udp_up
downs=$(grep -c "session down" "$work/other")
check "the peer goes" h 2 pibctl del pib6
check "there is no session" wait_for 60 times_heard other "session down" $((downs + 1))
check "another key" h 1 pibctl set pib5 second-key-file "$work/second"
check "is told, by number" heard other "hca pib5 keys 2"
check "the HCA goes" h 1 pibctl del pib5
check "its host switch, too" in_order other "switch sw0 added .*auto yes" "switch sw0 deleted" "hca pib5 deleted"
check "an HCA once more" h 1 pibctl add pib5 netdev eth0 key-file "$work/key"
check "its netdev goes" ip -n h1 link del eth0
check "and the HCA with it" wait_for 60 times_heard other "hca pib5 deleted" 2
check "also to a program that has netlink only" wait_for 60 times_heard raw_udp '"there"' 2
check "it is gone when that is told" json raw_udp 'map(select(has("there"))) | all(.there == false)'
check "to that nothing is told that not everybody may know" json raw_udp 'length > 10 and any(.udp) and all(.strange == [])'
check "nor to the other" json raw 'length > 20 and all(.strange == [])'
check "JSON of all that, and nothing that not everybody may know" json over_udp '[.[] | keys[]] | unique - ["time", "event", "node", "port", "a", "b",
	"netdev", "address", "up", "restarts", "second_key", "peer_node_guid", "peer_port", "peer_description", "state", "physical_state",
	"lid", "sm_lid", "plugged", "node_guid", "auto", "keys", "async_event"] == []'
check "of the other namespace nothing was heard" eval '! grep -E "pib[56]|udp" "$work/text"'
check "nor there of this one" eval '! grep -E "pib[01]/|hca pib[01] " "$work/other"'
check "nobody has heard what root has" json nobody 'any(.[]; .event == "port_state" and .node == "pib0" and .state == "ACTIVE" and .lid > 0)'
check "each line of JSON has a time" json json 'map(.time) | length > 20 and all(. > 1000000000)'

check "a namespace goes amid its events" amid_events
check "others are told of theirs" listens text

# Events that nobody reads for long are lost, and that is said.
kill "${pids[raw]}"
unset 'pids[raw]'
start counted pibctl -j monitor -c 500
listens counted
start_unread
kill -STOP "${pids[text]}" "${pids[json]}" "${pids[counted]}"
pibctl link set pib1/1 flap 1ms/1ms
check "readers that are stopped lose events" wait_for 120 eval 'drops text && drops json && drops counted'
check "so does one whose own reader stands still" wait_for 120 drops unread
pibctl link set pib1/1 healthy
pibctl link set pib1/1 up
check "the last of them leaves the port in INIT" wait_for 60 port_state INIT
check "which all are told who can be" listens nobody
kill -CONT "${pids[text]}" "${pids[json]}" "${pids[counted]}"
check "the others say that they have lost some" heard text "some events were lost"
check "also as JSON" heard json '"event":"lost"'
check "and go on" eval 'listens text && listens json'
check "behind that nothing is told that is older" json json \
	'.[(map(.event) | rindex("lost")):] | length > 1 and all(.event != "link_plugged" and (.event != "port_state" or .node == "probe"))'
ended "so many events are enough" counted none 0
check "of which the loss is none" json counted 'map(.event == "lost") | [length, any] == [501, true]'
ended "SIGTERM ends one whose reader stands still" unread TERM 0

ended "SIGTERM ends it well" nobody TERM 0
check "the reader goes" stirred reader_goes
for command in "${commands[@]}"; do
	check "$command" documented "$command"
done
start interrupted "${interruptible[@]}" pibctl monitor
listens interrupted
ended "so does SIGINT" interrupted INT 0
refuse "there has to be an output" "cannot write the output" eval 'pibctl monitor >&-'

# One hears the farewell, the other has lost it.
start unloaded pibctl monitor
start deaf pibctl monitor
listens unloaded
listens deaf
kill -STOP "${pids[deaf]}"
pibctl link set pib1/1 flap 1ms/1ms
check "one that is stopped loses events" wait_for 120 drops deaf
pibctl link set pib1/1 healthy
topology_clean
check "the module goes" wait_for 60 modprobe -r pib
kill -CONT "${pids[deaf]}"
ended "which ends a monitor" unloaded none 1
check "that says why" grep -q "not loaded any more" "$work/unloaded.err"
ended "and one that has not heard of it" deaf none 1
check "and does not load it again" eval '! grep -q "^pib " /proc/modules'
ktap_end

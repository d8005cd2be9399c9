#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pibctl trace: each event of the module is provoked and seen; filters, marks, floods, the ring, what is left behind.
#
#	h1: pib0 -- host switch ======= UDP over veth ======= host switch -- pib1 :h2
#
# Both stand alone. lib/stuck.py makes queue pairs that do not move, lib/verbs.c calls of verbs, lib/marker.c marks.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/programs.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/traces.sh"
dir=$(mktemp -d /tmp/trace.XXXXXX)
chmod 755 "$dir"
tracefs=/sys/kernel/tracing
tracer='' stuck=''
clean() {
	# shellcheck disable=SC2046
	kill $(jobs -p) 2>/dev/null
	hosts_clean
	rm -rf "$dir"
}
trap clean EXIT

# trace WORD...: pibctl -j trace into $dir/out, until untrace
trace() {
	rm -f "$dir/pid" "$dir/status"
	: >"$dir/out"
	{
		pibctl -j trace "$@" >"$dir/out" 2>"$dir/err" &
		echo $! >"$dir/pid"
		wait $!
		echo $? >"$dir/status"
	} &
	wait_for 30 test -s "$dir/pid"
	tracer=$(cat "$dir/pid")
	wait_for 30 trace_runs "$tracer" || cat "$dir/err"
}
has_ended() { wait_for 60 test -s "$dir/status"; }
untrace() {
	kill -TERM "$tracer"
	has_ended
	cat "$dir/err"
	[ "$(cat "$dir/status")" = 0 ] && [ ! -s "$dir/err" ]
}
# has EXPRESSION: an event for which it is true
has() { jq -n "first(inputs | select($1))" "$dir/out" 2>/dev/null | grep -q .; }
# sees EXPRESSION: soon
sees() { wait_for 20 has "$1" || { grep "\"event\":\"$2\"" "$dir/out" | tail -n 5; tail -n 5 "$dir/out"; return 1; }; }
# all EXPRESSION: there are events, and it is true for each of them
all() { [ -s "$dir/out" ] && ! jq -c "select(($1) | not)" "$dir/out" | grep -m 3 .; }
# saw EVENT [EXPRESSION]: an event, and what it says
saw() { sees ".event == \"$1\" and (${2:-true})" "$1"; }
# each_was_posted: what processes have sent over pib0 is completed by the index of its post
each_was_posted() {
	jq -s -e 'map(select(.device == "pib0" and .pid > 0 and .opcode == "SEND")) | map(select(.event == "completion") | [.qpn, .index, .wr_id]) as $done |
		map(select(.event == "wr_posted") | [.qpn, .index, .wr_id]) as $posted | $done | length > 1 and . == unique and . - $posted == []' "$dir/out" >/dev/null
}
# each_was_sent: and each of these packets has the index of a post, of its own
each_was_sent() {
	jq -s -e 'map(select(.device == "pib0" and .pid > 0 and .opcode == "SEND")) | map(select(.event == "qp_sent") | [.qpn, .index]) as $sent |
		map(select(.event == "wr_posted") | [.qpn, .index]) as $posted | ($sent | unique) == ($posted | unique) and ($sent | unique | length) >= 20' "$dir/out" >/dev/null
}
# pingpong ARGUMENT...: between the two hosts
pingpong() {
	local server limit=$((60 * ${PIB_SLOW:-1})) rc=1
	timeout $limit ip netns exec h2 ibv_rc_pingpong -d pib1 "$@" >"$dir/server" 2>&1 &
	server=$!
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.3
		timeout $limit ip netns exec h1 ibv_rc_pingpong -d pib0 "$@" "$(addr4 2)" >"$dir/client" 2>&1 && rc=0 && break
	done
	wait $server || rc=1
	[ $rc = 0 ] || cat "$dir/server" "$dir/client"
	return $rc
}
# stick HOW: a process whose queue pair is $qpn, as lib/stuck.py makes it
stick() {
	unstick
	: >"$dir/stuck"
	python3 "$here/../lib/stuck.py" pib0 "$1" >"$dir/stuck" 2>&1 &
	stuck=$!
	wait_for 30 grep -q '^qp ' "$dir/stuck" || cat "$dir/stuck"
	qpn=$(sed -n 's/^qp //p' "$dir/stuck")
}
unstick() {
	[ -z "$stuck" ] || { kill "$stuck"; wait "$stuck"; } 2>/dev/null
	stuck=''
}
untrace_with() { untrace && "$@"; }
instances() { ls -d "$tracefs"/instances/pibctl-* 2>/dev/null; }
none_left() { ! instances; }
refuses() {
	local status=$1 words=$2
	shift 2
	"$@" >"$dir/said" 2>&1
	if [ $? != "$status" ] || ! grep -q -- "$words" "$dir/said"; then
		cat "$dir/said"
		return 1
	fi
}
as_json() { jq -e . "$dir/out" >/dev/null && [ -s "$dir/out" ]; }
# ring FILE: what is in it, as JSON
ring() { pibctl -j trace show >"$dir/$1" && jq -e . "$dir/$1" >/dev/null; }
ring_keeps() {
	pingpong -n 5 || return 1
	pibctl trace mark "in the ring" || return 1
	ring out || return 1
	pibctl trace show | grep '^[0-9.]* pib0/1 qp [0-9]* port_sent .*service RC opcode SEND' >"$dir/text" || return 1
	has '.event == "mark" and .text == "in the ring"' && has '.event == "port_received" and .service == "RC"' &&
		all '.event == "mark" or (.device == "pib0" and (.event == "port_sent" or .event == "port_received"))'
}
# The ring keeps what was shown: nothing has happened since but what a port does by itself.
ring_stays() {
	cp "$dir/out" "$dir/before"
	ring out && [ "$(head -n "$(wc -l <"$dir/before")" "$dir/out")" = "$(cat "$dir/before")" ]
}
# It grows no more than it may, and tells of what was overwritten.
ring_is_bounded() {
	local path=$tracefs/instances/pibctl-ring
	pingpong -n 3000 || return 1
	ring out || return 1
	head -n 3 "$dir/out"
	cat "$path/buffer_size_kb"
	has '.event == "lost" and .count > 0' && [ "$(cat "$path/buffer_size_kb")" -le 128 ] && [ "$(wc -c <"$dir/out")" -lt 4000000 ]
}
readable() {
	timeout -s TERM 60 pibctl trace pib0/1 event port_sent -c 1 >"$dir/text" &
	local pid=$!
	wait_for 20 trace_runs || return 1
	ip netns exec h1 smpquery nodeinfo -C pib0 -D 0,1 >/dev/null
	wait $pid || return 1
	grep '^[0-9.]* pib0/1 qp 0 port_sent .*opcode SEND' "$dir/text" || { cat "$dir/text"; return 1; }
}
counted() { [ "$(wc -l <"$dir/out")" = 3 ]; }
killed() {
	trace
	kill -KILL "$tracer"
	has_ended
	[ -d "$tracefs/instances/pibctl-$tracer" ] || { echo "nothing is left"; return 1; }
	pibctl trace mark x 2>/dev/null
	none_left
}
hung_up() {
	# the reader goes after one line
	pingpong -n 2000 &
	timeout 60 pibctl -j trace event port_sent | head -n 1 >"$dir/out"
	wait $!
	as_json && none_left
}
# So much is traced that the pipe is full; then SIGTERM.
stands_still() {
	mkfifo "$dir/pipe"
	# shellcheck disable=SC2217 # it is not to read
	sleep 1000 <"$dir/pipe" &
	local reader=$! rc
	pibctl trace >"$dir/pipe" &
	tracer=$!
	wait_for 30 trace_runs "$tracer"
	pingpong -n 500
	kill -TERM "$tracer"
	wait_for 30 eval "! kill -0 $tracer" 2>/dev/null
	rc=$?
	kill -KILL "$tracer" 2>/dev/null
	kill $reader
	[ $rc = 0 ] && none_left
}
# The ring is overwritten while nobody reads.
flood() {
	trace
	kill -STOP "$tracer"
	pingpong -n "${1:-3000}" || { kill -CONT "$tracer"; return 1; }
	kill -CONT "$tracer"
	saw lost '.count > 0' && untrace
}
# The ring is there without the module, empty, and can be ended.
outlives() { pibctl trace show >"$dir/text" && [ ! -s "$dir/text" ] && pibctl trace stop; }
listens() { h 2 ss -ltn | grep -q :18515; }
# Queue pair that sends of $talks at pib0, of whose name the kernel keeps 15 letters.
talks=ibv_rc_pingpong
talker() {
	rdma -j resource show qp link pib0/1 | jq -e "[.[] | select(.comm == \"${talks:0:15}\" and .state == \"RTS\" and .type != \"XRC_TGT\")][0].lqpn // empty"
}
# A long $talks, with $talks_with; $chat are its processes, and $talker its queue pair at pib0.
talks_with=()
chat() {
	ip netns exec h2 "$talks" -d pib1 -n 1000000 "${talks_with[@]}" >"$dir/server" 2>&1 &
	chat=$!
	wait_for 20 listens
	ip netns exec h1 "$talks" -d pib0 -n 1000000 "${talks_with[@]}" "$(addr4 2)" >"$dir/client" 2>&1 &
	chat+=" $!"
	wait_for 20 talker
	talker=$(talker)
}
# whole_life MESSAGE: from the post to the completions, at both ends
whole_life() {
	jq -s -c "map(select(.message == $1) | [.device, .event])" "$dir/out" >"$dir/life"
	cat "$dir/life"
	grep -q '^\[\["pib0","wr_posted"\],\["pib0","qp_sent"\],.*\["pib1","qp_received"\],\["pib1","completion"\],.*\["pib0","completion"\]\]$' "$dir/life"
}
follows() {
	local talks=${1:-$talks} talks_with=("${@:2}") chat talker
	chat
	timeout $((60 * ${PIB_SLOW:-1})) pibctl -j trace follow pib0 qp "$talker" -c 3 >"$dir/out"
	# shellcheck disable=SC2086
	kill $chat
	# of the last message that is complete
	whole_life "$(jq -s 'map(select(.event == "completion" and .device == "pib0")) | last | .message' "$dir/out")"
}
# The three commands of docs/trace.md for two machines, each of which traces its own end; $1 and $2 at the same time.
follows_files() {
	local chat talker here there follow rc=0
	# At full rate files of four seconds have so many lines that a machine without KVM takes minutes for them.
	h 1 pibctl link set pib0/1 latency 10ms || return 1
	chat
	there=$(rdma -j resource show qp link pib0/1 | jq ".[] | select(.lqpn == $talker).rqpn")
	(cd "$dir" && timeout --preserve-status -s TERM 4 bash -c "exec ${1/qp 17/qp $talker}") &
	here=$!
	(cd "$dir" && timeout --preserve-status -s TERM 4 bash -c "exec ${2/qp 18/qp $there}") || rc=1
	wait $here || rc=1
	# shellcheck disable=SC2086
	kill $chat
	h 1 pibctl link set pib0/1 healthy && [ $rc = 0 ] || return 1
	follow=${3/qp 17/qp $talker}
	(cd "$dir" && bash -c "$follow" >text && bash -c "${follow/pibctl/pibctl -j}" >out) || return 1
	grep -m 3 '^message [0-9]* +[0-9]* us there.json: pib1/1 qp [0-9]* qp_received ' "$dir/text" || return 1
	jq -s -e 'all(.[]; .device == null or .file == {pib0: "here.json", pib1: "there.json"}[.device])' "$dir/out" || return 1
	# of the last message that is complete in both: they have not ended at the same time
	whole_life "$(jq -s 'map(select(.event == "completion")) | group_by(.message) | map(select(length == 2)) | last | .[0].message' "$dir/out")"
}
# A datagram is completed when it was sent: what the receiver does may come before that or after it.
whole_datagram() {
	jq -s -c 'map(select(.message)) | group_by(.message)[] | map([.device, .event])' "$dir/out" >"$dir/life"
	tail -n 3 "$dir/life"
	jq -s -e 'any(.[:2] == [["pib0", "wr_posted"], ["pib0", "qp_sent"]] and
		(.[2:] | sort) == [["pib0", "completion"], ["pib1", "completion"], ["pib1", "qp_received"]])' "$dir/life"
}
# follows_datagrams PROGRAM [OPTION]...
follows_datagrams() {
	local talks=$1 talks_with=("${@:2}") chat talker rc=0
	# so slow that a file of some seconds is short
	h 1 pibctl link set pib0/1 latency 10ms || return 1
	chat
	timeout $((60 * ${PIB_SLOW:-1})) pibctl -j trace follow pib0 qp "$talker" -c 5 >"$dir/out"
	whole_datagram || rc=1
	timeout --preserve-status -s TERM 4 pibctl -j trace >"$dir/all.json" || rc=1
	# shellcheck disable=SC2086
	kill $chat
	h 1 pibctl link set pib0/1 healthy && [ $rc = 0 ] || return 1
	pibctl -j trace follow pib0 qp "$talker" from "$dir/all.json" >"$dir/out" && whole_datagram
}
from_ftrace() {
	grep -q '^# *tracer' "$tracefs/trace" || return 1
	echo 1 >"$tracefs/events/pib/enable"
	pingpong -n 5
	echo 0 >"$tracefs/events/pib/enable"
	grep -q 'pib_completion: device=pib0 .*status=SUCCESS' "$tracefs/trace"
}
# Calls of verbs that a process has made, each with its process. None has failed but the one that is to fail.
calls() { "$dir/verbs" pib0 >"$dir/said" 2>&1 & echo $! >"$dir/caller"; wait $! || { cat "$dir/said"; return 1; }; }
each_verb() {
	local verb
	for verb in {,de}alloc_{context,pd,xrcd,mw,dm} create_{ah,cq,srq,qp} destroy_{ah,cq,srq,qp} {reg,rereg,dereg,reg_dm}_mr \
		{resize,modify}_cq {modify,query}_{srq,qp} {attach,detach}_mcast; do
		saw verb ".verb == \"$verb\" and .pid == $(cat "$dir/caller") and .took_ns > 0 and .device == \"pib0\" and
			.number > 0 and .result == \"OK\"" >/dev/null || { echo "$verb"; return 1; }
	done
}
# The number that an object has when it is made is that with which it goes.
same_object() {
	local made
	made=$(jq -n "first(inputs | select(.verb == \"create_$1\" and .pid == $(cat "$dir/caller"))).number" "$dir/out")
	saw verb ".verb == \"destroy_$1\" and .number == $made and .object == \"$1\" and .left_behind == 0"
}
# A multicast has a copy for each port by which it goes.
fans_out() {
	jq -n '[inputs | select(.event == "routed" and .dlid == 49159)] | group_by([.device, .port, .psn]) | map(map(.out_port))' \
		"$dir/out" >"$dir/ports" 2>/dev/null
	cat "$dir/ports"
	jq -e 'any(length == 2 and .[0] != .[1])' "$dir/ports"
}
# A packet that was queued leaves the queue, and has waited.
leaves() {
	jq -n -e '[inputs | select(.device == "pib0" and .src_qpn == '"$1"')]
		| (map(select(.event == "queued").psn) | unique) as $in
		| (map(select(.event == "dequeued" and .waited_ns > 0).psn) | unique) as $out
		| [$in, $out], ($in | length) > 0 and $in == $out' "$dir/out" >"$dir/queue" || { cat "$dir/queue"; return 1; }
}
marks() { runuser -u nobody -- "$dir/marker" "$@"; }
# perf counts the completions of queue pairs at pib0 that pibctl has counted meanwhile.
export -f pingpong h addr4
perf_counts() {
	local told counted
	export dir
	trace pib0 event completion
	(cd "$dir" && timeout 120 bash -c "$perf -- bash -c 'pingpong -n 200'" >"$dir/perf" 2>&1) || { cat "$dir/perf"; return 1; }
	untrace || return 1
	told=$(jq -s 'map(select(.pid > 0)) | length' "$dir/out")
	(cd "$dir" && perf script 2>"$dir/perf") >"$dir/script" || { cat "$dir/perf"; return 1; }
	counted=$(grep 'pib:pib_completion: .*device=pib0 ' "$dir/script" | grep -vc ' pid=0 ')
	echo "pibctl $told perf $counted"
	[ "$told" = "$counted" ] && [ "$told" -ge 400 ]
}
bpf_attached() { grep -qi attach "$dir/bpf"; }
bpf_counts() {
	local pid rc
	bash -c "exec $bpf" >"$dir/bpf" 2>&1 &
	pid=$!
	wait_for 60 bpf_attached || { cat "$dir/bpf"; kill $pid; return 1; }
	trace pib0 event dropped
	stick exhausted
	saw dropped '.reason == "rx_no_qp" and .qpn == 11259375'
	untrace
	kill -INT $pid
	wait $pid
	rc=$?
	unstick
	cat "$dir/bpf"
	[ $rc = 0 ] && grep -q '^@\[[0-9]*\]: [1-9]' "$dir/bpf"
}
fails_alone() {
	bash -c "$filter" || return 1
	echo 1 >"$tracefs/events/pib/pib_completion/enable"
	stick exhausted
	wait_for 30 grep -q 'pib_completion: .*status=RETRY_EXC_ERR' "$tracefs/trace" || { cat "$tracefs/trace"; return 1; }
	unstick
	echo 0 >"$tracefs/events/pib/pib_completion/enable"
	echo 0 >"$tracefs/events/pib/pib_completion/filter"
	! sed -n 's/^.*pib_completion: //p' "$tracefs/trace" | grep status=SUCCESS
}
# Every event of the module has been asked for above.
every_event() {
	local event
	for event in "$tracefs"/events/pib/pib_*; do
		event=$(basename "$event")
		grep -q "saw ${event#pib_}\b" "$0" || { echo "$event"; return 1; }
	done
}
# Commands of docs/trace.md that wait for events end when they are asked to.
runs_command() { bash -c "set -o pipefail; timeout --preserve-status -s TERM 2 $1" >"$dir/doc" 2>&1 || { cat "$dir/doc"; return 1; }; }

page=$here/../trace.md
mapfile -t commands < <(sed -n '/\.json/d; s/^    \(pibctl [^#]*[^# ]\) *\(#.*\)\{0,1\}$/\1/p' "$page")
mapfile -t two_machines < <(sed -n 's/^    \(pibctl .*\.json\) *#.*$/\1/p' "$page")
perf=$(sed -n 's/^    \(perf record .*\)/\1/p' "$page")
bpf=$(sed -n 's/^    \(bpftrace .*\)/\1/p' "$page")
filter=$(sed -n 's/^    \(echo .*filter\)$/\1/p' "$page")
ktap_plan $((122 + ${#commands[@]}))
for program in verbs marker; do
	check "$program compiles" program "$program" "$dir/$program"
done
modprobe -a ib_core ib_uverbs ib_umad
modprobe vgem	# a device with buffers
mountpoint -q $tracefs || mount -t tracefs nodev $tracefs
refuse "without the module" "is the module loaded" pibctl trace
modprobe pib
trace
hosts_make 2
check "the first host" pib_add 1 standalone
check "the second" pib_add 2 standalone
check "ACTIVE" wait_active 60
check "a port's state" saw port_state '.device == "pib0" and .to == "ACTIVE" and .lid > 0'
check "a link" saw link '.state == "UP" and .port > 0 and (.peer_node_guid | startswith("0x"))'
check "an asynchronous event" saw async_event '.device == "pib1" and .object == "port" and .type == "PORT_ACTIVE"'
check "RC between them" pingpong -n 20
check "a work request" saw wr_posted '.device == "pib0" and .opcode == "SEND" and .bytes == 4096 and .wr_id == "0x2" and .pid > 0 and .rkey == "0x0" and .qkey == "0x0"'
check "what the queue pair sent" saw qp_sent '.device == "pib0" and .service == "RC" and .opcode == "SEND" and .bytes == 4096 and .packets > 0'
check "of which work request" wait_for 20 each_was_sent
check "what the port sent" saw port_sent '.device == "pib0" and .service == "RC" and .opcode == "SEND" and .bytes > 4096'
check "what the port received" saw port_received '.device == "pib1" and .service == "RC" and .opcode == "SEND" and .slid > 0'
check "what the queue pair received" saw qp_received '.device == "pib1" and .service == "RC" and .opcode == "SEND" and .far_qpn > 1'
check "an acknowledgement sent" saw ack_sent '.device == "pib1" and .answer == "ACK" and .msn > 0'
check "and received" saw ack_received '.device == "pib0" and .answer == "ACK"'
check "a receive that was posted" saw recv_posted '.device == "pib1" and .bytes == 4096 and .wr_id == "0x1" and .srqn == 0 and .pid > 0'
check "the way through a switch" saw routed '(.device | startswith("pib") | not) and .port > 0 and .out_port > 0 and .port != .out_port and .service == "RC" and .dlid > 0 and .vl == 0'
check "a verb" saw verb '.device == "pib0" and .verb == "modify_qp" and .object == "qp" and .port == 1 and .from == "INIT" and .to == "RTR" and (.mask | startswith("0x")) and .dest_qpn > 1 and .dlid > 0 and .result == "OK"'
check "a completion" saw completion '.device == "pib0" and .opcode == "SEND" and .status == "SUCCESS" and .wr_id == "0x2"'
check "of what was posted" wait_for 20 each_was_posted
check "a receive's" saw completion '.device == "pib1" and .opcode == "RECV" and .bytes == 4096'
check "a state that was asked for" saw qp_state '.from == "RTR" and .to == "RTS" and .cause == "modify_qp"'
ip netns exec h1 smpquery nodeinfo -C pib0 -D 0,1 >"$dir/smp" 2>&1 || sed 's/^/# /' "$dir/smp"
check "a MAD that was sent" saw mad_sent '.device == "pib0" and .qpn == 0 and .class == "0x81" and .method == "0x01" and .attribute == "0x0011"'
check "and received, by a switch" saw mad_received '.device != "pib0" and .class == "0x81" and .method == "0x01"'
check "no addresses of the kernel" saw completion '.pid == 0 and .wr_id == "0x0"'
check "its answer" saw mad_received '.device == "pib0" and .class == "0x81" and .method == "0x81" and .status == "0x8000"'
printf x | h 1 timeout 5 bash -c "cat >/dev/udp/$(addr4 2)/18514"
check "a datagram that is none" saw datagram_dropped '.reason == "rx_short" and .ifindex > 0'
stick exhausted
check "a timeout" saw retry ".device == \"pib0\" and .qpn == $qpn and .cause == \"timeout\" and .psn == 4660"
check "why it was not answered" saw dropped '.reason == "rx_no_qp" and .qpn == 11259375 and .psn == 4660'
check "what came of it" saw completion ".qpn == $qpn and .status == \"RETRY_EXC_ERR\""
check "and of its state" saw qp_state ".qpn == $qpn and .to == \"ERR\" and .cause == \"send_failed\" and .status == \"RETRY_EXC_ERR\""
check "the end of a trace" untrace
trace pib0 event ack_received event retry event injected
stick rnr
check "an RNR NAK" saw ack_received ".qpn == $qpn and .answer == \"RNR\""
check "a retry after it" saw retry ".qpn == $qpn and .cause == \"rnr\""
h 1 pibctl inject pib0 qp "$qpn" delay 1ms >/dev/null
check "an injection" saw injected ".qpn == $qpn and .kind == \"delay\" and .id > 0"
unstick
untrace
trace
stick paged
check "a page that has come" saw page_ready ".qpn == $qpn and .bytes == 64 and .pid == $stuck and .waited_ns > 0 and .result == \"OK\""
check "a page" saw page_wait ".qpn == $qpn and .bytes == 64 and .pid == $stuck"
stick gone
check "a page that there is not" saw page_ready ".qpn == $qpn and .waited_ns > 0 and .result == \"EFAULT\""
unstick
check "JSON" as_json
check "a mark of a program's own" marks pib0 'a "b" qpn=1 text=2'
check "is seen" saw mark '.device == "pib0" and .pid > 0 and .text == "a \"b\" qpn=1 text=2" and .qpn == null'
check "a short one" marks pib0 7
check "is a text" saw mark '.text == "7"'
check "without control characters" marks pib0 $'1\n2\e'
check "that is seen, too" saw mark '.text == "1?2?"'
refuse "a long one" "Invalid" marks pib0 "$(printf '%065d' 0)"
check "a mark" pibctl trace mark "here: \"it\" is"
check "in the trace" saw mark '.text == "here: \"it\" is"'
check "the end of another" untrace
check "every event of the module was seen" every_event
stick rnr
trace pib0 qp "$qpn" event qp_sent event ack_received
pingpong -n 5
saw ack_received true
check "nothing of other queue pairs" untrace_with all ".device == \"pib0\" and .qpn == $qpn"
trace pib0 qp "$qpn" event verb
"$dir/verbs" pib0 >/dev/null
kill "$stuck"
check "a queue pair that goes" saw verb '.verb == "destroy_qp" and .result == "OK"'
check "no verbs of others" untrace_with all ".object == \"qp\" and .number == $qpn and .pid == $stuck"
stick rnr
trace pid "$stuck" event verb
"$dir/verbs" pib0 >/dev/null
kill "$stuck"
check "what is left behind when a process ends" saw verb ".verb == \"destroy_qp\" and .from == \"RTS\" and .left_behind == 1 and .pid == $stuck"
check "no verbs of other processes" untrace_with all ".pid == $stuck"
stick rnr
trace pid "$stuck"
pingpong -n 5
saw ack_received true
check "nothing of other processes" untrace_with all ".pid == $stuck"
unstick
check "another HCA" h 1 pibctl add pib2 netdev eth0 standalone
check "ACTIVE, too" wait_for 60 grep -q ACTIVE /sys/class/infiniband/pib2/ports/1/state
check "a cable that is long and has little room" h 1 pibctl link set pib0/1 latency 500ms buffer 8k
trace
check "verbs" calls
check "each verb" each_verb
qpn=$(sed -n 's/^qp //p' "$dir/said")
check "one that is refused" saw verb '.verb == "reg_mr" and .result == "EFAULT" and .number == 0 and .addr == "0x1000" and .length == 4096'
check "a buffer of a device that is none" saw verb '.verb == "reg_dmabuf_mr" and .result == "EINVAL" and .number == 0 and .length == 4096'
check "a buffer of a device" saw verb '.verb == "reg_dmabuf_mr" and .result == "OK" and .number > 0 and .length == 4096'
check "advice" saw verb '.verb == "advise_mr" and .result == "OK" and .advice == 1 and .flags == "0x1" and .num_sge == 1'
check "the numbers of a queue pair" same_object qp
check "and of a CQ" same_object cq
check "for want of credits" saw queued ".device == \"pib0\" and .port == 1 and .src_qpn == $qpn and .dlid == 49159 and .vl == 0 and .behind == \"credits\" and .bytes == 0"
check "behind others in the lane" saw queued ".src_qpn == $qpn and .behind == \"lane\" and .bytes > 2048"
check "and not for ever" saw dequeued ".src_qpn == $qpn and .waited_ns > 0"
check "each of them" wait_for 20 leaves "$qpn"
check "the copies of a multicast" wait_for 20 fans_out
check "the end of it" untrace
check "a cable that is slow" eval 'h 1 pibctl link set pib0/1 healthy && h 1 pibctl link set pib0/1 rate 100M'
trace pib0 event queued event dequeued
check "long messages over it" pingpong -n 2 -s 1000000
check "behind what the cable sends" saw queued '.device == "pib0" and .port == 1 and .behind == "line" and .bytes == 0'
check "and not for ever" saw dequeued '.device == "pib0" and .waited_ns > 0'
check "the end of that" untrace
check "a good cable" h 1 pibctl link set pib0/1 healthy
check "one HCA less" h 1 pibctl del pib2
trace pib1/1
pingpong -n 5
check "nothing of other devices" untrace_with all '.device == "pib1" and .port == 1'
trace -c 3
pingpong -n 5
check "so many events" wait_for 10 counted
check "readable lines" readable
check "a flood" flood
check "the life of messages" follows
check "of two machines: ${two_machines[*]}" follows_files "${two_machines[@]}"
check "of XRC" follows ib_send_bw -c XRC -F -s 64 -t 1 -Q 1
check "of datagrams" follows_datagrams ibv_ud_pingpong
check "of UC" follows_datagrams ibv_uc_pingpong -s 512
check "a ring" pibctl trace start pib0 event port_sent event port_received -B 64k
check "is one" refuses 1 "on already" pibctl trace start
check "and keeps what nobody reads" ring_keeps
check "for more than one look" ring_stays
check "but not all of it" ring_is_bounded
check "of root's" refuses 1 "needs root" runuser -u nobody -- pibctl trace show
check "until it is ended" pibctl trace stop
check "which takes it away" none_left
check "so that there is none" refuses 1 "no ring is on" pibctl trace show
check "nor to end" refuses 1 "no ring is on" pibctl trace stop
check "one that has failed leaves none" refuses 2 "does not say" pibctl trace start pid 1 event port_sent
check "that is so" none_left
check "ftrace has them" from_ftrace
echo >"$tracefs/trace"
check "$filter" fails_alone
if grep -qs . "$tracefs/events/pib/pib_completion/id" && command -v perf >/dev/null; then
	check "$perf" perf_counts
else
	skip "$perf" "this kernel has no perf for tracepoints"
fi
if [ -e /sys/kernel/btf/vmlinux ] && command -v bpftrace >/dev/null; then
	check "$bpf" bpf_counts
else
	skip "$bpf" "this kernel has no BTF"
fi
check "an unknown event" refuses 2 "there are: .*completion" pibctl trace event nonesuch
check "an event that has no process" refuses 2 "does not say" pibctl trace pid 1 event port_sent
check "another user" refuses 1 "needs root" runuser -u nobody -- pibctl trace
check "a reader that goes" hung_up
check "SIGTERM ends one whose reader stands still" stands_still
check "killed" killed
stick silence
for command in "${commands[@]}"; do
	check "$command" runs_command "${command/qp 17/qp $qpn}"
done
unstick
check "nothing is left behind" none_left
check "another ring" pibctl trace start
hosts_clean
check "the module goes" wait_for 20 modprobe -r pib
check "what is in the ring with it" outlives
check "a module that has come again" modprobe pib
check "may have one, too" pibctl trace start
check "which goes in the end" pibctl trace stop
check "and nothing is left again" none_left
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pibctl capture: what passes a port, decoded by tshark and counted by the port.
#
#	pib0, SM --- 1 sw 2 --- pib1, ib1 in the namespace "far"
#
# Later two hosts, standalone, whose host switches have a trunk over UDP (lib/hosts.sh).
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/topology.sh"
. "$here/../lib/hosts.sh"
dir=$(mktemp -d /tmp/capture.XXXXXX)
clean() {
	pkill -x pibctl
	pkill -x opensm
	ip netns del far 2>/dev/null
	hosts_clean
	topology_clean
	rm -rf "$dir"
}
trap clean EXIT

# The commands of docs/capture.md, which selftests/check copies beside this folder.
mapfile -t commands < <(sed -n 's/^    \(pibctl [^#]*[^# ]\) *\(#.*\)\{0,1\}$/\1/p' "$here/../capture.md")
ktap_plan $((84 + ${#commands[@]}))
topology_init ib_ipoib

# capture NAME WORD...: into $dir/NAME.pcapng in the background. WITHIN: a command that runs it elsewhere.
capture() {
	local name=$1
	shift
	{
		${WITHIN:-} pibctl capture "$@" -w "$dir/$name.pcapng" 2>"$dir/$name.err" &
		echo $! >"$dir/$name.pid"
		wait $!
		echo $? >"$dir/$name.status"
	} &
	wait_for 30 test -s "$dir/$name.pcapng"
}
tell() { kill "-$1" "$(cat "$dir/$2.pid")"; }
has_ended() { wait_for 60 test -s "$dir/$1.status" && cat "$dir/$1.err" && [ "$(cat "$dir/$1.status")" = 0 ]; }
# SIGINT is ignored by what a shell has in the background.
ends() { tell TERM "$1" && has_ended "$1"; }

# decode NAME LABEL FILTER...: $n has the number of packets of each display filter, none of which has a comma, in one run of
# tshark, which says nothing of a file without packets
declare -A n
decode() {
	local name=$1 filters='' labels=() columns i
	shift
	while [ $# -gt 1 ]; do
		labels+=("$1")
		filters+=",$2"
		shift 2
	done
	IFS='|' read -ra columns < <(tshark -q -r "$dir/$name.pcapng" -z "io,stat,0$filters" 2>>"$dir/tshark.err" |
		sed -n 's/^|.*<>[^|]*|//p')
	for i in "${!labels[@]}"; do [ -z "${columns[2 * i]:-}" ] || n[$name.${labels[i]}]=$((columns[2 * i])); done
}
# number LABEL OPERATOR VALUE: of decode
number() {
	echo "$1: ${n[$1]:-not decoded}, wanted $2 ${3:-not decoded}"
	[ -n "${n[$1]:-}" ] && [ -n "$3" ] && test "${n[$1]}" "$2" "$3"
}
out='frame.packet_flags_direction == 2' in='frame.packet_flags_direction == 1'
failed='frame.comment contains "did not pass"'
bad='_ws.malformed || (_ws.expert.severity >= 0x800000) || !infiniband'
well_formed() { number "$1.all" -gt 0 && number "$1.bad" = 0; }
# counter END NAME: of a port in this kernel
counter() { pibctl -j show counters "$1" | jq "[.. | objects | .$2? // empty][0]"; }
counters() { echo "$(counter "$1" port_xmit_packets) $(counter "$1" port_rcv_packets)"; }
# agrees NAME SENT RECEIVED SENT RECEIVED: as many packets as the port has counted since it was made, before the end of the
# capture and after it, since a timer of IPoIB may send one in between
agrees() {
	cat "$dir/$1.err"
	number "$1.out" -ge "$2" && number "$1.in" -ge "$3" && number "$1.out" -le "$4" && number "$1.in" -le "$5" && [ "$2" -gt 0 ] && [ "$3" -gt 0 ]
}
passed() {
	local both
	both=$(counters pib0/1)
	echo $((${both/ /+}))
}
refs() { cat /sys/module/pib/refcnt; }
quiet() { local before; before=$(passed); sleep 2; [ "$(passed)" = "$before" ]; }
# both PROGRAM ARGUMENT...: server at pib0, client at pib1
both() {
	local server rc=1 limit=$((60 * ${PIB_SLOW:-1}))
	timeout $limit "$1" -d pib0 "${@:2}" >"$dir/server" 2>&1 &
	server=$!
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.3
		timeout $limit "$1" -d pib1 "${@:2}" localhost >"$dir/client" 2>&1 && rc=0 && break
		grep -Eqi "connect" "$dir/client" || break
	done
	wait $server || rc=1
	[ $rc = 0 ] || cat "$dir/client" "$dir/server"
	return $rc
}

# ---- one kernel ----

nodes() { pibctl switch add sw ports 4 && pibctl add pib0 && pibctl add pib1; }
check "a switch and two HCAs" nodes
# Nothing has passed yet: what is captured is what is counted.
capture all pib0/1
capture sw sw
cables() { pibctl link add pib0/1 sw/1 && pibctl link add pib1/1 sw/2 && fabric_sm && subnet_up && wait_for 60 all_active; }
check "cables, subnet manager" cables
check "RC" both ibv_rc_pingpong -n 20 -s 8192
check "UC" both ibv_uc_pingpong -n 20 -s 4096
check "UD" both ibv_ud_pingpong -n 20 -s 1024
check "XRC" both ibv_xsrq_pingpong -n 20 -s 2048
far_net() {
	ip netns add far && wait_for 20 ip link show ib1 && ip link set ib1 netns far && ip -n far addr add 10.78.0.2/24 dev ib1 &&
		ip -n far link set ib1 up && ip addr add 10.78.0.1/24 dev ib0 && ip link set ib0 up &&
		wait_for 60 ping -c1 -W1 10.78.0.2
}
check "IPoIB: ping" far_net
rping_runs() {
	ip netns exec far timeout $((60 * ${PIB_SLOW:-1})) rping -s -a 10.78.0.2 -C 3 &
	local server=$!
	wait_for 30 timeout 10 rping -c -a 10.78.0.2 -C 3
	wait $server
}
check "rdma-cm: rping" rping_runs
sm_end
check "it is quiet" wait_for 60 quiet
read -ra hca_counted < <(counters pib0/1)
read -ra sw_counted < <(counters sw/1)
check "a capture ends by a signal" ends all
check "that of all ports of a switch, too" ends sw
read -ra hca_after < <(counters pib0/1)
read -ra sw_after < <(counters sw/1)
decode all all frame bad "$bad" out "$out && !($failed)" in "$in && !($failed)" \
	rc 'infiniband.bth.opcode == 0x00 || infiniband.bth.opcode == 0x04' ack infiniband.aeth \
	uc 'infiniband.bth.opcode == 0x20 || infiniband.bth.opcode == 0x24' \
	ud 'infiniband.bth.opcode == 0x64 && infiniband.bth.destqp > 1' xrc 'infiniband.bth.opcode >= 0xa0' \
	smp 'infiniband.mad.mgmtclass == 0x81' sa 'infiniband.mad.mgmtclass == 0x03' cm 'infiniband.mad.mgmtclass == 0x07' \
	mcast 'infiniband.lrh.dlid >= 0xc000 && infiniband.grh' icmp icmp \
	named 'frame.interface_name == "pib0/1" && frame.interface_description contains "GUID 0x"'
decode sw all frame bad "$bad" out "frame.interface_name == \"sw/1\" && $out && !($failed)" \
	in "frame.interface_name == \"sw/1\" && $in && !($failed)"
check "no packet is malformed, and all are InfiniBand" well_formed all
check "nor at the switch" well_formed sw
check "as many packets as the HCA's port counted" agrees all "${hca_counted[@]}" "${hca_after[@]}"
check "as many as the switch's port counted" agrees sw "${sw_counted[@]}" "${sw_after[@]}"
check "RC is decoded" number all.rc -gt 0
check "acknowledgements" number all.ack -gt 0
check "UC" number all.uc -gt 0
check "UD" number all.ud -gt 0
check "XRC" number all.xrc -gt 0
check "SMPs" number all.smp -gt 0
check "what the SA is asked" number all.sa -gt 0
check "the CM's MADs" number all.cm -gt 0
check "multicast with a GRH" number all.mcast -gt 0
check "IPoIB: ICMP" number all.icmp -gt 0
check "each is of an interface with name and GUID" number all.named = "${n[all.all]}"
told() { grep -q 'packets captured, 0 lost' "$dir/all.err"; }
check "the end says how many were lost" told

# ---- filters ----

capture acks pib0/1 out opcode rc-ack
capture short pib0/1 in opcode rc -s 60
pibctl capture pib0/1 -w "$dir/ring" -C 20k -W 3 2>/dev/null &
ring=$!
wait_for 30 test -s "$dir/ring0"
check "traffic for filters" both ibv_rc_pingpong -n 50 -s 8192
kill $ring
ends acks >/dev/null
ends short >/dev/null
decode acks all frame bad "!($out && infiniband.bth.opcode == 0x11)"
# 16 bytes of ERF and 60 of the packet
decode short all 'frame.len > 1000' bad "frame.cap_len > 76 || !($in)"
check "direction and opcode" well_formed acks
check "snap length" well_formed short
ring_of_files() {
	ls -l "$dir"/ring*
	[ "$(find "$dir" -name 'ring*' | wc -l)" = 3 ] || return
	for f in "$dir"/ring?; do [ "$(stat -c %s "$f")" -le 20480 ] && capinfos -c "$f" || return; done
}
check "files that take turns" wait_for 10 ring_of_files

# Of what a filter does not take there is some, too: data, and SMPs to the switch.
lid() { pibctl -j show | jq -r ".. | objects | select(.name? == \"$1\").ports[]? | select(.port == $2).lid"; }
sw_lid=$(lid sw 0)
capture lid pib0/1 lid "$sw_lid"
capture pkey pib0/1 pkey 0x7fff
capture strange pib0/1 pkey 0x1fff
capture vl pib0/1 vl 15
capture class pib0/1 class perf
capture both_lids sw
mixed() {
	both ibv_rc_pingpong -n 20 -s 4096 && perfquery -C pib0 "$sw_lid" 0 || return 1
	for _ in 1 2 3; do smpquery -C pib0 nodeinfo "$sw_lid" || return 1; done
}
check "data, and SMPs to the switch" mixed
for name in lid pkey strange vl class both_lids; do ends $name >/dev/null; done
decode lid all frame bad "!(infiniband.lrh.slid == $sw_lid || infiniband.lrh.dlid == $sw_lid)"
decode pkey all frame bad "!(infiniband.bth.p_key == 0xffff || infiniband.bth.p_key == 0x7fff)"
decode vl all 'infiniband.mad.mgmtclass == 0x01' bad '!(infiniband.lrh.vl == 15)'
decode class all frame bad '!(infiniband.mad.mgmtclass == 0x04)'
decode both_lids all frame other 'infiniband.lrh.vl == 0' smp 'infiniband.lrh.vl == 15' \
	lid "frame.interface_name == \"sw/1\" && frame.interface_description matches \"LID $sw_lid\$\"" switch 'frame.interface_name == "sw/1"'
decode lid smp 'infiniband.lrh.vl == 15' lid "frame.interface_description matches \"LID $(lid pib0 1)\$\""
check "there was more than any filter takes" eval 'number both_lids.other -gt 0 && number both_lids.smp -gt 0'
check "packets of a LID" number lid.all -ge 6
check "and no other packet" number lid.bad = 0
check "packets of a partition" number pkey.all -gt 40
check "and no other packet" number pkey.bad = 0
check "none of another one" grep '^0 packets captured, 0 lost' "$dir/strange.err"
check "packets of a virtual lane" number vl.all -ge 6
check "and no other packet" number vl.bad = 0
check "MADs of a class" number class.all -ge 2
check "and no other packet" number class.bad = 0
check "the interface has the port's LID" number lid.lid = "${n[lid.all]}"
check "and that of a switch" number both_lids.lid = "${n[both_lids.switch]}"

# of_one NAME PROGRAM WORD...: with pib0, whose server says its number before anybody sends to it. SMPs leave there meanwhile.
of_one() {
	local name=$1 program=$2 server number
	stdbuf -oL timeout $((60 * ${PIB_SLOW:-1})) "$program" -d pib0 -n 50 -s 1024 >"$dir/server" 2>&1 &
	server=$!
	wait_for 30 grep -q QPN "$dir/server" || return
	number=$(sed -n 's/^ *local.*QPN 0x\([0-9a-f]*\),.*/0x\1/p' "$dir/server")
	echo "$number" >"$dir/$name.number"
	capture "$name" pib0/1 "${@:3}" qp "$number"
	smpquery -C pib0 nodeinfo "$sw_lid" &&
		timeout $((60 * ${PIB_SLOW:-1})) "$program" -d pib1 -n 50 -s 1024 localhost && wait $server && ends "$name"
}
check "RC to a queue pair, and from it" of_one qp ibv_rc_pingpong
decode qp all frame bad "!($in && infiniband.bth.destqp == $(cat "$dir/qp.number"))"
check "packets to a queue pair" number qp.all -ge 50
check "and no other packet" number qp.bad = 0
check "UD to a queue pair, and from it" of_one from ibv_ud_pingpong out
decode from all frame bad "!($out && infiniband.deth.srcqp == $(cat "$dir/from.number"))"
check "datagrams from a queue pair" number from.all -ge 50
check "and no other packet" number from.bad = 0

# Packets beyond those asked for are thrown away, and not said to be captured.
first_ones() {
	local pid
	pibctl capture pib0/1 -c 20 -w "$dir/first.pcapng" 2>"$dir/first.err" &
	pid=$!
	wait_for 30 test -s "$dir/first.pcapng"
	both ibv_rc_pingpong -n 200 -s 8192
	wait $pid || return 1
	cat "$dir/first.err"
	grep -q '^20 packets captured' "$dir/first.err" && capinfos -Mc "$dir/first.pcapng" | grep '^Number of packets: *20$'
}
check "the first packets, and no more" first_ones
# A capture holds the module.
begun() { [ "$(refs)" -gt "$1" ]; }
# The pipe is full; then SIGTERM.
stands_still() {
	local pid reader rc idle
	mkfifo "$dir/pipe"
	# shellcheck disable=SC2217 # it is not to read
	sleep 1000 <"$dir/pipe" &
	reader=$!
	idle=$(refs)
	pibctl capture pib0/1 -w - >"$dir/pipe" 2>"$dir/pipe.err" &
	pid=$!
	wait_for 30 begun "$idle"
	both ibv_rc_pingpong -n 100 -s 8192
	kill -TERM $pid
	wait_for 30 eval "! kill -0 $pid" 2>/dev/null
	rc=$?
	kill -KILL $pid 2>/dev/null
	kill $reader
	cat "$dir/pipe.err"
	[ $rc = 0 ] && grep -q 'standard output: interrupted by SIGTERM' "$dir/pipe.err"
}
check "SIGTERM ends one whose reader stands still" stands_still

check "docs/capture.md has commands" test ${#commands[@]} -gt 3
# documented COMMAND: it is ended after a while, and one with tshark decodes what passes meanwhile
documented() {
	local pid
	sh -c "cd $dir && timeout --preserve-status $((5 * ${PIB_SLOW:-1})) $1" >"$dir/documented" 2>&1 &
	pid=$!
	while [[ $1 == *tshark* ]] && kill -0 $pid 2>/dev/null; do both ibv_rc_pingpong -n 20 -s 4096 || break; done
	wait $pid || { cat "$dir/documented"; return 1; }
	[[ $1 != *tshark* ]] || grep -m 1 'InfiniBand .* RC ' "$dir/documented" || { head -n 5 "$dir/documented"; return 1; }
}
for command in "${commands[@]}"; do
	check "$command" documented "$command"
done

# ---- what does not pass, and what comes again ----

# One process has both ends: neither leaves while its last ACK may be lost.
check "traffic generator compiles" allpairs_build
capture lossy pib1/1
whole() { timeout $((120 * ${PIB_SLOW:-1})) /tmp/allpairs -n "$1" -s 4096 pib0 pib1; }
lossy() { pibctl link set pib1/1 loss 5% seed 3 && whole 15 && pibctl link set pib1/1 healthy; }
check "traffic over a cable that loses packets" lossy
ends lossy >/dev/null
decode lossy lost 'frame.comment contains "did not pass: lost in the cable"' again 'frame.comment contains "retransmission"'
check "packets that the cable has lost" number lossy.lost -gt 0
check "and those that came again" number lossy.again -gt 0

capture bad pib1/1
capture behind sw
bad_cable() { pibctl link set pib1/1 duplicate 5% reorder 5% seed 3 && both ibv_rc_pingpong -n 100 -s 8192 && pibctl link set pib1/1 healthy; }
check "traffic over a cable that duplicates and reorders" bad_cable
ends bad >/dev/null
ends behind >/dev/null
decode bad twice 'frame.comment == "duplicated by the cable"' late 'frame.comment contains "overtaken in the cable"'
decode behind twice 'frame.interface_name == "sw/2" && frame.comment == "duplicated by the cable"' \
	copy 'frame.interface_name == "sw/1" && frame.comment == "copy"'
check "packets that the cable has duplicated" number bad.twice -gt 0
check "that were overtaken in it" number bad.late -gt 0
check "and that come twice at the other end, too" number behind.twice -gt 0
check "a copy stays one behind the switch" number behind.copy = "${n[behind.twice]}"

modprobe fuse 2>/dev/null
check "a program with two ends compiles" program reasons "$dir/reasons"
# The file has it before the capture ends.
other_qkey() {
	printf '%s\n' "make ud" "take 128" "post send 64" "post send 64 qkey=bad" "end near" | "$dir/reasons" pib0 pib1 >"$dir/reasons.out" || return 1
	wait_for 20 grep -aq 'dropped by its queue pair' "$dir/dropped.pcapng"
}
capture dropped pib1/1 in drops
check "two datagrams, one with another Q_Key than its queue pair" other_qkey
ends dropped >/dev/null
decode dropped all "infiniband.bth.destqp == $(sed -n 's/^made [0-9]* //p' "$dir/reasons.out")" why 'frame.comment == "dropped by its queue pair: it has another Q_Key"'
check "the drop is captured, too" number dropped.all = 3
check "with its reason" number dropped.why = 1
# A line of the page ends within the command.
drops_alone() {
	local command
	command=$(tr '\n' ' ' <"$here/../capture.md" | grep -o "\`tshark -Y '[^']*'\`" | tr -d '\`')
	(cd "$dir" && sh -c "$command -r dropped.pcapng") >"$dir/alone" 2>>"$dir/tshark.err"
	echo "$command"
	cat "$dir/alone"
	[ "$(wc -l <"$dir/alone")" = 1 ] && grep -q 'UD Send' "$dir/alone"
}
check "the page's filter shows that alone" drops_alone

# ---- full rate ----

# The smallest buffer, and a reader that is stopped: much is lost, and all of that is counted.
# Packets that pass while the capture begins or ends may be in it or not.
wait_for 30 quiet
first=$(passed)
capture rate pib0/1 -B 256k
before=$(passed)
tell STOP rate
check "small messages as fast as they go" both ib_write_bw -n 5000 -s 64 -F
wait_for 30 quiet
tell CONT rate
least=$(($(passed) - before))
ends rate >/dev/null
most=$(($(passed) - first))
decode rate all frame
full_rate() {
	local lost all
	lost=$(sed -n 's/^[0-9]* packets captured, \([0-9]*\) lost$/\1/p' "$dir/rate.err")
	echo "counted $least to $most, in the file ${n[rate.all]}, lost $lost"
	[ "$lost" -gt 0 ] || return
	all=$((${n[rate.all]} + lost))
	[ "$least" -gt 0 ] && [ "$all" -ge "$least" ] && [ "$all" -le "$most" ]
}
check "what is missing is what is said to be lost" full_rate

# ---- a sender that changes what is looked at ----

# As nobody: the class is another one when the packet is captured than when it was chosen, or when it is read.
flicker() {
	program flicker /tmp/flicker &&
		setpriv --reuid 65534 --regid 65534 --clear-groups /tmp/flicker pib1 "$(cat /sys/class/infiniband/pib0/ports/1/lid)" 5
}
chmod 666 /dev/infiniband/uverbs*
capture flicker pib0/1 in class sa -B 256k
check "MADs whose class changes while they are sent" flicker
check "the capture ends as any other" ends flicker
decode flicker all frame bad "!infiniband"
check "and its packets are whole" number flicker.bad = 0

# ---- who may ----

# allowed, refused: the same command. Nothing but the privilege differs.
allowed() {
	"$@" pibctl capture pib0/1 -w "$dir/try" &
	local pid=$!
	wait_for 10 test -s "$dir/try" || return
	kill $pid
	wait $pid
}
refused() {
	local status
	rm -f "$dir/try"
	timeout 60 "$@" pibctl capture pib0/1 -w /dev/null >"$dir/refused" 2>&1
	status=$?
	cat "$dir/refused"
	[ $status = 1 ] && grep -Eqi 'permi|CAP_NET_ADMIN' "$dir/refused"
}
chmod 777 "$dir"
check "root captures" allowed env
check "uid 65534 does not" refused setpriv --reuid 65534 --regid 65534 --clear-groups
check "nor does root of a user namespace" refused unshare -r

# ---- ends ----

idle=$(refs)
capture killed pib1/1
tell KILL killed
killed() { wait_for 10 test -s "$dir/killed.status" && [ "$(cat "$dir/killed.status")" = 137 ] && [ "$(refs)" = "$idle" ]; }
check "a reader that is killed leaves nothing" killed
capture pulled sw/2
pibctl link set sw/2 down
ping -c 2 -W 1 10.78.0.2 >/dev/null
ends pulled >/dev/null
decode pulled stopped 'frame.comment contains "did not pass: the port is not active"'
check "packets that a port without a cable stops" number pulled.stopped -gt 0
capture deleted pib1/1
pibctl del pib1
check "the HCA is deleted: the capture ends by itself" has_ended deleted
pibctl switch del sw
pibctl del pib0
ip netns del far

# ---- over UDP, in namespaces that go ----

hosts_make 2
standalone() { pib_add 1 standalone && pib_add 2 standalone && wait_active 30 && wait_for 30 trunk_is true; }
check "two hosts" standalone
trunk=$(h 1 pibctl -j show | jq -r '.switches[0].name')
# trunk_passed DIRECTION: what the ports of the host switch have counted
trunk_passed() { h 1 pibctl -j show counters "$trunk" | jq "[.counters[] | select(.port != 0) | .. | objects | .port_${1}_packets? // empty] | add"; }
all_passed() { echo "$(trunk_passed xmit) $(trunk_passed rcv)"; }
read -r sent_before received_before < <(all_passed)
WITHIN="ip netns exec h1" capture udp "$trunk"
read -r sent_at received_at < <(all_passed)
check "RC over UDP" pair 1 2 $((60 * ${PIB_SLOW:-1})) ibv_rc_pingpong -n 20 -s 8192
read -r sent received < <(all_passed)
ends udp >/dev/null
read -r sent_after received_after < <(all_passed)
decode udp out "$out && !($failed)" in "$in && !($failed)" all 'infiniband.bth.opcode == 0x00' bad "$bad"
check "what goes over UDP is decoded" well_formed udp
check "and as much as the ports have counted" agrees udp $((sent - sent_at)) $((received - received_at)) \
	$((sent_after - sent_before)) $((received_after - received_before))
WITHIN="ip netns exec h1" capture ns pib0
hosts_clean
check "its namespace goes: the capture ends" has_ended ns
unloads() { modprobe -r ib_ipoib rdma_ucm ib_umad 2>/dev/null; wait_for 20 modprobe -r pib; }
check "the module is unloaded" unloads
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Each reason for a drop, a NAK, a retry and a completion error that the module knows has a row in reasons.table: it is provoked,
# and seen in a trace, in counters, by "pibctl explain" and in captures.
#
#	pib0, SM --- 1 sa 4 === 4 sb 1 --- pib1		ports 4 to 6 of the switches: three cables
#
#	h1: pib2, pib4 ====== UDP over veth ====== pib3, pib5 :h2	standalone; pib4 and pib5 have a key
#
# Queue pairs are those of lib/reasons.c, datagrams of reasons.py in h2. PIB_REASONS: only rows whose name matches.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/topology.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/traces.sh"
LAYOUT=netns
table=$here/reasons.table
dir=$(mktemp -d /tmp/reasons.XXXXXX)
clean() {
	# shellcheck disable=SC2046
	kill $(jobs -p) 2>/dev/null
	wait
	for hca in 2 4 6; do h 1 pibctl del pib$hca; done 2>/dev/null
	for hca in 3 5; do h 2 pibctl del pib$hca; done 2>/dev/null
	hosts_clean
	topology_clean
	rm -rf "$dir"
}
trap clean EXIT

# ---- what is looked at ----

nodes=(pib0 pib1 sa sb pib2)
declare -A began grew_from host_of=([pib2]=1 [pib3]=2)
# where NODE COMMAND...: in its namespace
where() { if [ -n "${host_of[$1]:-}" ]; then h "${host_of[$1]}" "${@:2}"; else "${@:2}"; fi; }
counters=()
# observe FILE COMMAND...: in the background, until the end
observe() { "${@:2}" >"$dir/$1" 2>"$dir/$1.err" & }
observers() {
	local node
	observe trace pibctl trace event dropped event datagram_dropped event ack_sent event ack_received event retry event completion \
		event injected
	for node in "${nodes[@]}"; do
		observe "$node.out" where "$node" pibctl capture "$node" drops -w "$dir/$node"
	done
	wait_for 30 trace_runs &&
		for node in "${nodes[@]}"; do wait_for 30 test -s "$dir/$node" || return 1; done
	# Each read of it gets what was written since the last one.
	exec {trace_fd}<"$dir/trace"
}
# begin_row: what is written from now on is of the row
begin_row() {
	local sizes node n=0
	mapfile -t sizes < <(cd "$dir" && stat -c %s "${nodes[@]}")
	for node in "${nodes[@]}"; do began[$node]=${sizes[n++]}; done
	read -r -d '' -u "$trace_fd" _
	trace=''
}
# in_capture NODE EXPRESSION ARGUMENT...: of perl, true of what has been captured since the row began ($_) and these arguments
in_capture() {
	perl -e 'open(F, "<:raw", shift) && seek(F, shift, 0) or die; my $is = eval("sub { " . shift() . " }"); local $/; $_ = <F>; exit !$is->(@ARGV)' \
		"$dir/$1" "${began[$1]}" "${@:2}"
}
# names KIND: those that the module has, as its tracepoints spell them
names() {
	local event field
	case $1 in
	drop) event=dropped field=reason ;;
	datagram) event=datagram_dropped field=reason ;;
	nak) event=ack_sent field=answer ;;
	retry) event=retry field=cause ;;
	completion) event=completion field=status ;;
	esac
	sed -n "s/.*REC->$field, *\([^)]*\)).*/\1/p" "/sys/kernel/tracing/events/pib/pib_$event/format" |
		grep -o '"[^"]*"' | tr -d '"' | grep -vx -e ACK -e SUCCESS | sort -u
}

# ---- what is done ----

# serve NAME COMMAND...: it runs in the background, and answers each line by a line
serve() {
	local name=$1 to from
	rm -f "$dir/$name.asked" "$dir/$name.said"
	mkfifo "$dir/$name.asked" "$dir/$name.said"
	exec {to}<>"$dir/$name.asked"
	exec {from}<>"$dir/$name.said"
	asked[$name]=$to said[$name]=$from
	"${@:2}" <&"$to" >&"$from" 2>"$dir/$name.err" &
	pids[$name]=$!
}
declare -A asked said pids
# asks NAME LINE: what is answered is $answer
asks() {
	local second
	echo "$2" >&"${asked[$1]}"
	for ((second = 0; second < 60 * ${PIB_SLOW:-1}; second++)); do
		read -r -t 1 answer <&"${said[$1]}" && return
		kill -0 "${pids[$1]}" || break
	done
	echo "no answer to $2"
	cat "$dir/$1.err"
	return 1
}
# helper NEAR FAR: queue pairs of these from now on
helper() {
	near_hca=$1 far_hca=$2
	kill -0 "${pids[$1]:-none}" 2>/dev/null || serve "$1" "$dir/reasons" "$1" "$2"
}
helped() {
	asks "$near_hca" "$*" || return
	case $answer in
	made*) read -r _ near far <<<"$answer" ;;
	"ended not") echo "$*: $answer"; return 1 ;;
	ended* | "done") ;;
	*) echo "$*: $answer"; return 1 ;;
	esac
}
smpset() { timeout 20 "$dir/smpset" pib0 "$@"; }
declare -A lid
# route SWITCH PORT: by which what is for pib1 leaves
route() { smpset "${lid[$1]}" 0x19 $((lid[pib1] / 64)) $((lid[pib1] % 64)) "$2"; }
# unheard HCA SWITCH: asks by its LID, and hears nothing
unheard() { ! timeout 60 smpquery -t 300 -C "$1" nodeinfo "${lid[$2]}" 2>&1; }
# lane BYTE: the VLs of SL 0 and 1 from port 1 of sa to port 4
lane() { smpset "${lid[sa]}" 0x17 $((1 << 8 | 4)) 0 "$1"; }
# portinfo SWITCH OFFSET BYTE: in PortInfo of port 4. Before it, from the states on, 0 says that nothing changes, or is nothing.
portinfo() {
	local zeros=()
	for ((i = 32; i < $2; i++)); do zeros+=(0); done
	smpset "${lid[$1]}" 0x15 4 32 "${zeros[@]}" "$3"
}
# lifetime BYTE: LifeTimeValue of sa
lifetime() { smpset "${lid[sa]}" 0x12 0 11 "$1"; }
# groups SWITCH BYTE BYTE: the ports of each multicast LID
groups() {
	local bytes=()
	for ((i = 0; i < 32; i++)); do bytes+=("$2" "$3"); done
	smpset "${lid[$1]}" 0x1B 0 0 "${bytes[@]}"
}
# key INDEX BYTE BYTE: in the P_Key table of pib0
key() { smpset "${lid[pib0]}" 0x16 0 $((2 * $1)) "$2" "$3"; }
cable() { pibctl link set sa/4 "$@"; }
# inject near|far WORD...
inject() {
	local hca=$near_hca qp=$near
	[ "$1" = near ] || { hca=$far_hca; qp=$far; }
	where "$hca" pibctl inject "$hca" qp "$qp" "${@:2}"
}
hosts() { helper pib3 pib2; }
chain() { helper pib0 pib1; }
forge() {
	asks forger "$1" || return
	[ "$answer" = sent ] || { echo "$answer"; return 1; }
}
# policy add|del in|out WORD...: the stack of host 1 drops what comes, unseen by the module, or does not send it
policy() {
	local any
	for any in 0.0.0.0/0 ::/0; do h 1 ip xfrm policy "$1" dir "$2" src $any dst $any proto udp dport 18514 "${@:3}" || return; done
}
# swarm: more questions about all ports of sa than it may spend time on. They go on until that is seen, for on a slow machine the
# askers may begin one after the other.
swarm_dropped() { has_grown sa/0:qp1_dropped; }
swarm() {
	local i asker busy=()
	for i in 1 2 3 4; do
		"$dir/mads" pib0 "${lid[sa]}" 0 20000 ports >"$dir/swarm$i" 2>&1 &
		busy+=($!)
	done
	wait_for 60 swarm_dropped || cat "$dir"/swarm?
	for asker in "${busy[@]}"; do kill "$asker"; done
}
# qdisc add|del WORD...: of host 1
qdisc() { h 1 tc qdisc "$1" dev eth0 root "${@:2}"; }
# An uplink of host 1 without a host switch, in a fabric of its own.
alone() { h 1 pibctl add pib6 netdev eth0 peer 10.77.0.2 fabric 5; }
not_alone() { h 1 pibctl del pib6; }
overran() { has_grown rx_overruns; }
overrun() { wait_for 20 overran; }

# steps "STEP; STEP"
steps() {
	local list word
	IFS=';' read -ra list <<<"$1"
	for step in "${list[@]}"; do
		read -ra word <<<"$step"
		case ${word[0]} in
		make) helped "${word[@]}" && begin_counters ;;
		take | post | fail | release | end) helped "${word[@]}" ;;
		*) "${word[@]}" ;;
		esac || { echo "step ${word[*]}"; return 1; }
	done
}

# ---- a row ----

# begin_counters: what the counters of the row are from which they have to grow. "make" has them begin again: until then the
# queue pairs of the row before are there, and may yet count.
begin_counters() {
	local counter
	for counter in "${counters[@]}"; do
		count "$counter" || return
		grew_from[$counter]=$value
	done
}

# count COUNTER: its value, as $value
count() {
	local said port
	value=0
	case $1 in
	*/*:*)
		port=${1#*/}
		said=$(pibctl -j show counters "${1%%/*}" | jq -c ".counters[] | select(.port == ${port%:*})")
		;;
	*:*) value=$(<"/sys/class/infiniband/${1%:*}/ports/1/hw_counters/${1#*:}"); return ;;
	*) said=$(h 1 pibctl -j show uplinks) ;;
	esac
	[[ $said =~ \"${1#*:}\":[[:space:]]*([0-9]+) ]] || { echo "no $1 in: $said"; return 1; }
	value=${BASH_REMATCH[1]}
}
has_grown() { count "$1" && [ "$value" -gt "${grew_from[$1]}" ]; }
in_trace() {
	local new
	read -r -d '' -u "$trace_fd" new
	trace+=$new
	[[ $trace =~ $1 ]]
}
explained() {
	local words=$1 hca=$near_hca qp=$near
	[[ $words != far:* ]] || { words=${words#far: } hca=$far_hca qp=$far; }
	said=$(where "$hca" pibctl explain "$hca" qp "$qp" 2>&1)
	[[ $said == *"$words"* ]]
}
# soon COMMAND...: it succeeds before long; if not, $said is what there was
soon() { wait_for 20 "$@" || { echo "$said"; return 1; }; }

look_trace() { soon in_trace "${1//.\*/[^$'\n']*}" || { tail -n 20 "$dir/trace"; return 1; }; }
look_counters() {
	local counter list
	IFS=', ' read -ra list <<<"$1"
	for counter in "${list[@]}"; do soon has_grown "$counter" || { echo "$counter: ${grew_from[$counter]}, then $value"; return 1; }; done
}
look_explain() { soon explained "$1"; }
look_capture() {
	local node=${1%%: *} words=${1#*: }
	case $words in
	# to the near queue pair: an ACKNOWLEDGE (0x11)
	"aeth "*) soon in_capture "$node" 'my $qpn = substr(pack("N", shift), 1); my $digits = shift;
		while (/\x11.{4}\Q$qpn\E.{4}(.)/sg) { return 1 if sprintf("%02x", ord $1) =~ /^$digits/ } 0' "$near" "${words#aeth }" ;;
	*) soon in_capture "$node" 'index($_, shift) >= 0' "$words" ;;
	esac || { tail -c "+${began[$node]}" "$dir/$node" | strings | tail -n 20; return 1; }
}
# seen STATUS TRACE COUNTERS EXPLAIN CAPTURE: the steps have ended well, and each place that says something says that. The trace is
# looked at last: it takes the longest to be written.
seen() {
	local place what
	local -A says=([trace]=$2 [counters]=$3 [explain]=$4 [capture]=$5)
	[ "$1" = 0 ] || { cat "$dir/steps"; return 1; }
	for place in explain counters capture trace; do
		what=${says[$place]}
		what=${what//\$near/$near} what=${what//\$far/$far} what=${what//\$ifindex/$ifindex}
		[[ $what == -* ]] || "look_$place" "$what" || { echo "$place: not $what"; return 1; }
	done
}
row() {
	local title="$1 $2" how=$3 status
	counters=()
	case $how in
	no:*) skip "$title" "${how#no: }"; return ;;
	never:*) return ;;
	esac
	begin_row
	[[ $5 == -* ]] || IFS=', ' read -ra counters <<<"$5"
	begin_counters
	near=0 far=0 said=''
	chain
	steps "${how%% // *}" >"$dir/steps" 2>&1
	status=$?
	check "$title: ${how%% // *}" seen $status "${@:4}"
	[[ $how != *" // "* ]] || steps "${how#* // }" >"$dir/steps" 2>&1 || sed 's/^/# mending: /' "$dir/steps"
}

# has_rows KIND: each name that the module has for it has a row, and no other has
has_rows() {
	names "$1" >"$dir/names"
	sed -n "s/^$1 | \([^ |]*\) |.*/\1/p" "$table" | sort -u >"$dir/rows"
	[ -s "$dir/names" ] && diff "$dir/names" "$dir/rows"
}

# port_drops, uplink_drops: names of counters, those of drops among them
port_drops() { pibctl -j show counters sa | jq -r '.counters[0] | .. | objects | keys[] | select(test("error|discard|dropped"))'; }
uplink_drops() { h 1 pibctl -j show uplinks | jq -r '[.. | objects | select(has("rx_short"))][0] | keys[] | select(test("^[rt]x_"))'; }
# each_counter: each counter of drops of ports and uplinks has a row in which it grows, but those that the head of the table names
each_counter() {
	{ port_drops && uplink_drops; } | sort -u >"$dir/names"
	{
		sed -n 's/^# +\([a-zA-Z0-9_]*\)\t.*/\1/p' "$table"
		grep -v '^#' "$table" | cut -d'|' -f5 | tr -s ', ' '\n' | sed 's/.*://'
	} | sort -u >"$dir/rows"
	grep -c xmit_discards "$dir/names" && grep -c rx_short "$dir/names" && ! comm -23 "$dir/names" "$dir/rows" | grep .
}

mapfile -t rows < <(grep -E "^(drop|datagram|nak|retry|completion) \| ${PIB_REASONS:-.*} \|" "$table")
# each_silence: why a place says nothing is explained at the head of the table
each_silence() {
	grep -o '| -[a-z][a-z-]*' "$table" | sed 's/| //' | sort -u >"$dir/silent"
	sed -n 's/^# \(-[a-z-]*\)\t.*/\1/p' "$table" | sort >"$dir/explained"
	diff "$dir/silent" "$dir/explained"
}

never=$(printf '%s\n' "${rows[@]}" | grep -c '| never: ')
ktap_plan $((17 + ${#rows[@]} - never))
topology_init
modprobe pib
modprobe fuse 2>/dev/null
mountpoint -q /sys/kernel/tracing || mount -t tracefs nodev /sys/kernel/tracing
compile() { local p; for p in reasons smpset mads; do program $p "$dir/$p" || return; done; }
check "the programs compile" compile
check "why a place says nothing is explained" each_silence
for kind in drop datagram nak retry completion; do check "each $kind of the module has a row" has_rows $kind; done

fabric() {
	local i
	pibctl switch add sa ports 64 && pibctl switch add sb ports 6 && pibctl add pib0 && pibctl add pib1 || return
	for i in 4 5 6; do pibctl link add sa/$i sb/$i || return; done
	pibctl link add pib0/1 sa/1 && pibctl link add pib1/1 sb/1 &&
		echo "Default=0x7fff : ALL=full; a=0x8001 : $(port_guid pib0)=full; b=0x8002 : $(port_guid pib0)=full, $(port_guid pib1)=full;" \
			>"$dir/partitions.conf" && fabric_sm -P "$dir/partitions.conf" && subnet_up && wait_for 60 all_active
}
check "two switches and two HCAs" fabric
# From here on nobody else sets tables.
sm_end
lid=([pib0]=$(lid_of pib0) [pib1]=$(lid_of pib1) [sa]=$(switch_lid sa) [sb]=$(switch_lid sb))
one_way() { route sa 4 && route sb 1 && smpset "${lid[sb]}" 0x19 $((lid[pib0] / 64)) $((lid[pib0] % 64)) 4; }
check "all goes by one of the three cables" one_way

hosts_make 2
make_keys "$dir/key"
udp_hosts() {
	h 1 pibctl add pib2 netdev eth0 standalone && h 2 pibctl add pib3 netdev eth0 standalone &&
		h 1 pibctl add pib4 netdev eth0 standalone fabric 7 key-file "$dir/key" &&
		h 2 pibctl add pib5 netdev eth0 standalone fabric 7 key-file "$dir/key"
}
check "two hosts" udp_hosts
ifindex=$(h 1 cat /sys/class/net/eth0/ifindex)
check "each counter of drops has a row" each_counter
serve forger ip netns exec h2 python3 -B "$here/reasons.py" eth0
hosts_active() { for hca in 2 3 4 5; do wait_for 60 grep -q ACTIVE /sys/class/infiniband/pib$hca/ports/1/state || return; done; }
trunks_up() { h 2 pibctl -j show peers | jq -e '[.peers[] | select(.up == true)] | length == 2'; }
check "they meet" eval 'wait_for 60 trunks_up && hosts_active'
check "the forger listens" forge listen
# Data of either fabric, of which datagrams are to be made.
asks_other() { wait_for 60 timeout 10 ip netns exec h2 smpquery -t 1000 -C "$1" nodeinfo "$(lid_of "$2")"; }
check "one asks the other, in both fabrics" eval 'asks_other pib3 pib2 && asks_other pib5 pib4'
observers
watching=$?
check "traces and captures" test $watching = 0
# own_counters: a queue pair that counts on and on, and then a row of another one, in which nothing of it happens
own_counters() {
	counters=(pib0:rnr_nak_retry_err)
	chain
	steps "make rc; post send 64" && wait_for 20 has_grown "${counters[0]}" || return
	begin_counters
	steps "make rc; post write 64; end near" && ! has_grown "${counters[0]}"
}
check "what the row before counts is none of the next one's" own_counters
for line in "${rows[@]}"; do
	IFS='|' read -ra cells <<<"$line"
	for i in "${!cells[@]}"; do
		cells[i]=${cells[i]# }
		cells[i]=${cells[i]% }
	done
	row "${cells[@]}"
done
check "names of what pib does not have: $never" test "$never" -le 6
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pibctl manners: what a verbs program relies on that it must not. Each kind is found where it was planted, and nothing in what behaves.
#
#	h1: pib0 (eth0), OpenSM ==== UDP ==== h2: pib1 (eth0)
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/programs.sh"
. "$here/../lib/hosts.sh"
dir=$(mktemp -d)
tracefs=/sys/kernel/tracing
trap 'kill $(jobs -p) 2>/dev/null; hosts_clean; rm -rf "$dir"' EXIT

kinds=(wide-psn wide-field magic-lid group-without-grh send-flags qkey-top-bit unsignaled-full stale-rkey dereg-busy
	lost-on-reset destroyed-busy unpolled left-behind unacked-event fork-unsafe unarmed-wait armed-late buffer-changed reserved-bits lone-flag
	empty-field large-mtu path-ignored)
# Other places of reserved bits than a work request.
places=(reserved-access reserved-mask reserved-qp-access reserved-newer reserved-comp-mask)
# Another way to post or to poll what is changed meanwhile.
ways=(changed-newer changed-mixed)
# Kinds that PIB_MANNERS_ERROR has fail, and how many calls of lib/manners.c that are.
declare -A refused=([wide-psn]=1 [reserved-bits]=4 [lone-flag]=1 [empty-field]=1 [large-mtu]=1 [path-ignored]=1 [unacked-event]=3)
# Parts of the program that are right, and look like a mistake.
right=(selective two-events late-ack busy-cq other-socket newer path)
slow=$((60 * ${PIB_SLOW:-1}))

# The function of lib/manners.c that has called what the preloaded library has told of: a kind, or a call in which the module found one.
declare -A callers=([wide-psn]=connect_side [fork-unsafe]=fork_unsafe [unarmed-wait]=wait_in_vain [armed-late]=wait_in_vain [buffer-changed]=buffer_changed
	[reserved-bits]=reserved_bits [lone-flag]=lone_flag
	[empty-field]=empty_field [large-mtu]=large_mtu [path-ignored]=by_path_record [wide-field]=wide_field [magic-lid]=try_ah [dereg-busy]=dereg_busy [lost-on-reset]=lost_on_reset
	[destroyed-busy]=close_all [unpolled]=close_all [group-without-grh]=try_ah
	[send-flags]=send_flags [qkey-top-bit]=qkey_top_bit [unsignaled-full]=unsignaled_full [stale-rkey]=stale_rkey)

# judge FILTER COMMAND...: what is found in it makes the filter true
judge() {
	local filter=$1
	shift
	timeout $slow pibctl -j manners "$@" >"$dir/report" 2>"$dir/err" || { cat "$dir/report" "$dir/err"; return 1; }
	jq -e "$filter" "$dir/report" >/dev/null || { cat "$dir/report" "$dir/err"; return 1; }
}
# It alone, with its place; who has not acknowledged leaves the CQ behind, too.
found() {
	judge "([.findings[].manner | select(. != \"left-behind\" or \"$1\" != \"unacked-event\")] | unique) == [\"$1\"] and .lost == 0 and .seen and
		(.findings[0] | (.device == \"pib0\" or .object == \"process\") and (.comm | length > 0) and (.number | type) == \"number\" and .pid > 0 and .time > 0 and
		(.what | length > 0) and (.explanation | length > 20))" "$dir/manners" pib0 "$1"
}
# shows N MANNER ARGUMENT...: the program makes that mistake so often, and no other
shows() {
	judge "[.findings[] | [.manner, .count]] == [[\"$2\", $1]] and .lost == 0 and .unheard == 0" "$dir/manners" pib0 "${@:3}"
}
# Each call that makes the mistake fails, then the program does what is right.
fails() { PIB_MANNERS_ERROR=1 shows "${refused[$1]}" "$1" "$1" refused; }
# Those of the page, which has them between the variable's name and the calls that destroy.
each_fails() {
	local told
	told=$(sed -n '/^With `PIB_MANNERS_ERROR`/,/`ibv_destroy_cq()`/p' "$here/../manners.md" | grep -o '`[a-z]*-[a-z]*`' | tr -d '`' | sort)
	echo "$told"
	[ "$told" = "$(printf '%s\n' "${!refused[@]}" | sort)" ]
}
# port_mtu CODE: NeighborMTU of pib0's port. Bytes of PortInfo before it are 0, which changes nothing there.
port_mtu() { "$dir/smpset" pib0 "$(port_attr 1 lid)" 0x15 1 32 0 0 0 0 "$1"; }
# An MTU that pib itself allows the queue pair: its port could have it.
large_mtu_fails() {
	local rc=0
	port_mtu 0x30 || return 1
	fails large-mtu || rc=1
	port_mtu 0x50 && return $rc
}
# A program that does not expect that ends.
fails_at_once() {
	PIB_MANNERS_ERROR=1 status 1 pibctl -j manners "$dir/manners" pib0 wide-psn || return 1
	grep -q "manners: RTS: " "$dir/err" && jq -e 'any(.findings[]; .manner == "wide-psn")' "$dir/report" && return
	cat "$dir/report" "$dir/err"
	return 1
}
nothing_fails() { PIB_MANNERS_ERROR=1 judge "$nothing" "$dir/manners" pib0 none; }
# line_of FUNCTION: of the program's source, as the page's own command says, where the last report's stack has it
line_of() {
	local command place file line
	command=$(grep -o '`addr2line [^`]*`' "$here/../manners.md" | tr -d '`')
	place=$(sed -n "s/^ *$1\(\.[^ ]*\)\{0,1\} (\(.*\))\$/\2/p" "$dir/report")
	command=${command/FILE/${place%+*}}
	place=$(${command/OFFSET/${place##*+}}) || return 1
	IFS=: read -r file line <<<"$place"
	sed -n "${line%% *}p" "$here/../lib/${file##*/}"
}
shows_line() {
	status 0 pibctl manners "$dir/manners" pib0 wide-psn && line_of connect_side >"$dir/line" && grep -q 'modify(s,$' "$dir/line" && return
	cat "$dir/report" "$dir/line"
	return 1
}
# led_to MANNER FUNCTION [MISTAKE]
# The stack of it leads from the function to main; a compiler may have made a variant of it ("connect_side.constprop.0").
led_to() {
	judge "[.findings[] | select(.manner == \"$1\") | .stack[] | [.function, .file]] |
		map(select(.[1] == \"$dir/manners\") | .[0]) | any(split(\".\")[0] == \"$2\") and .[-1] == \"main\"" "$dir/manners" pib0 "${3:-$1}"
}
sanitized() { ASAN_OPTIONS=detect_leaks=0 judge "$nothing" "$dir/sanitized" pib0 none; }
left() { judge '[.findings[] | [.object, .count]] | sort == [["ah", 3], ["pd", 1]]' "$dir/manners" pib0 left-behind; }
nothing='.findings == [] and .lost == 0 and .unheard == 0 and .seen and .library'
# It ends when enough pongs have come on all queue pairs together: it polls no others, and may destroy what still sends.
together='([.findings[].manner] - ["unpolled", "destroyed-busy"]) == [] and .lost == 0 and .seen'
listens() { h 2 ss -ltn | grep -q ":$1 "; }
# quiet FILTER PORT PROGRAM ARGUMENT...: what is found in both ends of it makes the filter true
quiet() {
	local filter=$1 port=$2 server rc=0 side
	shift 2
	for side in 1 2; do rm -f "$dir/side$side"; done
	timeout $slow pibctl -j manners ip netns exec h2 "$1" -d pib1 "${@:2}" >"$dir/side2" 2>"$dir/err2" &
	server=$!
	wait_for 30 listens "$port" || { cat "$dir/err2"; return 1; }
	timeout $slow pibctl -j manners ip netns exec h1 "$1" -d pib0 "${@:2}" "$(addr4 2)" >"$dir/side1" 2>"$dir/err1" || rc=1
	wait $server || rc=1
	for side in 1 2; do
		jq -e "$filter" "$dir/side$side" >/dev/null && continue
		rc=1
		cat "$dir/side$side" "$dir/err$side"
	done
	return $rc
}
# A trace of this process runs.
traced() {
	local instance
	for instance in "$tracefs"/instances/pibctl-*; do
		grep -q "pid == $1\$" "$instance/events/pib/pib_verb/filter" && [ "$(cat "$instance/tracing_on")" = 1 ] &&
			[ "$(cat "$instance/events/pib/pib_completion/enable")" = 1 ] && return
	done
	return 1
}
# waiting MISTAKE: a program that makes it once its file is closed by go; not to be called by check
waiting() {
	rm -f "$dir/go"
	mkfifo "$dir/go"
	"$dir/manners" pib0 "$1" wait <"$dir/go" >"$dir/said" &
	program=$!
	exec 7>"$dir/go"
	wait_for 30 grep -q ready "$dir/said"
}
go() { echo >&7; exec 7>&-; }
# A process is looked at while it makes its mistake, and until it ends.
process() {
	local watcher
	waiting unpolled
	timeout $slow pibctl -j manners "$program" >"$dir/report" 2>"$dir/err" &
	watcher=$!
	wait_for 30 traced "$program" || { cat "$dir/err"; kill "$program" $watcher; return 1; }
	go
	wait "$program" || return 1
	wait $watcher || { cat "$dir/err"; return 1; }
	jq -e "[.findings[] | [.manner, .pid]] == [[\"unpolled\", $program]]" "$dir/report" || { cat "$dir/report"; return 1; }
}
# It is interrupted: what was seen is told, and the process goes on.
interrupted() {
	local watcher
	waiting none
	timeout $slow pibctl manners "$program" >"$dir/report" 2>"$dir/err" &
	watcher=$!
	wait_for 30 traced "$program" || { cat "$dir/err"; kill "$program" $watcher; return 1; }
	pkill -TERM -P $watcher pibctl
	wait $watcher || { cat "$dir/err"; return 1; }
	grep -q "no verbs of pib's devices were seen" "$dir/report" || { cat "$dir/report"; return 1; }
	go
	wait "$program"
}
# A program that is killed has left nothing behind on purpose.
killed() {
	local watcher
	rm -f "$dir/go"
	mkfifo "$dir/go"
	timeout $slow pibctl -j manners "$dir/manners" pib0 none wait <"$dir/go" >"$dir/report" 2>"$dir/err" &
	watcher=$!
	exec 7>"$dir/go"
	wait_for 30 grep -q ready "$dir/err" || { cat "$dir/err"; return 1; }
	pkill -KILL -x manners
	exec 7>&-
	wait $watcher && return 1
	grep -q "was ended by SIGKILL" "$dir/err" && jq -e '.seen and .findings == []' "$dir/report" && return
	cat "$dir/report" "$dir/err"
	return 1
}
# The HCA is removed while the program uses it, whose next call fails then.
removed() {
	local rc=0
	waiting none || { echo "the program has not begun"; cat "$dir/said"; kill "$program"; return 1; }
	judge '.findings == [] and .lost == 0' ip netns exec h1 pibctl del pib0 || rc=1
	h 1 test ! -e /sys/class/infiniband/pib0 || { echo "pib0 was not removed"; rc=1; }
	go
	wait "$program"
	return $rc
}
# Later cases have pib0, whatever has failed.
put_back() {
	h 1 test -e /sys/class/infiniband/pib0 || pib_add 1 || { echo "pib0 was not made again"; return 1; }
	sm_start 1 || { echo "OpenSM has not started again"; return 1; }
	wait_active 60 || { echo "the ports are not ACTIVE again"; return 1; }
}
# Nothing is left behind by who removes an HCA: others have made what is on it. OpenSM is none of these (see sm_end).
removes() {
	local rc=0
	sm_end h 1 || { echo "OpenSM has not ended"; return 1; }
	removed || rc=1
	put_back || rc=1
	return $rc
}
# The report says what was not looked for where the library is not in the program.
unloaded() {
	judge '.findings == [] and .seen and .library == false' env -u LD_PRELOAD "$dir/manners" pib0 none || return 1
	timeout $slow pibctl manners env -u LD_PRELOAD "$dir/manners" pib0 none >"$dir/report" 2>"$dir/err"
	cat "$dir/report"
	grep -q '^nothing was found of what a trace shows$' "$dir/report" && grep -q '^not looked for, as .*: wide-psn, ' "$dir/report"
}
# ended NAME: a program of that name, which pibctl has not waited for yet
ended() { grep -q '^State:[[:space:]]*Z' "/proc/$(pgrep -x "$1")/status"; }
# pibctl stands still while the program makes 3000 mistakes: what there is no room for meanwhile is counted.
unheard() {
	local watcher
	rm -f "$dir/go"
	mkfifo "$dir/go"
	pibctl -j manners "$dir/manners" pib0 wide-psns wait <"$dir/go" >"$dir/report" 2>"$dir/err" &
	watcher=$!
	exec 7>"$dir/go"
	wait_for 30 grep -q ready "$dir/err" || { cat "$dir/err"; kill $watcher; return 1; }
	kill -STOP $watcher
	go
	wait_for 30 ended manners
	kill -CONT $watcher
	wait $watcher || { cat "$dir/err"; return 1; }
	jq -e '[.findings[].manner] == ["wide-psn"] and .unheard > 0 and .findings[0].count + .unheard == 3000' "$dir/report" >/dev/null ||
		{ cat "$dir/report" "$dir/err"; return 1; }
}
# status N COMMAND...
status() {
	local want=$1 rc=0
	shift
	timeout $slow "$@" >"$dir/report" 2>"$dir/err" || rc=$?
	[ $rc = "$want" ] || { echo "status $rc"; cat "$dir/report" "$dir/err"; return 1; }
}
tells() {
	status 0 pibctl manners "$dir/manners" pib0 wide-psn || return 1
	cat "$dir/report"
	grep -q '^wide-psn: 1 time$' "$dir/report" && grep -q '^    A PSN has 24 bits' "$dir/report" &&
		grep -Eq '^    ibv_modify_qp of queue pair [0-9]+: sq_psn 16777217, by manners \(pid [0-9]+, thread [0-9]+\) at [0-9.]+$' "$dir/report" &&
		grep -Eq '^        connect_side[^ ]* \(/[^ ]*/manners\+0x[0-9a-f]+\)$' "$dir/report"
}
none_left() { ! ls -d "$tracefs"/instances/pibctl-* 2>/dev/null; }
each_explained() {
	local kind
	for kind in "${kinds[@]}"; do grep -q "^| \`$kind\` |" "$here/../manners.md" || { echo "$kind"; return 1; }; done
	[ "$(grep -c '^| `' "$here/../manners.md")" = ${#kinds[@]} ]
}
# A command that waits for a process to end is asked to end once it looks at that.
run_documented() {
	local command=$1 watcher
	if [[ $command != *4711* ]]; then
		timeout $slow bash -c "$command"
		return
	fi
	timeout $slow bash -c "exec ${command/4711/$program}" &
	watcher=$!
	wait_for 30 traced "$program" && pkill -TERM -P $watcher pibctl && wait $watcher
}
documented() {
	local command=$1
	waiting none
	(cd "$dir" && run_documented "$command" >"$dir/doc" 2>&1) || { cat "$dir/doc"; kill "$program"; return 1; }
	go
	wait "$program" || return 1
	[ -s "$dir/doc" ] || [[ $command == *jq* ]]
}

mapfile -t commands < <(sed -n 's/^    \(pibctl [^#]*[^# ]\) *#.*$/\1/p' "$here/../manners.md")
ktap_plan $((43 + ${#refused[@]} + ${#places[@]} + ${#ways[@]} + ${#kinds[@]} + ${#callers[@]} + ${#right[@]} + ${#commands[@]}))
compile() { program manners "$dir/manners" && program smpset "$dir/smpset"; }
check "a program with planted mistakes compiles" compile
printf '#!/bin/sh\nexec %s/manners pib0 none\n' "$dir" >"$dir/program"
chmod 755 "$dir" "$dir/program" "$dir/manners"
modprobe -a ib_core ib_uverbs rdma_ucm pib
mountpoint -q $tracefs || mount -t tracefs nodev $tracefs
hosts_make 2
check "the first host" pib_add 1
check "the second" pib_add 2
sm_start 1
check "ACTIVE" wait_active 60

check "nothing in a program that behaves" judge "$nothing" "$dir/manners" pib0 none
for kind in "${kinds[@]}"; do check "$kind" found "$kind"; done
for kind in "${!callers[@]}"; do check "$kind, called by ${callers[$kind]}" led_to "$kind" "${callers[$kind]}"; done
check "send-flags, posted by ibv_wr_complete()" led_to send-flags flags_newer flags-newer
check "send-flags, posted by ibv_bind_mw()" led_to send-flags flags_bind flags-bind
for mode in "${places[@]}"; do check "$mode" shows 1 reserved-bits "$mode"; done
for mode in "${ways[@]}"; do check "$mode" shows 1 buffer-changed "$mode"; done
check "stale-rkey, of a window that was invalidated" shows 1 stale-rkey invalidated
for mode in "${right[@]}"; do check "nothing: $mode" judge "$nothing" "$dir/manners" pib0 "$mode"; done
check "what was left behind, by kind of object" left
check "ibv_rc_pingpong" quiet "$nothing" 18515 ibv_rc_pingpong -n 100
check "with events" quiet "$nothing" 18515 ibv_rc_pingpong -e -n 50
check "ibv_uc_pingpong" quiet "$nothing" 18515 ibv_uc_pingpong -n 50
check "ibv_ud_pingpong" quiet "$nothing" 18515 ibv_ud_pingpong -s 1024 -n 50
check "ibv_srq_pingpong" quiet "$nothing" 18515 ibv_srq_pingpong -q 1 -n 200
check "with many queue pairs, which it ends together" quiet "$together" 18515 ibv_srq_pingpong -n 200
check "ib_write_bw" quiet "$nothing" 18515 ib_write_bw -F -n 500
check "ib_send_lat" quiet "$nothing" 18515 ib_send_lat -F -n 200

check "with AddressSanitizer" program manners-sanitized "$dir/sanitized"
check "nothing in that, too" sanitized
check "what is not looked for is said" unloaded
check "a call that fails if that is asked for" fails_at_once
check "the manual has the kinds of such calls" each_fails
for kind in "${!refused[@]}"; do
	call=fails
	[ "$kind" != large-mtu ] || call=large_mtu_fails
	check "calls that fail: $kind" $call "$kind"
done
check "what behaves does not" nothing_fails
check "the report" tells
check "which has each kind in the manual" each_explained
check "the manual's addr2line knows the line" shows_line
check "a process that runs" process
check "is let alone in the end" interrupted
check "what is killed" killed
check "what was not heard is counted" unheard
check "nothing: who removes the HCA of another process" removes
check "what fails" status 1 pibctl manners false
check "and why" grep -q "false has exit status 1" "$dir/err"
check "--error: nothing found" status 0 pibctl manners --error "$dir/manners" pib0 none
check "something found" status 1 pibctl manners --error "$dir/manners" pib0 magic-lid
check "said on standard error" grep -q "bad manners were found" "$dir/err"
check "options are the program's" status 0 pibctl manners sh -c 'test "$1" = --error' - --error
check "no verbs" grep -q "no verbs of pib's devices" "$dir/report"
refuse "a program that is not there" "nonesuch: No such file" pibctl manners nonesuch
refuse "a process that is not there" "process 4194303: No such process" pibctl manners 4194303
check "where another sysfs hides tracefs" status 0 unshare -nm sh -c 'mount -t sysfs sysfs /sys && ! [ -e /sys/kernel/tracing/instances ] && pibctl manners true'
refuse "another user" "needs root" runuser -u nobody -- pibctl manners true
for command in "${commands[@]}"; do check "$command" documented "$command"; done
check "nothing is left behind" none_left
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An HCA does other than by default ("pibctl set NAME behavior"): each behavior is seen by lib/behaves.c when it is on, and
# not when it is off, of XRC, too. Then two of them at a time and all, choices from a seed, what is refused, the commands of
# docs/behaviors.md, and consumers in the kernel: what they are given, and IPoIB with all behaviors.
#
#	pib0, standalone, over a dummy netdev: what it sends to itself turns round in it
#	h1: pib0 (eth0) ==== UDP ==== h2: pib1 (eth0), for IPoIB
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/programs.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/ipoib.sh"
. "$here/../lib/stream.sh"
LAYOUT=netns
dir=$(mktemp -d /tmp/behavior.XXXXXX)
waiting=''
clean() {
	[ -z "$waiting" ] || kill "$waiting" 2>/dev/null
	stream_clean
	pibctl del pib0 2>/dev/null
	pibctl del pib1 2>/dev/null
	ip link del pibdummy 2>/dev/null
	rm -rf "$dir"
}
trap clean EXIT

active() { grep -q ACTIVE /sys/class/infiniband/pib0/ports/1/state; }
set_to() { pibctl set pib0 behavior "$@"; }
is() { pibctl -j show pib0 | jq -r ".hcas[0].$1"; }
differ() { echo "$1 and $2"; [ -n "$1" ] && [ -n "$2" ] && [ "$1" != "$2" ]; }
behaves() { "$dir/behaves" pib0 "$@"; }
# shows PATTERN WHAT...: what lib/behaves.c says is PATTERN
shows() {
	local said
	said=$(behaves "${@:2}" 2>&1)
	echo "$said"
	[[ $said =~ ^$1$ ]]
}
# off_and_on BEHAVIOR PATTERN_OFF PATTERN_ON WHAT...
off_and_on() {
	set_to none
	check "${*:4}: as by default" shows "$2" "${@:4}"
	set_to "$1"
	check "${*:4}: $1" shows "$3" "${@:4}"
}
# kept BEFORE AFTER PATTERN: what becomes of a foreign datagram of a queue pair that was made before the behaviors changed
kept() {
	local poster
	set_to "$1" || return
	mkfifo "$dir/kept.stop"
	behaves pd kept <"$dir/kept.stop" >"$dir/kept" 2>&1 &
	poster=$!
	exec 8>"$dir/kept.stop"
	rm "$dir/kept.stop"
	wait_for 30 grep -qx made "$dir/kept" || { cat "$dir/kept"; return 1; }
	set_to "$2"
	exec 8>&-
	wait $poster
	cat "$dir/kept"
	grep -qx "$3" "$dir/kept"
}
nobody() { runuser -u nobody -- pibctl "$@"; }

# acked PATTERN [xrc]: so many acknowledgements come for 16 sends
acked() {
	local trace=/sys/kernel/tracing/instances/acks n
	mkdir -p $trace
	echo >$trace/trace
	echo 1 >$trace/events/pib/pib_ack_received/enable
	behaves "${@:2}" acks
	echo 0 >$trace/events/pib/pib_ack_received/enable
	n=$(grep -c pib_ack_received: $trace/trace)
	rmdir $trace
	echo "$n"
	[[ $n =~ ^$1$ ]]
}

any_xrc_order() {
	behaves xrc srq "$@" >"$dir/order"
	cat "$dir/order"
	grep -q "data good$" "$dir/order" && ! grep -qx "$in_order" "$dir/order"
}
# The noise of 8 completions, which are all alike where there is none.
# alike OPCODE [xrc]
alike() { behaves "${@:2}" noise >"$dir/noise"; cat "$dir/noise"; [ "$(sort -u "$dir/noise")" = "$1 0 0 0 0 0 0 0" ]; }
# noisy [xrc]
noisy() {
	behaves "$@" noise >"$dir/noise"
	cat "$dir/noise"
	! grep wrong "$dir/noise" && [ "$(cut -d' ' -f1 "$dir/noise" | sort -u | wc -l)" -gt 2 ] &&
		[ "$(cut -d' ' -f2 "$dir/noise" | sort -u | wc -l)" = 8 ]
}
in_order="$(seq -s' ' 0 15) data good"
# The order stands in a file: checks have a shell of their own.
any_order() {
	behaves srq "$@" >"$dir/order"
	cat "$dir/order"
	grep -q "data good$" "$dir/order" && ! grep -qx "$in_order" "$dir/order"
}
order() { cat "$dir/order"; }
each_once() { same "$(order | sed 's/ data good//' | tr ' ' '\n' | sort -n | paste -sd' ')" "$(seq -s' ' 0 15)"; }

# Signs that a behavior acts: its name, the pattern, and WHAT
signs=("reuse-qpn|0|qpn"
	"write-imm-receive|send remote access error recv local access error event -|immediate"
	"long-message-error|local length error|long ud"
	"sge-zero-2gib|received by the first sent local length error|zero"
	"late-completions|(1[1-9]\|20)|late"
	"exact-cq|entries 5 seen 5 event .*CQ error|cq"
	"early-invalidate|remote access error|window"
	"data-out-of-order|last byte first|order write 1000000"
	"srq-any-order|[0-9 ]* data good|srq"
	"ack-each||acks"
	"ah-pd-at-post|not posted: Invalid argument; completed: success|pd"
	"error-wc-noise||noise")
# acts NAME: that one does, as its sign says
acts() {
	local sign name pattern what
	for sign in "${signs[@]}"; do
		[[ $sign != "$1|"* ]] || break
	done
	name=${sign%%|*} what=${sign##*|} pattern=${sign#*|} pattern=${pattern%|*}
	pattern=${pattern//\\|/|}
	# shellcheck disable=SC2086  # words
	case $name in
	srq-any-order) any_order && each_once ;;
	error-wc-noise) noisy ;;
	ack-each) acked 16 ;;
	*) shows "$pattern" $what ;;
	esac
}
# both NAME NAME
both() {
	local name
	set_to "$1,$2" || return
	for name; do acts "$name" || { echo "$name does not act"; return 1; }; done
}

# Entries of the kernel's CQs, and the lowest number that one of its queue pairs has
kernel_cqes() { rdma -j resource show cq | jq -c '[.[] | select(.ifname == "pib0" and .pid == null) | .cqe] | unique'; }
cqes() { kernel_cqes && jq -e "length > 0 and $1" <<<"$(kernel_cqes)"; }
kernel_qpn() { rdma -j resource show qp | jq -r '[.[] | select(.ifname == "pib0" and .pid == null and .lqpn > 1) | .lqpn] | min // empty'; }
has_qpn() { [ -n "$(kernel_qpn)" ]; }
# again BEHAVIOR: another pib0, with it; its lowest number is in $qpn. Not to be called by check.
again() {
	pibctl del pib0
	pibctl add pib0 netdev pibdummy standalone behavior "$1" && wait_for 20 has_qpn
	qpn=$(kernel_qpn)
}
end_hosts() {
	local k rc=0
	stream_kill
	sm_end h 1 || rc=1
	for k in 1 2; do h $k pibctl del "$(dev $k)" || rc=1; done
	return $rc
}

# The longest RNR timer that was seen of a queue pair that finds no receive, whose peer asks for 655.36 ms
rnr_now() { pibctl -j show objects pib0 qp "$1" 2>/dev/null | jq '[.objects[].rnr_usec // 0] | max'; }
# rnr_begin [xrc]
rnr_begin() {
	mkfifo "$dir/stop"
	"$dir/behaves" pib0 "$@" rnr <"$dir/stop" >"$dir/rnr" &
	waiting=$!
	exec 7>"$dir/stop"
	wait_for 30 grep -q '^ready' "$dir/rnr"
	qpn=$(sed -n 's/^ready //p' "$dir/rnr")
}
rnr_end() {
	exec 7>&-
	wait "$waiting"
	waiting=''
	rm "$dir/stop"
}
waits() { now=$(rnr_now "$qpn"); [ "${now:-0}" -gt 0 ]; }
waits_long() { now=$(rnr_now "$qpn"); [ "${now:-0}" -gt 655360 ]; }
never_long() {
	local i
	for ((i = 0; i < 3; i++)); do
		wait_for 20 waits && echo "$now" && [ "$now" -le 655360 ] || return 1
	done
}
longer() { wait_for 20 waits_long; local rc=$?; echo "$now"; return $rc; }

# Traffic that is under way while the behavior comes and goes is finished all the same.
switched() {
	local busy rc
	behaves traffic 500 &
	busy=$!
	while kill -0 "$busy" 2>/dev/null; do
		set_to late-completions
		set_to none
	done
	wait "$busy"
	rc=$?
	set_to none
	return $rc
}
told_seed() { pibctl show pib0 | sed -n 's/.*behavior_seed \([0-9]*\).*/\1/p'; }

# By netlink, without pibctl: a bit that no behavior has
unknown_bit() {
	python3 - <<'EOF'
import re, socket, struct
def attr(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)
def ask(family, command, attributes):
    body = struct.pack("=BBH", command, 1, 0) + attributes
    sock.send(struct.pack("=IHHII", 16 + len(body), family, 5, 1, 0) + body)
    return sock.recv(65536)
sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
sock.setsockopt(270, 11, 1)     # extended acknowledgements
sock.bind((0, 0))
reply = ask(16, 3, attr(2, b"pib\0"))   # CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME
at = 20
while True:
    length, kind = struct.unpack_from("=HH", reply, at)
    if kind == 1:
        family = struct.unpack_from("=H", reply, at + 4)[0]
        break
    at += (length + 3) & ~3
sock.recv(65536)
HCA_NAME, BEHAVIOR, HCA_SET = 2, 40, 17    # of linux/pib.h
reply = ask(family, HCA_SET, attr(HCA_NAME, b"pib0\0") + attr(BEHAVIOR, struct.pack("=I", 1 << 31)))
error = struct.unpack_from("=i", reply, 16)[0]
print(error, *(text.decode() for text in re.findall(rb"[ -~]{8,}", reply)))
raise SystemExit(error != 0)
EOF
}

# The commands of docs/behaviors.md, which selftests/check copies beside this folder
commands() { sed -n 's/^    \(pibctl [^#]*[^# ]\) *\(#.*\)\{0,1\}$/\1/p' "$here/../behaviors.md"; }
documented() {
	local command=$1
	[[ $command != "pibctl add "* ]] || pibctl del pib1 2>/dev/null
	sh -c "${command/netdev eth0/netdev pibdummy}"
}
# completes WORD...: what bash would make of the last one
completes() {
	local COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	set +u	# as in the shells of users
	# shellcheck source=/dev/null
	. /usr/share/bash-completion/completions/pibctl
	_pibctl
	echo "${COMPREPLY[@]}"
}
# Each behavior that pibctl knows has its own part there.
all_told() {
	local name rc=0
	for name in $names; do
		grep -q "^### $name\$" "$here/../behaviors.md" || { echo "nothing is said of $name"; rc=1; }
	done
	return $rc
}

mapfile -t documented < <(commands)
ktap_plan $((81 + 12 + 12 + 17 + ${#signs[@]} * (${#signs[@]} - 1) / 2 + 1 + ${#signs[@]} + 18 + ${#documented[@]}))
modprobe -a ib_core ib_uverbs pib
mountpoint -q /sys/kernel/tracing || mount -t tracefs nodev /sys/kernel/tracing
ip link add pibdummy type dummy
ip link set pibdummy up
check "lib/behaves.c compiles" program behaves "$dir/behaves"
check "a standalone HCA with a behavior" pibctl add pib0 netdev pibdummy standalone behavior exact-cq seed 3
check "ACTIVE" wait_for 20 active
check "it is shown" same "$(is behavior) $(is behavior_seed)" "exact-cq 3"
check "as text, too" sh -c "pibctl show pib0 | grep -q 'behavior exact-cq behavior_seed 3'"
check "it acts from the beginning" shows "entries 5 seen 5 event .*CQ error" cq
check "it goes" set_to none
check "none is shown" same "$(is behavior)" none
check "as text nothing is said" sh -c "! pibctl show pib0 | grep behavior"
names=$(pibctl set pib0 behavior no-such 2>&1 | sed -n 's/.*accepted are \(.*\), none and random.*/\1/p' | tr -d ,)
check "there are names" test "$(wc -w <<<"$names")" -ge 8

# ---- each of them ----
check "noise: by default there is none" alike 128
set_to error-wc-noise seed 5
check "noise: error-wc-noise" noisy
cp "$dir/noise" "$dir/first"
set_to error-wc-noise seed 5
check "noise: the same seed" noisy
check "noise: makes the same" cmp "$dir/noise" "$dir/first"
set_to error-wc-noise seed 6
check "noise: another seed" noisy
check "noise: makes another" sh -c "! cmp -s '$dir/noise' '$dir/first'"

set_to none
check "srq: by default in order" shows "$in_order" srq
set_to srq-any-order seed 5
check "srq: srq-any-order" any_order
check "srq: each receive once" each_once
first=$(order)
set_to srq-any-order seed 5
check "srq: the same seed" any_order
check "srq: makes the same order" same "$(order)" "$first"
set_to srq-any-order seed 6
check "srq: another seed" any_order
check "srq: makes another order" differ "$(order)" "$first"
set_to none
check "srq, resized: by default in order" shows "$in_order" srq resized
set_to srq-any-order seed 5
check "srq, resized: srq-any-order" any_order resized
check "srq, resized: each receive once" each_once

off_and_on reuse-qpn 1 0 qpn
off_and_on write-imm-receive \
	"send remote access error recv Work Request Flushed Error event local access violation work queue error" \
	"send remote access error recv local access error event -" immediate
off_and_on long-message-error "success" "local length error" long ud
off_and_on long-message-error "success" "local length error" long uc
off_and_on sge-zero-2gib "received by the second sent success" "received by the first sent local length error" zero
off_and_on late-completions "[0-9]" "(1[1-9]|20)" late
off_and_on late-completions "[0-9]" "(1[1-9]|20)" late ud
off_and_on late-completions one none early
set_to none
check "acks: as by default" acked "[1-9]"
set_to ack-each
check "acks: ack-each" acked 16
for how in "" newer; do
	# shellcheck disable=SC2086  # a word or none
	off_and_on ah-pd-at-post "completed: local QP operation error" "not posted: Invalid argument; completed: success" pd $how
done
off_and_on ah-pd-at-post "completed: success" "completed: success" pd parent
check "ah-pd-at-post: a queue pair keeps it" kept ah-pd-at-post none "not posted: Invalid argument; completed: success"
check "ah-pd-at-post: nor does one get it later" kept none ah-pd-at-post "completed: local QP operation error"
off_and_on exact-cq "entries 8 seen 6 event -" "entries 5 seen 5 event .*CQ error" cq
off_and_on exact-cq "entries 8 seen 6 event -" "entries 5 seen 5 event .*CQ error" cq resized
off_and_on early-invalidate "there" "remote access error" window
off_and_on early-invalidate "there" "there" window fenced
off_and_on sge-zero-2gib "Work Request Flushed Error" "Work Request Flushed Error" flush
off_and_on reuse-qpn all all threads 300
check "traffic: late-completions that comes and goes" switched
for opcode in write read send; do
	set_to none
	check "order $opcode: as by default" shows "in order" order $opcode 300
	set_to data-out-of-order
	check "order $opcode: data-out-of-order" shows "last byte first" order $opcode 1000000
done
set_to none
rnr_begin
check "rnr: by default as long as was asked for" never_long
rnr_end
set_to rnr-timer-long
rnr_begin
check "rnr: rnr-timer-long" longer
rnr_end

# ---- XRC ----
set_to none
check "xrc srq: by default in order" shows "$in_order" xrc srq
for how in "" resized; do
	set_to srq-any-order seed 5
	check "xrc srq $how: srq-any-order" any_xrc_order $how
	check "xrc srq $how: each receive once" each_once
done
set_to none
check "xrc noise: by default there is none" alike 0 xrc
set_to error-wc-noise seed 5
check "xrc noise: error-wc-noise" noisy xrc
off_and_on reuse-qpn 1 0 xrc qpn
off_and_on sge-zero-2gib "received by the second sent success" "received by the first sent local length error" xrc zero
off_and_on late-completions one none xrc early
set_to none
check "xrc acks: as by default" acked "[1-9]" xrc
set_to ack-each
check "xrc acks: ack-each" acked 16 xrc
off_and_on "${names// /,}" all all xrc traffic 300
off_and_on write-imm-receive \
	"send remote access error recv - event local access violation work queue error" \
	"send remote access error recv local access error event last WQE reached" xrc immediate
off_and_on exact-cq "entries 8 seen 6 event -" "entries 5 seen 5 event (.*CQ error|local work queue catastrophic error)" xrc cq
for opcode in write read send; do
	set_to none
	check "xrc order $opcode: as by default" shows "in order" xrc order $opcode 300
	set_to data-out-of-order
	check "xrc order $opcode: data-out-of-order" shows "last byte first" xrc order $opcode 1000000
done
set_to none
rnr_begin xrc
check "xrc rnr: by default as long as was asked for" never_long
rnr_end
set_to rnr-timer-long
rnr_begin xrc
check "xrc rnr: rnr-timer-long" longer
rnr_end

# ---- two of them, and all ----
for ((i = 0; i < ${#signs[@]}; i++)); do
	for ((k = i + 1; k < ${#signs[@]}; k++)); do
		check "${signs[i]%%|*} and ${signs[k]%%|*}: both act" both "${signs[i]%%|*}" "${signs[k]%%|*}"
	done
done
check "all of them" set_to "${names// /,}"
for sign in "${signs[@]}"; do check "all of them: ${sign%%|*} acts" acts "${sign%%|*}"; done
set_to none

# ---- by chance ----
check "some by chance" set_to random seed 7
picked=$(is behavior)
check "they are told" differ "$picked" null
set_to random seed 7
check "the same seed picks the same" same "$(is behavior) $(is behavior_seed)" "$picked 7"
set_to random seed 8
check "another seed picks others" differ "$(is behavior)" "$picked"
check "without a seed" set_to random
picked=$(is behavior)
seed=$(told_seed)
check "with the seed that is told" set_to random seed "$seed"
check "the same are picked" same "$(is behavior) $(told_seed)" "$picked $seed"
set_to random seed 7
picked=$(is behavior)
check "what was picked by one HCA can be given to another" pibctl add pib1 behavior "$picked" seed 7
check "it has the same" same "$(pibctl -j show pib1 | jq -r '.hcas[0].behavior')" "$picked"
pibctl del pib1
set_to none

check "a list is completed" same "$(completes pibctl set pib0 behavior exact-cq,reu)" exact-cq,reuse-qpn

# ---- refused ----
refuse "an unknown name" "'no-such' is no behavior: accepted are error-wc-noise" set_to no-such
refuse "an unknown name among others" "'' is no behavior" set_to exact-cq,
refuse "a seed of nothing" "needs 'behavior'" pibctl set pib0 seed 7
refuse "with a key" "exclude each other" pibctl set pib0 behavior exact-cq no-second-key
refuse "of no HCA" "no HCA of that name" pibctl set pib7 behavior exact-cq
refuse "by nobody" "ermitted|CAP_NET_ADMIN|root" nobody set pib0 behavior exact-cq
refuse "a bit that nobody knows, by netlink" "^-22 .*reserved bit set" unknown_bit
check "nothing has changed" same "$(is behavior)" none

# ---- the manual ----
check "the manual has commands" test "${#documented[@]}" -gt 3
check "it tells of each behavior" all_told
for command in "${documented[@]}"; do
	check "$command" documented "$command"
done

# ---- consumers in the kernel ----
pibctl del pib1 2>/dev/null
modprobe -a ib_umad ib_ipoib
powers='all(.[]; log2 == (log2 | floor))'
again none
first=$qpn
check "CQs of the kernel: by default a power of two" cqes "$powers"
again none
check "its queue pairs: another number" differ "$qpn" "$first"
again exact-cq,reuse-qpn
first=$qpn
check "CQs of the kernel: exact-cq" cqes "($powers | not)"
again reuse-qpn
check "its queue pairs: reuse-qpn" same "$qpn" "$first"
pibctl del pib0

hosts_make 2
for mode in datagram connected; do
	for k in 1 2; do check "$mode: host $k has all behaviors" pib_add $k behavior "${names// /,}"; done
	sm_start 1
	check "$mode: ACTIVE" wait_active 60
	check "$mode: IPoIB" ipoib_up $mode
	stream_start 1 2 "$(ib_addr 2)"
	check "$mode: a stream" stream_moves
	check "$mode: it is whole" stream_whole
	check "$mode: the hosts go" end_hosts
done
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pibctl inject: each thing that can be made to go wrong happens to lib/victim.c, two connected queue pairs of one process:
# its completions and events, counters, trace and "pibctl explain" say so. Then what is refused, and the commands of docs/inject.md.
#
#	pib0, standalone, over a dummy netdev: what it sends to itself turns round in it
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
dir=$(mktemp -d /tmp/inject.XXXXXX)
chmod 755 "$dir"
victim='' near='' far='' tracer=''
clean() {
	# shellcheck disable=SC2046
	kill $(jobs -p) 2>/dev/null
	pibctl del pib0 2>/dev/null
	ip link del pibdummy 2>/dev/null
	rm -rf "$dir"
}
trap clean EXIT

# fresh [srq]: a new victim: $near sends, $far receives
fresh() {
	[ -z "$victim" ] || { exec 7>&-; kill "$victim"; wait "$victim"; } 2>/dev/null
	rm -f "$dir/in" "$dir/out"
	wait_for 60 active
	mkfifo "$dir/in"
	"$dir/victim" pib0 "$@" <"$dir/in" >"$dir/out" 2>&1 &
	victim=$!
	exec 7>"$dir/in"
	wait_for 30 grep -q '^ready' "$dir/out" || cat "$dir/out"
	near=$(sed -n 's/^ready near \([0-9]*\) .*/\1/p' "$dir/out")
	far=$(sed -n 's/^ready .* far //p' "$dir/out")
}
has_line() { grep -q "^$1" "$dir/out"; }
# ends WHAT OUTCOME: the victim does WHAT, and this is what becomes of it
ends() {
	local acts
	acts=$(($(grep -c '^[0-9]' "$dir/out") + 1))
	echo "$1" >&7
	wait_for 90 has_line "$acts " || { echo "it does not end"; cat "$dir/out"; return 1; }
	grep -qx "$acts $2" "$dir/out" || { cat "$dir/out"; return 1; }
}
good="send success recv success data good"
event() { wait_for 20 has_line "event $1" || { cat "$dir/out"; return 1; }; }
inject() { pibctl inject pib0 "$@"; }
rule() { pibctl -j show injections | jq -r ".injections[] | select(.id == $1) | .$2"; }
same() { echo "$1 $2"; [ "${1:-x}" = "${2:-y}" ]; }
counter() { cat "/sys/class/infiniband/pib0/ports/1/hw_counters/$1"; }
grown() { now=$(counter "$1"); echo "$2 $now"; [ "$now" -ge $(($2 + ${3:-1})) ]; }
explains() { pibctl explain pib0 qp "$1" | grep -q -- "$2" || { pibctl explain pib0 qp "$1"; return 1; }; }
object() { rdma -j resource show "$1" | jq -r "[.[] | select(.pid == $victim)][0].$2"; }
active() { grep -q ACTIVE /sys/class/infiniband/pib0/ports/1/state; }
trace() {
	: >"$dir/trace"
	pibctl -j trace "$@" >"$dir/trace" 2>"$dir/trace.err" &
	tracer=$!
	wait_for 30 sh -c "grep -qx 1 /sys/kernel/tracing/instances/pibctl-$tracer/tracing_on"
}
saw_it() { jq -n "first(inputs | select($1))" "$dir/trace" 2>/dev/null | grep -q .; }
saw() { wait_for 20 saw_it "$1" || { tail -n 20 "$dir/trace"; return 1; }; }
untrace() { kill "$tracer"; wait "$tracer"; }
nobody() { runuser -u nobody -- pibctl "$@"; }
none_left() { [ "$(pibctl -j show injections | jq '.injections | length')" = 0 ] || { pibctl show injections; return 1; }; }
many() {
	local n
	for ((n = 0; n < 64; n++)); do inject qp "$near" drop 1 after 1000000 >/dev/null || return 1; done
}
# The commands of docs/inject.md, which selftests/check copies beside this folder, on a victim whose queue pairs they name.
commands() { sed -n 's/^    \(pibctl [^#]*[^# ]\) *\(#.*\)\{0,1\}$/\1/p' "$here/../inject.md"; }
cq=1 srq=1 last=0
documented() {
	local command=$1
	command=${command/ qp 17/ qp $near}
	command=${command/ qp 18/ qp $far}
	command=${command/ cq 5/ cq $cq}
	command=${command/ srq 2/ srq $srq}
	command=${command/del pib0 1/del pib0 $last}
	sh -c "$command"
}

mapfile -t documented < <(commands)
ktap_plan $((103 + ${#documented[@]}))
modprobe -a ib_core ib_uverbs pib
mountpoint -q /sys/kernel/tracing || mount -t tracefs nodev /sys/kernel/tracing
ip link add pibdummy type dummy
ip link set pibdummy up
check "victim compiles" gcc -O2 -Wall -Wextra -Werror -o "$dir/victim" "$here/../lib/victim.c" -libverbs -lpthread
check "a standalone HCA" pibctl add pib0 netdev pibdummy standalone
check "ACTIVE" wait_for 20 active
check "the manual has commands" test "${#documented[@]}" -gt 10

# ---- at once ----
fresh
check "nothing is wrong" ends send "$good"
trace pib0
check "a queue pair fails" inject qp "$near" error
check "error: the event" event "local work queue catastrophic error"
check "error: completions" ends send "send Work Request Flushed Error recv - data bad"
check "error: explained" explains "$near" "'pibctl inject' has made it fail"
check "error: traced" saw ".event == \"qp_state\" and .qpn == $near and .cause == \"injected\""
fresh
check "for an access" inject qp "$far" error event access
check "access: the event" event "local access violation work queue error"
check "access: the peer is told by silence alone" ends send "send transport retry counter exceeded recv Work Request Flushed Error data bad"
fresh
check "for a request" inject qp "$near" error event request
check "request: the event" event "invalid request local work queue error"
fresh
check "a CQ is lost" inject cq "$(object cq cqn)" overrun
check "overrun: the event" event "CQ error"
check "overrun: its queue pair" event "local work queue catastrophic error"
refuse "overrun: once" "overflowed before" inject cq "$(object cq cqn)" overrun
fresh srq
check "an SRQ runs low" inject srq "$(object srq srqn)" limit
check "limit: the event" event "SRQ limit reached"
check "limit: no more than that" ends send "$good"
check "an SRQ fails" inject srq "$(object srq srqn)" error
check "SRQ: the event" event "SRQ catastrophic error"
check "SRQ: its queue pairs" event "last WQE reached"
fresh
check "the HCA fails" inject fatal
check "fatal: the event" event "local catastrophic error"
check "fatal: traced" saw '.event == "async_event" and .object == "device"'
check "fatal: queue pairs" ends send "send Work Request Flushed Error recv Work Request Flushed Error data bad"
fresh
check "fatal: new ones work" ends send "$good"
check "a port fails" inject port 1 error
check "port: the event" event "port error"
check "port: it comes back" wait_for 60 active
check "port: and carries" ends send "$good"
check "a migration that cannot be" inject qp "$near" migrate-error
check "migrate-error: the event" event "path migration request error"
untrace

# ---- packets ----
fresh
before=$(counter tx_injected) again=$(counter retransmits)
trace pib0
check "packets are lost" inject qp "$near" drop 3
check "drop: explained" explains "$near" "1 rule of 'pibctl inject' acts"
check "drop: repaired" ends send "$good"
check "drop: three of them" same "$(rule "$(pibctl -j show injections | jq '.injections[-1].id')" done)" 3
check "drop: counted" grown tx_injected "$before" 3
check "drop: sent again" grown retransmits "$again"
check "drop: traced" saw '.event == "dropped" and .reason == "tx_injected"'
check "drop: the rule traced" saw ".event == \"injected\" and .kind == \"drop\" and .qpn == $near"
untrace
before=$(counter duplicate_request)
check "packets go twice" inject qp "$near" duplicate 2
check "duplicate: no harm" ends send "$good"
check "duplicate: counted" grown duplicate_request "$before"
before=$(counter tx_injected)
check "packets are damaged" inject qp "$near" damage 1
check "damage: repaired" ends send "$good"
check "damage: counted" grown tx_injected "$before"
check "a packet is corrupted" inject qp "$near" corrupt 1 seed 5
check "corrupt: nobody sees it" ends send "send success recv success data bad"
before=$(counter local_ack_timeout_err)
check "a packet is delayed" inject qp "$near" delay 200ms
check "delay: it comes" ends send "$good"
check "delay: past the timeout" grown local_ack_timeout_err "$before"
before=$(counter packet_seq_err)
check "a NAK in place of an ACK" inject qp "$far" nak sequence
check "sequence: repaired" ends send "$good"
check "sequence: counted" grown packet_seq_err "$before"
before=$(counter rnr_nak_retry_err)
check "requests are refused for now" inject qp "$far" rnr 2
check "rnr: repaired" ends send "$good"
check "rnr: counted" grown rnr_nak_retry_err "$before" 2
last_rule() { pibctl -j show injections | jq ".injections[-1].$1"; }
acted() { echo "$(last_rule done) of $(last_rule seen)"; [ "$(last_rule done)" -ge 1 ]; }
each_fourth() { acted && [ "$(last_rule done)" = $(($(last_rule seen) / 4)) ]; }
check "by chance" inject qp "$near" drop all probability 50% seed 7
check "chance: repaired" ends send "$good"
check "chance: some are lost" acted
check "each fourth" inject qp "$near" duplicate all every 4
check "every: no harm" ends send "$good"
check "every: each fourth of what it saw" each_fourth
check "all are deleted" pibctl inject del pib0 all
check "none is left" none_left

# ---- requests, work requests ----
# fails NAME QP WORDS... -- WHAT OUTCOME EVENT
for row in \
	"far|nak remote-access|write|send remote access error recv - data bad|local access violation work queue error" \
	"far|nak invalid-request|read|send remote invalid request error recv - data bad|invalid request local work queue error" \
	"far|nak remote-operational|send|send remote operation error recv Work Request Flushed Error data bad|local work queue catastrophic error" \
	"near|send-status loc-prot|send|send local protection error recv - data bad|" \
	"near|send-status rnr-retry-exc|write|send RNR retry counter exceeded recv - data bad|" \
	"far|recv-status loc-prot|send|send remote operation error recv local protection error data bad|"; do
	IFS='|' read -r who words what outcome told <<<"$row"
	fresh
	# shellcheck disable=SC2086
	check "$words" inject qp "${!who}" $words
	check "$words: $outcome" ends "$what" "$outcome"
	[ -z "$told" ] || check "$words: $told" event "$told"
done
fresh
check "the second request" inject qp "$far" nak remote-access after 1
check "after: the first is served" ends write "send success recv - data good"
check "after: the second is not" ends write "send remote access error recv - data bad"
# Its packets but the last are taken in when it is refused for want of a receive: that is one request, and is looked at once.
# With an SRQ nothing tells the sender that there is no receive: from its second message on all packets come together.
fresh srq
check "with an SRQ" ends send "$good"
before=$(counter rnr_nak_retry_err)
check "the second request again" inject qp "$far" nak remote-access after 1
echo immediate >&7
check "immediate: it finds no receive" wait_for 30 grown rnr_nak_retry_err "$before"
check "immediate: it was the first all the same" ends receive "$good"

# ---- refused ----
fresh
refuse "nobody" "ermitted|CAP_NET_ADMIN|root" nobody inject pib0 qp "$near" error
refuse "nobody deletes" "ermitted|CAP_NET_ADMIN|root" nobody inject del pib0 all
refuse "no such queue pair" "no queue pair of that number" inject qp 16777215 drop 1
refuse "management" "carry management" inject qp 1 drop 1
refuse "management's CQ" "left alone" inject cq "$(rdma -j resource show cq | jq '[.[] | select(.pid == null)][0].cqn')" overrun
refuse "no such CQ" "no completion queue" inject cq 999999 overrun
refuse "no such port" "no port of that number" inject port 9 error
refuse "no migration" "not armed" inject qp "$near" migrate
refuse "at once is once" "at once" inject qp "$near" error count 3
check "64 rules" many
refuse "not one more" "64 injections" inject qp "$near" drop 1
fresh
check "rules go with their queue pair" none_left

# ---- the manual ----
for command in "${documented[@]}"; do
	fresh srq
	cq=$(object cq cqn) srq=$(object srq srqn)
	pibctl inject del pib0 all
	last=$(inject qp "$near" drop 1 | sed 's/injection //')
	check "$command" documented "$command"
done
ktap_end

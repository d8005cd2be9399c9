#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pibctl inject: each thing that can be made to go wrong happens to lib/victim.c, two connected queue pairs of one process:
# its completions and events, counters, trace and "pibctl explain" say so. Then what is refused, and the commands of docs/inject.md.
#
#	pib0, standalone, over a dummy netdev: what it sends to itself turns round in it
#	pib1 --cable-- pib2, for what management sends
#	pib2 -- injected -- pib3, a switch, for what its agents answer; OpenSM at pib2
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/programs.sh"
. "$here/../lib/traces.sh"
dir=$(mktemp -d /tmp/inject.XXXXXX)
chmod 755 "$dir"
victim='' near='' far='' tracer=''
clean() {
	# shellcheck disable=SC2046
	kill $(jobs -p) 2>/dev/null
	pkill -x opensm
	for node in pib0 pib1 pib2 pib3 injected; do pibctl del $node 2>/dev/null; done
	ip link del pibdummy 2>/dev/null
	rm -rf "$dir"
}
trap clean EXIT

# fresh [srq|xrc|ud]: a new victim: $near sends, $far receives
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
first_is_port_error() { inject port 1 error && event "port error" && [ "$(grep -m 1 ^event "$dir/out")" = "event port error" ] && wait_for 60 active; }
rule() { pibctl -j show injections | jq -r ".injections[] | select(.id == $1) | .$2"; }
counter() { cat "/sys/class/infiniband/pib0/ports/1/hw_counters/$1"; }
grown() { now=$(counter "$1"); echo "$2 $now"; [ "$now" -ge $(($2 + ${3:-1})) ]; }
explains() { pibctl explain pib0 qp "$1" | grep -q -- "$2" || { pibctl explain pib0 qp "$1"; return 1; }; }
object() { rdma -j resource show "$1" | jq -r "[.[] | select(.pid == $victim)][0].$2"; }
active() { grep -q ACTIVE /sys/class/infiniband/pib0/ports/1/state; }
trace() {
	: >"$dir/trace"
	pibctl -j trace "$@" >"$dir/trace" 2>"$dir/trace.err" &
	tracer=$!
	wait_for 30 trace_runs "$tracer"
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
	command=${command/ pid 1234/ pid $victim}
	command=${command/ sw0 / injected }
	command=${command/ qp=17/ qp=$near}
	(cd "$dir" && sh -c "$command")
}

mapfile -t documented < <(commands)
ktap_plan $((299 + ${#documented[@]}))
modprobe -a ib_core ib_uverbs pib
mountpoint -q /sys/kernel/tracing || mount -t tracefs nodev /sys/kernel/tracing
ip link add pibdummy type dummy
ip link set pibdummy up
check "victim compiles" program victim "$dir/victim"
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
check "for a reason of which nobody is told" inject qp "$near" error event none
check "none: completions" ends send "send Work Request Flushed Error recv - data bad"
check "none: an event that comes later is the first" first_is_port_error
fresh
check "a CQ is lost" inject cq "$(object cq cqn)" overrun
check "overrun: the event" event "CQ error"
check "overrun: its queue pair" event "local work queue catastrophic error"
refuse "overrun: once" "overflowed already" inject cq "$(object cq cqn)" overrun
fresh srq
check "an SRQ runs low" inject srq "$(object srq srqn)" limit
check "limit: the event" event "SRQ limit reached"
check "limit: no more than that" ends send "$good"
check "an SRQ fails" inject srq "$(object srq srqn)" error
check "SRQ: the event" event "SRQ catastrophic error"
check "SRQ: its queue pairs" event "last WQE reached"
srq_failed() { pibctl -j show objects pib0 kind srq pid "$victim" | jq -e '.objects[0].failed == 1'; }
check "SRQ: so it is shown" srq_failed
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
check "drop: three of them" same "$(rule "$(pibctl -j show injections | jq '.injections[-1].id')" 'done')" 3
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
acted() { echo "$(last_rule 'done') of $(last_rule seen)"; [ "$(last_rule 'done')" -ge 1 ]; }
each_fourth() { acted && [ "$(last_rule 'done')" = $(($(last_rule seen) / 4)) ]; }
# fate SEED FILE: how many packets were doubled after each of some messages. Packets that a timeout sends again would be chosen about, too.
fate() {
	local again
	for _ in 1 2 3 4 5; do
		again=$(counter retransmits)
		inject qp "$near" duplicate all probability 50% seed "$1" || return 1
		for _ in 1 2 3 4 5 6; do
			ends send "$good" || return 1
			echo "$(last_rule 'done') of $(last_rule seen)"
		done >"$dir/$2"
		pibctl inject del pib0 all || return 1
		[ "$(counter retransmits)" != "$again" ] || break
	done
	cat "$dir/$2"
	[ "$(counter retransmits)" = "$again" ]
}
check "by a seed" fate 7 fate
check "seed: the same" fate 7 again
check "seed: makes the same choices" cmp "$dir/fate" "$dir/again"
check "seed: another one" fate 8 other
check "seed: makes others of as many packets" sh -c "! cmp '$dir/fate' '$dir/other' && [ \"\$(cut -d' ' -f3 '$dir/fate')\" = \"\$(cut -d' ' -f3 '$dir/other')\" ]"
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
# A datagram for which its receive has no room leaves it where it is: the next one is the first that uses it up.
fresh ud
check "the second receive" inject qp "$far" recv-status loc-prot after 1
check "a long datagram: it is lost" ends long "send success recv - data bad"
check "the next one: it was the first receive all the same" ends again "$good"
check "after: the second receive fails" ends send "send success recv local protection error data bad"

# ---- which of two rules acts ----
# What acted first and second, by the trace.
acted_in_order() { jq -n -r 'first([limit(2; inputs | select(.event == "injected") | .kind)] | select(length == 2) | join(" "))' "$dir/trace" 2>/dev/null; }
two_acted() { [ -n "$(acted_in_order)" ]; }
# order NAME WORDS WORDS KINDS: two rules are made, and act in this order
order() {
	fresh
	trace pib0 event injected
	# shellcheck disable=SC2086
	inject qp "$near" $2 >/dev/null && inject qp "$near" $3 >/dev/null
	check "$1: repaired" ends send "$good"
	check "$1: both act" wait_for 20 two_acted
	check "$1: in this order" same "$(acted_in_order)" "$4"
	untrace
	pibctl inject del pib0 all
}
order "two rules" "damage 1" "drop 1" "damage drop"
order "the other way round" "drop 1" "damage 1" "drop damage"
order "the first does not act at first" "drop 1 after 1" "damage 1" "damage drop"
seen_by() { pibctl -j show injections | jq ".injections[$1].seen"; }
fresh
check "a request, and two rules about it" eval 'inject qp "$far" nak remote-access && inject qp "$far" rnr 1'
check "the first: it refuses the request" ends write "send remote access error recv - data bad"
check "the second has not seen it" same "$(seen_by 0) $(seen_by 1)" "1 0"

# ---- XRC ----
fresh xrc
check "XRC: nothing is wrong" ends send "$good"
before=$(counter tx_injected)
check "XRC: packets are lost" inject qp "$near" drop 3
check "XRC, drop: repaired" ends send "$good"
check "XRC, drop: counted" grown tx_injected "$before" 3
before=$(counter tx_injected)
check "XRC: so are answers" inject qp "$far" drop 1
check "XRC, answers: repaired" ends write "send success recv - data good"
check "XRC, answers: counted" grown tx_injected "$before" 1
before=$(counter rnr_nak_retry_err)
check "XRC: requests are refused for now" inject qp "$far" rnr 2
check "XRC, rnr: repaired" ends send "$good"
check "XRC, rnr: counted" grown rnr_nak_retry_err "$before" 2
before=$(counter packet_seq_err)
check "XRC: a NAK in place of an ACK" inject qp "$far" nak sequence
check "XRC, sequence: repaired" ends send "$good"
check "XRC, sequence: counted" grown packet_seq_err "$before"
check "XRC: there is no room for what comes" inject qp "$far" rx-full 1
check "XRC, rx-full: repaired" ends send "$good"
check "XRC: a request is refused" inject qp "$far" nak remote-access
check "XRC, nak: the peer is told" ends write "send remote access error recv - data bad"
fresh xrc
check "XRC: a receive fails" inject qp "$far" recv-status loc-prot
check "XRC, recv-status: both are told" ends send "send remote operation error recv local protection error data bad"
fresh xrc
check "XRC: a send fails" inject qp "$near" send-status loc-prot
check "XRC, send-status: nothing is sent" ends send "send local protection error recv - data bad"
fresh xrc
check "XRC: a queue pair fails" inject qp "$near" error
check "XRC, error: flushed" ends send "send Work Request Flushed Error recv - data bad"

# ---- datagrams ----
fresh ud
check "UD: nothing is wrong" ends send "$good"
check "UD: the third receive fails" inject qp "$far" recv-status loc-access after 1
check "UD: the second one does not" ends send "$good"
check "UD, recv-status: the sender is not told" ends send "send success recv local access error data bad"
check "UD, recv-status: why" explains "$far" "a receive of it has failed"
check "UD, recv-status: once" acted
fresh ud
check "UD: a send fails" inject qp "$near" send-status loc-prot
check "UD, send-status: nothing is sent" ends send "send local protection error recv - data bad"

# ---- refused ----
fresh
refuse "nobody" "ermitted|CAP_NET_ADMIN|root" nobody inject pib0 qp "$near" error
refuse "root of a user namespace" "^pibctl: .*(ermitted|CAP_NET_ADMIN|root)" unshare -Ur pibctl inject pib0 qp "$near" error
refuse "nobody deletes" "ermitted|CAP_NET_ADMIN|root" nobody inject del pib0 all
refuse "no such queue pair" "no queue pair of that number" inject qp 16777215 drop 1
refuse "management" "carry management" inject qp 1 error
refuse "management's receives" "carry management" inject qp 1 recv-status loc-prot
refuse "not a port" "no port of that number" inject qp 0 port 9 drop 1
refuse "MADs of others" "only queue pairs 0 and 1" inject qp "$near" drop 1 class sm
refuse "answers of others" "only queue pairs 0 and 1" inject qp "$near" mad-status 1
refuse "a lie by queue pair 1" "answers by queue pair 0" inject qp 1 lie node-guid value 0x0250c2fffe001234
refuse "no such call" "the call is unknown" inject verb poll_cq errno ENOMEM
refuse "a call that never fails" "cannot be made to fail" inject verb destroy_qp errno ENOMEM
refuse "a call has no class" "no queue pair, port or MAD" inject verb reg_mr errno ENOMEM class sm
refuse "no such process" "no process" inject verb reg_mr errno ENOMEM pid 4194304
refuse "management's CQ" "belongs to queue pairs 0 and 1" inject cq "$(rdma -j resource show cq | jq '[.[] | select(.pid == null)][0].cqn')" overrun
refuse "no such CQ" "no completion queue" inject cq 999999 overrun
refuse "no such port" "no port of that number" inject port 9 error
refuse "no migration" "not armed" inject qp "$near" migrate
refuse "at once is once" "at once" inject qp "$near" error count 3
check "64 rules" many
refuse "not one more" "64 injections" inject qp "$near" drop 1
fresh
check "rules go with their queue pair" none_left

# ---- management ----
check "two HCAs" sh -c 'pibctl add pib1 ports 1 && pibctl add pib2 ports 1 && pibctl link add pib1/1 pib2/1'
asker=pib1
smp() { smpquery -t "${patience:-3000}" -D -C $asker "$@" 0,1; }
named() { sed -n "s/^$1:\.*//p"; }
guid_named() { smp nodeinfo | named "$1"; }
guid() { guid_named Guid; }
state() { smp portinfo | sed -n 's/^LinkState:\.*//p'; }
linked() { [ "$(state)" = Initialize ]; }
at_pib2() { pibctl inject pib2 qp 0 "$@"; }
check "the node answers" wait_for 30 linked
true_guid=$(guid)
check "a lie: the GUID" at_pib2 lie node-guid value 0x0250c2fffe001234
check "GUID: what is told" same "$(guid)" 0x0250c2fffe001234
check "GUID: once" same "$(guid)" "$true_guid"
for field in port-guid:PortGuid system-image-guid:SystemGuid; do
	told=${field#*:} field=${field%:*}
	true_one=$(guid_named "$told")
	check "a lie: $field" at_pib2 lie "$field" value 0x0250c2fffe004321
	answer=$(smp nodeinfo)
	check "$field: what is told" same "$(named "$told" <<<"$answer")" 0x0250c2fffe004321
	check "$field: it is about nothing else" same "$(named Guid <<<"$answer")" "$true_guid"
	check "$field: once" same "$(guid_named "$told")" "$true_one"
done
check "a lie: the state" at_pib2 lie port-state value armed count all
check "state: what is told" same "$(state)" Armed
check "state: as often as asked" same "$(state)" Armed
check "state: shown" same "$(last_rule argument)" '"port-state armed"'
pibctl inject del pib2 all
check "state: the truth again" same "$(state)" Initialize
check "a status" at_pib2 mad-status 0x1c class sm attribute 0x15
check "status: other attributes have none" same "$(guid)" "$true_guid"
refuse "status: whoever asks is told" "portinfo: port info query failed" smp portinfo
check "status: once" linked
check "the node vanishes" at_pib2 drop all class sm
patience=100
refuse "vanished: no answer" "fail" smp nodeinfo
patience=3000
check "vanished: counted" test "$(last_rule 'done')" -ge 1
pibctl inject del pib2 all
check "vanished: back again" same "$(guid)" "$true_guid"
check "an answer is late" at_pib2 delay 300ms
check "late: it comes all the same" same "$(guid)" "$true_guid"
pibctl inject del pib2 all

# ---- calls ----
victim_says() { "$dir/victim" pib0 </dev/null 2>&1 | grep "$1"; }
check "memory is not registered" inject verb reg_mr errno ENOMEM
check "reg_mr: so it is told" victim_says "Cannot allocate memory"
check "reg_mr: once" victim_says "^ready"
check "for one process, and not this one" inject verb create_qp errno EPERM pid $$ count all
check "pid: others are served" victim_says "^ready"
check "the second completion queue" inject verb create_cq errno EAGAIN after 1
check "after: so it is told" victim_says "temporarily unavailable"
check "calls are deleted" pibctl inject del pib0 all
check "a rule about a call" pibctl inject pib1 verb reg_mr errno ENOMEM count all
check "the HCA goes all the same" pibctl del pib1

# ---- agents of switches ----
asker=pib2
check "a switch, and another HCA" sh -c 'pibctl switch add injected ports 2 && pibctl add pib3 ports 1 && pibctl link add pib2/1 injected/1 && pibctl link add injected/2 pib3/1'
at_switch() { pibctl inject injected qp 0 "$@"; }
answers() { smp nodeinfo >/dev/null; }
check "its agent answers" wait_for 30 answers
true_guid=$(guid)
trace injected
check "switch: a lie" at_switch lie node-guid value 0x0250c2fffe001234
check "switch, a lie: what is told" same "$(guid)" 0x0250c2fffe001234
check "switch, a lie: once" same "$(guid)" "$true_guid"
check "switch, a lie: traced" saw '.event == "injected" and .device == "injected" and .kind == "mad-lie" and .qpn == 0'
check "switch: a status" at_switch mad-status 0x1c class sm attribute 0x11
refuse "switch, a status: whoever asks is told" "failed" smp nodeinfo
check "switch, a status: once" same "$(guid)" "$true_guid"
check "switch: it vanishes" at_switch drop all class sm
patience=100
refuse "switch, vanished: no answer" "fail" smp nodeinfo
patience=3000
check "switch, vanished: counted" test "$(last_rule 'done')" -ge 1
check "switch, vanished: traced" saw '.event == "dropped" and .device == "injected" and .reason == "tx_injected"'
check "switch: the rule is shown as its" same "$(last_rule switch) $(last_rule hca) $(last_rule port)" '"injected" null null'
check "switch: what is behind it is there" same "$(smpquery -D -C pib2 nodeinfo 0,1,2 | sed -n 's/^Guid:\.*//p')" "0x$(tr -d : </sys/class/infiniband/pib3/node_guid)"
check "switch: rules are deleted" pibctl inject del injected all
check "switch, deleted: it is back" same "$(guid)" "$true_guid"
check "switch: an answer is late" at_switch delay 300ms
check "switch, late: it comes all the same" same "$(guid)" "$true_guid"
check "switch: answers are too late" at_switch delay 10s count all
patience=100
refuse "switch, too late: nobody waits so long" "fail" smp nodeinfo
patience=3000
check "switch, too late: deleted by number" pibctl inject del injected "$(last_rule id)"
check "switch, too late: others come" same "$(guid)" "$true_guid"
untrace
refuse "switch: no others" "dropped, delayed, or changed" at_switch duplicate 1
refuse "switch: nothing at once" "dropped, delayed, or changed" pibctl inject injected fatal
refuse "switch: no other queue pair" "queue pairs 0 and 1" pibctl inject injected qp 2 drop 1
refuse "switch: of no port" "belong to no port" at_switch port 1 drop 1
refuse "switch: no such field there" "answers by queue pair 0" pibctl inject injected qp 1 lie node-guid value 0x0250c2fffe001234
refuse "switch: no such rule" "no injection of that number" pibctl inject del injected 99999
refuse "neither HCA nor switch" "no such HCA or switch" pibctl inject nonesuch qp 0 drop 1
refuse "nor to delete from" "no such HCA or switch" pibctl inject del nonesuch all
refuse "switch: nobody" "ermitted|CAP_NET_ADMIN|root" nobody inject injected qp 0 drop 1

# ---- beside a subnet manager ----
guid_of() { echo "0x$(tr -d : <"/sys/class/infiniband/$1/ports/1/gids/0" | tail -c 17)"; }
port_is() { grep -q "$2" "/sys/class/infiniband/$1/ports/1/state"; }
both_active() { port_is pib2 ACTIVE && port_is pib3 ACTIVE; }
# OpenSM runs as before, and sees to the port that is plugged in again
managed() {
	pibctl link set pib3/1 down && wait_for 30 port_is pib3 DOWN && pibctl link set pib3/1 up && wait_for 90 port_is pib3 ACTIVE &&
		[ "$(pgrep -x opensm)" = "$sm" ]
}
mkdir -p "$dir/sm"
check "OpenSM" env OSM_TMP_DIR="$dir/sm" OSM_CACHE_DIR="$dir/sm" opensm -g "$(guid_of pib2)" -f "$dir/sm/log" -B
check "SM: both are ACTIVE" wait_for 90 both_active
sm=$(pgrep -x opensm)
switch_lid=$(pibctl -j show injected | jq '.switches[0].ports[0].lid')
performance() { perfquery -t "${patience:-3000}" -C pib2 "$switch_lid" 1; }
check "switch: performance" performance
check "switch: a status of its performance" pibctl inject injected qp 1 mad-status 0x0c class perf
refuse "switch, performance: whoever asks is told" "fail|AIX" performance
check "switch, performance: once" performance
# Queue pair 1 of an HCA.
lid_of() { echo $(($(<"/sys/class/infiniband/$1/ports/1/lid"))); }
far_lid=$(lid_of pib3)
far_rule() { pibctl -j show injections | jq "[.injections[] | select(.hca == \"pib3\")][-1].$1"; }
at_pib3() { pibctl inject pib3 qp 1 "$@"; }
far_performance() { perfquery -t "${patience:-3000}" -C pib2 "$far_lid" 1; }
check "queue pair 1: performance" far_performance
check "queue pair 1: a status" at_pib3 mad-status 0x0c class perf
refuse "queue pair 1, status: whoever asks is told" "fail|AIX" far_performance
check "queue pair 1, status: once" far_performance
check "queue pair 1: of another class" at_pib3 mad-status 0x0c class sa count all
check "queue pair 1, another class: performance has none" far_performance
check "queue pair 1, another class: nor was it asked" same "$(far_rule seen)" 0
pibctl inject del pib3 all
check "queue pair 1: its answers are lost" at_pib3 drop all class perf
patience=100
refuse "queue pair 1, lost: no answer" "fail|timeout|timed out" far_performance
patience=3000
check "queue pair 1, lost: counted" test "$(far_rule 'done')" -ge 1
pibctl inject del pib3 all
check "queue pair 1, lost: back again" far_performance
check "queue pair 1: an answer is late" at_pib3 delay 300ms class perf
began=${EPOCHREALTIME/./}
check "queue pair 1, late: it comes all the same" far_performance
check "queue pair 1, late: not before" test $((${EPOCHREALTIME/./} - began)) -ge 300000
check "queue pair 1, late: by that rule" same "$(far_rule 'done')" 1
pibctl inject del pib3 all
check "SM: its HCA fails" pibctl inject pib2 fatal
check "SM: it goes on all the same" managed
check "SM: what it sends is lost" pibctl inject pib2 qp 0 drop all class sm
check "SM, lost: it does not see to the port" sh -c 'pibctl link set pib3/1 down && pibctl link set pib3/1 up'
lost_twice() { pibctl -j show injections | jq -e 'any(.injections[]; .hca == "pib2" and .kind == "drop" and .done >= 2)'; }
check "SM, lost: many times" wait_for 60 lost_twice
check "SM, lost: the port is in INIT" port_is pib3 INIT
pibctl inject del pib2 all
check "SM, lost: once it is heard again it does" wait_for 120 port_is pib3 ACTIVE
lied() { [ "$(far_rule 'done')" -ge 1 ]; }
# Traps: 128 of the switch, whose link goes down, and 144 of an HCA that has another description.
check "switch: its traps are lost" at_switch drop all class sm attribute 2
switch_rule() { pibctl -j show injections | jq "[.injections[] | select(.switch == \"injected\")][-1].$1"; }
trap_lost() { [ "$(switch_rule 'done')" -ge 1 ]; }
pibctl link set pib3/1 down
check "switch, traps: that of a link is" wait_for 30 trap_lost
pibctl inject del injected all
pibctl link set pib3/1 up
check "an HCA: its traps are lost" pibctl inject pib3 qp 0 drop all class sm attribute 2
check "HCA, traps: its port is ACTIVE again" wait_for 60 port_is pib3 ACTIVE
injected() { cat /sys/class/infiniband/pib3/ports/1/hw_counters/tx_injected; }
before=$(injected)
echo "another one" >/sys/class/infiniband/pib3/node_desc
check "HCA, traps: that of its description is" wait_for 30 lied
check "HCA, traps: counted" test "$(injected)" -gt "$before"
pibctl inject del pib3 all
# lies WORD...: of queue pair 0 of pib3, until OpenSM has asked; then the truth again
lies() {
	pibctl inject pib3 qp 0 lie "$@" count all && pibctl link set pib3/1 down && wait_for 30 port_is pib3 DOWN &&
		pibctl link set pib3/1 up && wait_for 60 lied && [ "$(pgrep -x opensm)" = "$sm" ]
	local status=$?
	pibctl inject del pib3 all
	return $status
}
check "SM: a lie, the node's GUID" lies node-guid value 0x0250c2fffe001234
check "SM, the node's GUID: it goes on, and the port comes back" managed
check "SM: a lie, the port's state" lies port-state value init
check "SM, the port's state: it goes on, and the port comes back" managed
pkill -x opensm
pibctl inject del injected all

# ---- a receiver that is full ----

# More bursts than fit into an inbox come out of a cable at once: of those that are offered again a rule sees each once.
modprobe fuse 2>/dev/null
check "a program with two ends" program reasons "$dir/reasons"
check "a long cable" pibctl link set pib3/1 latency 200ms
coproc PAIR { exec "$dir/reasons" pib2 pib3; }
says() { echo "$1" >&"${PAIR[1]}" && read -r -t 60 said <&"${PAIR[0]}" && echo "$said"; }
says "make uc" >/dev/null
full=${said##* }
check "full: a rule about what comes" pibctl inject pib3 qp "$full" rx-full 1 after 1000000
check "full: a thousand messages" says "post write 64 n=1000"
all_in() { pibctl -j show objects pib3 qp "$full" | jq -e '.objects[0].expected_psn == "0x3e8"'; }
check "full: all are taken in" wait_for 60 all_in
check "full: the rule has seen each once" same "$(far_rule seen)" 1000
kill "$PAIR_PID"
wait "$PAIR_PID" 2>/dev/null
pibctl inject del pib3 all
pibctl link set pib3/1 healthy

# example_of PAGE: what stands under its EXAMPLES
example_of() {
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/{/^\.Bd/,/^\.Ed/p}' "$1" | grep -v '^\.' | sed 's/\\-/-/g' >"$dir/inject-example.h"
	grep 'pib_inject(.*pib0' "$dir/inject-example.h"
}
check "the manual of the library has an example" example_of /usr/share/man/man3/pib_inject.3
check "a program that injects by itself, with the example in it, compiles" \
	gcc -O2 -Wall -Wextra -Werror -I "$dir" -o "$dir/injects" "$here/../lib/injects.c" -libverbs -lpibinject -lpthread
check "library: rules, the example, an event, what is refused, and two threads" "$dir/injects" pib0
refuse_plain() { chmod 755 "$dir"; ! setpriv --reuid 65534 --clear-groups "$dir/injects" pib0 2>"$dir/refused" && grep -q "errno 1," "$dir/refused"; }
check "library: not without the right" refuse_plain

# ---- scripts ----
fresh
sed -n 's/^    \([0+][0-9a-z]* .*\|1s .*\)$/\1/p' "$here/../inject.md" >"$dir/bug.pib"
check "a script of the manual" pibctl inject run "$dir/bug.pib" with qp="$near"
check "script: none is left" none_left
wait_for 60 active
# timed: a script whose rules act on what is sent meanwhile; each line with the time at which it was said
timed() {
	local before runner
	before=$(counter tx_injected)
	printf '0s inject pib0 qp $qp drop 2\n+2s inject pib0 port 1 error\n4s inject del pib0 all\n' >"$dir/timed.pib"
	pibctl inject run "$dir/timed.pib" with qp="$near" > >(while read -r line; do echo "${EPOCHREALTIME/./} $line"; done >"$dir/timed") &
	runner=$!
	wait_for 30 has_rule && ends send "$good" && grown tx_injected "$before" 2 && wait $runner && event "port error" || return
	wait_for 10 all_told
}
has_rule() { ! none_left >/dev/null; }
all_told() { grep -q ' del pib0 all' "$dir/timed"; }
# after LINE: microseconds from the first line to that one
after() { awk -v line="$1" '/^[0-9]+ / { if (!from) from = $1; if (index($0, line)) print $1 - from }' "$dir/timed"; }
not_before() { cat "$dir/timed"; [ "$(after "$1" | head -n 1)" -ge "$2" ]; }
check "script: its rules act" timed
check "script: a line between two others" not_before "port 1 error" 1900000
check "script: the last one" not_before "del pib0 all" 3900000
check "script: nothing is left" none_left
wait_for 60 active
script() { echo "$1" | pibctl inject run -; }
refuse "script: a command that it has not" "line 1: 'monitor' is no command" script "0 monitor"
refuse "script: no script in it" "no command for a script" script "0 inject run x"
refuse "script: what is refused ends it" "line 1: .*no queue pair" script "0 inject pib0 qp 16777215 drop 1"

# ---- the manual ----
for command in "${documented[@]}"; do
	fresh srq
	cq=$(object cq cqn) srq=$(object srq srqn)
	pibctl inject del pib0 all
	last=$(inject qp "$near" drop 1 | sed 's/injection //')
	check "$command" documented "$command"
done
at_switch delay 10s count all >/dev/null
patience=100
refuse "a switch with a late answer" "fail" smp nodeinfo
check "goes all the same" pibctl del injected
check "and its rules with it" eval '! pibctl -j show injections | grep -q injected'
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pibctl show objects: one object of each kind, made by lib/everything.c, for who may see them; then many at a time while others
# come and go.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/programs.sh"
work=$(mktemp -d)
chmod 755 "$work"
pids=()
clean() {
	[ ${#pids[@]} = 0 ] || kill -9 "${pids[@]}" 2>/dev/null
	pibctl del pib0 2>/dev/null
	ip netns del pibfar 2>/dev/null
	ip link del pibdummy 2>/dev/null
	rm -rf "$work"
}
trap clean EXIT

as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --inh-caps=-all)
# begin NAME COMMAND...: a process that says "ready", or "qp"; $made is its id, $work/NAME what it says
begin() {
	local name=$1
	shift
	"$@" >"$work/$name" 2>&1 &
	made=$!
	pids+=("$made")
	wait_for 60 grep -Eq '^(ready|qp)' "$work/$name" || { cat "$work/$name"; return 1; }
}
end() {
	kill "$@"
	wait "$@" 2>/dev/null
	return 0
}
# said NAME KIND FIELD
said() { awk -v kind="$2" -v field="$3" '$1 == kind { print $field }' "$work/$1"; }
listed() { pibctl show objects "$@" >"$work/out" 2>&1 || { cat "$work/out"; return 1; }; }
# lists PATTERN WORDS...: the list has a line like that
lists() {
	local pattern=$1
	shift
	listed "$@"
	grep -Eq -- "$pattern" "$work/out" || { cat "$work/out"; return 1; }
}
# lists_nothing WORDS...
lists_nothing() {
	listed "$@" || return 1
	[ ! -s "$work/out" ] || { cat "$work/out"; return 1; }
}
lists_nothing_soon() { wait_for 20 lists_nothing "$@" || { cat "$work/out"; return 1; }; }
# json EXPRESSION WORDS...: the expression holds for o, the list of objects
json() {
	local expression=$1
	shift
	pibctl -j show objects "$@" >"$work/out" || return 1
	python3 -c 'import json, sys
o = json.load(open(sys.argv[1]))["objects"]
if not eval("(" + sys.argv[2] + ")"):
    print(sys.argv[2], json.dumps(o, indent=1)[:4000])
    sys.exit(1)' "$work/out" "$expression"
}
# same_number KIND PID
same_number() {
	local ours theirs
	ours=$(pibctl -j show objects pib0 kind "$1" pid "$2" | jq '.objects[].resource')
	theirs=$(rdma -j resource show "$1" | jq ".[] | select(.ifname == \"pib0\" and .pid == $2) | .${1}n")
	[ -n "$ours" ] && [ "$ours" = "$theirs" ] || { echo "$ours, $theirs"; return 1; }
}
# as_rdma KIND PID NAME...: of each such object rdma resource has the same numbers of these names
as_rdma() {
	pibctl -j show objects pib0 kind "$1" pid "$2" >"$work/ours" && rdma -jdd resource show "$1" >"$work/theirs" || return 1
	python3 -c 'import json, sys
ours, theirs = json.load(open(sys.argv[1]))["objects"], json.load(open(sys.argv[2]))
kind, names = sys.argv[3], sys.argv[4:]
key, mine = {"qp": ("lqpn", "qpn")}.get(kind, (kind + "n", "resource"))
number = lambda value: int(str(value), 0)
for o in ours:
    t = [t for t in theirs if t["ifname"] == "pib0" and t.get(key) == o[mine]]
    if len(t) != 1 or any(number(o[n]) != number(t[0]["drv_" + n]) for n in names):
        sys.exit(f"{o}\n{t}")
sys.exit(not ours)' "$work/ours" "$work/theirs" "$1" "${@:3}"
}
# each of the objects of $many is listed once, and nothing else of it
all_of_many() { json 'len({x["id"] for x in o}) == len(o) == 300' pib0 kind mr pid "$many"; }
many_dumps() {
	local i
	for i in $(seq "$1"); do
		all_of_many || return 1
		listed || return 1
	done
}
dumps_at_once() {
	local i jobs=()
	for i in 1 2 3; do
		(for _ in $(seq 10); do pibctl -j show objects >/dev/null || exit 1; done) &
		jobs+=($!)
	done
	for i in "${jobs[@]}"; do wait "$i" || return 1; done
}
churn_goes_on() {
	local pid
	for pid in "${churn[@]}"; do kill -0 "$pid" || return 1; done
}
# what is gone while somebody lists, and comes again
hca_goes() {
	rm -f "$work/while"
	(while pibctl -j show objects >"$work/while"; do :; done) &
	local lister=$!
	wait_for 20 test -s "$work/while" || return 1
	pibctl del pib0 && pibctl add pib0 netdev pibdummy standalone
	local status=$?
	kill "$lister"
	wait "$lister" 2>/dev/null
	return "$status"
}
none_of_processes() { json 'o and all(x["kernel"] for x in o)' pib0; }
bind_counter() { rdma statistic qp bind link pib0/1 lqpn "$(said one qp 2)"; }
refuses() {
	local status=$1
	shift
	"$@" 2>"$work/err" && return 1
	[ $? = "$status" ] || { cat "$work/err"; return 1; }
}

runs_command() { bash -o pipefail -c "$1" >"$work/doc" 2>&1 || { cat "$work/doc"; return 1; }; }

# The commands of docs/inspect.md, which selftests/check copies beside this folder.
mapfile -t commands < <(sed -n 's/^    \(pibctl .*[^# ]\) *#.*$/\1/p' "$here/../inspect.md")
kinds="context pd mr mw cq srq qp ah xrcd attachment dm"
ktap_plan $((63 + ${#commands[@]}))
modprobe -a ib_core ib_uverbs
ip link add pibdummy type dummy
ip link set pibdummy up
check "a program that has everything" program everything "$work/everything"
check "a program whose memory does not come" program reasons "$work/reasons"
check "an HCA" pibctl add pib0 netdev pibdummy standalone
before=$(date +%s%N)
begin one "$work/everything" pib0 one
check "one of each kind" [ $? = 0 ]
one=$made
for kind in $kinds; do
	check "the $kind, with its owner" lists "^pib0 $kind [0-9]+ owner everything pid $one uid 0 .*created 2[0-9]{3}-" pib0 kind "$kind" pid "$one"
done
for kind in pd mr mw cq srq qp ah dm; do
	check "the handle of the $kind is the program's" json "o[0]['handle'] == $(said one $kind 3)" kind $kind pid "$one"
done
check "when they were made" json "all($before <= x['created_ns'] <= $(date +%s%N) for x in o)" pid "$one"
check "numbers are those of rdma resource" same_number mr "$one"
check "a region" json "o[0]['key'] == hex($(said one mr 2)) and o[0]['length'] == 4096 and
	o[0]['access'] == 'LOCAL_WRITE,REMOTE_READ' and o[0]['type'] == 'USER'" kind mr pid "$one"
check "an address handle" json "o[0]['dlid'] == '0x1234' and o[0]['sl'] == 3 and o[0]['port'] == 1" kind ah pid "$one"
check "rdma resource has the same numbers of a CQ" as_rdma cq "$one" entries producer consumer
check "of a region" as_rdma mr "$one" references windows
check "an attachment" json "o[0]['qpn'] == $(said one qp 2) and o[0]['dlid'] == '0xc007' and
	o[0]['gid'] == 'ff12:401b:ffff::7'" kind attachment pid "$one"
check "a queue pair by its number" json "len(o) == 1 and o[0]['state'] == 'INIT' and o[0]['type'] == 'UD' and
	o[0]['pid'] == $one and o[0]['waits_for'] == 'program'" qp "$(said one qp 2)"
check "a CQ is that of the queue pair" json "{x['kind']: x for x in o}['cq']['cqn'] == {x['kind']: x for x in o}['qp']['send_cqn']" pid "$one"
check "memory of the device" json "o[0]['length'] == 256" kind dm pid "$one"
check "a window that is not bound" json "o[0]['bound'] == 0 and 'length' not in o[0]" kind mw pid "$one"
begin used "$work/everything" pib0 used
used=$made
check "an SRQ" json "o[0]['posted'] == 3 and o[0]['limit'] == 2 and o[0]['entries'] >= 8 and o[0]['max_sge'] >= 1" kind srq pid "$used"
check "its number, too, is that of rdma resource" same_number srq "$used"
check "a window that is bound" json "o[0]['bound'] == 1 and o[0]['length'] == 2048 and o[0]['access'] == 'REMOTE_READ' and
	o[0]['region'] == hex($(said used mr 2)) and o[0]['qpn'] == $(said used qp 2)" kind mw pid "$used"
end "$used"
check "a counter is bound" bind_counter
check "it is listed" lists "^pib0 counter [0-9]+ owner rdma " kind counter
check "docs/inspect.md has commands" test ${#commands[@]} -gt 3
for command in "${commands[@]}"; do
	check "$command" runs_command "$command"
done
check "what the kernel has" lists "^pib0 qp [0-9]+ owner \[ib_" pib0 kind qp
begin stuck python3 "$here/../lib/stuck.py" pib0 silence
check "a queue pair that waits" wait_for 60 lists "waits_for acknowledgement" kind qp pid "$made"
# lib/stuck.py: PSNs from 0x1234 on, one packet, 6 retries, nobody who answers. Each timeout takes a retry, and sends the packet again.
stuck_qpn=$(sed -n 's/^qp //p' "$work/stuck")
check "its PSNs, retries and peer" json "o[0]['una_psn'] == '0x1234' and o[0]['next_psn'] == '0x1235' and o[0]['expected_psn'] == '0x1234' and
	o[0]['retries_left'] + o[0]['timeouts'] == 6 and o[0]['retransmits'] == o[0]['timeouts'] and o[0]['rnr_left'] == 7 and
	o[0]['remote_qpn'] == 0xABCDEF and o[0]['pkey'] == '0xffff'" qp "$stuck_qpn"
check "its queues, window and credits" json "o[0]['sq_posted'] == 1 and o[0]['sq_unread'] == 0 and o[0]['sq_fetched'] - o[0]['sq_done'] == 1 and
	o[0]['sq_entries'] >= 4 and o[0]['rq_posted'] == 0 and o[0]['window'] >= 1 and o[0]['ssn'] == 2 and o[0]['msn'] == 0 and o[0]['credits'] == 0 and
	0 < o[0]['ack_usec'] < 60000000" qp "$stuck_qpn"
check "rdma resource has the same" as_rdma qp "$made" una_psn next_psn expected_psn msn sq_posted sq_unread rq_posted rnr_left
end "$made"
begin rnr python3 "$here/../lib/stuck.py" pib0 rnr
check "one that waits for its receiver" wait_for 60 json "'receiver' in [x.get('waits_for') for x in o]" kind qp pid "$made"
end "$made"
# paged: a queue pair to whose memory data has come, of which the pages do not come
paged() {
	modprobe fuse 2>/dev/null
	mkfifo "$work/asked"
	"$work/reasons" pib0 pib0 <"$work/asked" >"$work/paged" 2>&1 &
	made=$!
	pids+=("$made")
	exec 6>"$work/asked"
	printf 'make uc
post write 65536 n=40 to=slow
' >&6
	wait_for 60 grep -q '^made' "$work/paged" || { cat "$work/paged"; return 1; }
}
paged
check "one that waits for a page" wait_for 60 json "[x['waits_for'] for x in o if 'page_wait' in x] == ['page']" kind qp pid "$made"
echo release >&6
exec 6>&-
end "$made"
: >"$work/domain"
begin target "$work/everything" pib0 target "$work/domain"
target=$made
begin share "$work/everything" pib0 share "$work/domain" "$(said target qp 2)"
check "a queue pair that two share" json "len(o) == 1 and o[0]['type'] == 'XRC_TGT' and o[0]['pid'] == $target" qp "$(said target qp 2)"
end "$target"
check "its maker has ended" wait_for 20 json "len(o) == 1 and 'handle' not in o[0]" qp "$(said target qp 2)"
end "$made"
check "both have" lists_nothing_soon qp "$(said target qp 2)"
begin nobody "${as_nobody[@]}" "$work/everything" pib0 one
check "nobody's, too" [ $? = 0 ]
nobody=$made
check "root sees them" json "len(o) == 11 and all(x['uid'] == 65534 for x in o)" pid "$nobody"
nobody_sees() {
	"${as_nobody[@]}" pibctl -j show objects >"$work/out" || return 1
	python3 -c 'import json, sys
o = json.load(open(sys.argv[1]))["objects"]
secret = {"key", "region", "start"}
sys.exit(not (len(o) == 11 and {x["pid"] for x in o} == {int(sys.argv[2])} and not any(secret & set(x) for x in o)))' "$work/out" "$nobody" || { cat "$work/out"; return 1; }
}
check "nobody sees his own, and no others" nobody_sees
kill -9 "$nobody"
wait "$nobody" 2>/dev/null
check "when he is killed, his are gone" lists_nothing_soon pid "$nobody"
# says_nothing COMMAND...: it succeeds, and prints nothing
says_nothing() {
	"$@" >"$work/out" 2>&1 && [ ! -s "$work/out" ] || { cat "$work/out"; return 1; }
}
check "now he sees nothing" says_nothing "${as_nobody[@]}" pibctl show objects
ip netns add pibfar
check "another namespace has none" says_nothing ip netns exec pibfar pibctl show objects
begin many "$work/everything" pib0 many 300
check "three hundred" [ $? = 0 ]
many=$made
churn=()
for i in 1 2 3; do
	begin "churn$i" "$work/everything" pib0 churn
	churn+=("$made")
done
check "each is listed once while others come and go" many_dumps 10
check "three listers at once" dumps_at_once
check "the others go on" churn_goes_on
check "the HCA goes while somebody lists" hca_goes
check "nothing of theirs is left" wait_for 60 none_of_processes
end "${churn[@]}" "$many" "$one"
check "no such kind" refuses 2 pibctl show objects kind hca
ktap_end

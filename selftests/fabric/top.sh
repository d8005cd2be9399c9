#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pibctl top: what moves, for scripts and on a terminal.
#
#	pib0 --- switch --- pib1, with RC traffic between them
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/topology.sh"
work=$(mktemp -d)
chmod 755 "$work"
trap 'traffic_clean; topology_clean; rm -rf "$work"' EXIT

as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --inh-caps=-all)
terminal=("$here/../lib/on-terminal.py")
# json EXPRESSION WORDS...: it holds for o, one interval
json() {
	local expression=$1
	shift
	pibctl -j top --once --interval 0.3 "$@" >"$work/out" || return 1
	python3 -c 'import json, sys
o = json.load(open(sys.argv[1]))
if not eval("(" + sys.argv[2] + ")"):
    print(sys.argv[2], json.dumps(o, indent=1)[:4000])
    sys.exit(1)' "$work/out" "$expression"
}
json_soon() { wait_for 60 json "$@" || { json "$@"; return 1; }; }
three_lines() {
	pibctl -j top --interval 0.1 -c 3 >"$work/out" &&
		python3 -c 'import json, sys
times = [json.loads(line)["time"] for line in open(sys.argv[1])]
sys.exit(not (len(times) == 3 and times == sorted(set(times))))' "$work/out"
}
# Like all commands whose output cannot be written it says so and ends by itself, not by SIGPIPE.
reader_goes() {
	local status
	pibctl -j top --interval 0.1 | head -n 1 >"$work/out"
	status=("${PIPESTATUS[@]}")
	jq -e .time "$work/out" && [ "${status[0]}" = 1 ] && return
	echo "status ${status[0]}"
	return 1
}
interrupted() {
	rm -f "$work/out"	# of the test before
	bash -c 'exec pibctl -j top --interval 0.1' >"$work/out" &
	local pid=$!
	wait_for 30 test -s "$work/out" || return 1
	kill -TERM $pid && wait $pid
}
is_one_table() {
	[ "$(grep -c '^PORT ' "$work/out")" = 1 ] && grep -q '^CABLE ' "$work/out" && grep -q '^QP ' "$work/out" && ! grep -q $'\e' "$work/out"
}
one_table() {
	pibctl top --interval 0.2 "$@" </dev/null >"$work/out" 2>&1 && is_one_table && return
	cat "$work/out"
	return 1
}
# Rows that are sorted by name stand in that order, whatever moves.
by_name() {
	pibctl top --interval 0.2 kind port sort name >"$work/out" && sed -n '4,$s/ .*//p' "$work/out" >"$work/names" &&
		sort -c -V "$work/names" && grep -qx pib1/1 "$work/names"
}
only_queue_pairs() { pibctl top --interval 0.2 kind qp >"$work/out" && grep -q '^QP ' "$work/out" && ! grep -q '^PORT ' "$work/out"; }
on_terminal() {
	"${terminal[@]}" "$@" >"$work/out" 2>&1 || { cat -v "$work/out"; return 1; }
	grep -qx "status 0" "$work/out" || { cat -v "$work/out"; return 1; }
}
# flood_start: long messages from pib0 to pib1 and back, without a pause
flood=()
listens() { ss -ltn | grep -q :18515; }
flood_start() {
	ibv_rc_pingpong -d pib1 -n 1000000 -s 65536 >"$work/server" 2>&1 &
	flood=($!)
	wait_for 20 listens
	ibv_rc_pingpong -d pib0 -n 1000000 -s 65536 localhost >"$work/client" 2>&1 &
	flood+=($!)
}
flood_end() { kill "${flood[@]}"; wait "${flood[@]}"; } 2>/dev/null
# looked_at: what counters of pib0/1 have been before and after sysfs and a subnet's tools were asked for them
looked_at() {
	local dir=/sys/class/infiniband/pib0/ports/1
	pibctl -j show counters pib0/1 >"$work/before" && (cd $dir/counters && grep . -- *) >"$work/files" &&
		perfquery -x -C pib0 "$(lid_of pib0)" 1 >"$work/performance" && pibctl -j show counters pib0/1 >"$work/after" &&
		rdma -j statistic show link pib0/1 >"$work/rdma.before" && (cd $dir/hw_counters && grep . -- *) >"$work/hw_files" &&
		rdma -j statistic show link pib0/1 >"$work/rdma.after"
}
# files_agree: sysfs shows nothing but these, in units of the IBA
files_agree() {
	looked_at && python3 - "$work" <<'END'
import json, re, sys
def load(name):
    return json.load(open(f"{sys.argv[1]}/{name}"))
def lines(name):
    return {m[1]: int(m[2]) for m in re.finditer(r"^(\w+):[.]*(\d+)", open(f"{sys.argv[1]}/{name}").read(), re.M)}
before, after = ([p["counters"] for p in load(name)["counters"] if p["port"] == 1][0] for name in ("before", "after"))
files, told = lines("files"), lines("performance")
words = {"port_xmit_data": "port_xmit_bytes", "port_rcv_data": "port_rcv_bytes"}
bad = []
for name, value in files.items():
    word = words.get(name, name)
    unit = 4 if name in words else 1
    if word in before and not before[word] // unit <= value <= after[word] // unit:
        bad.append((name, value, before[word], after[word]))
    elif word not in before and name != "excessive_buffer_overrun_errors":
        bad.append((name, value))
for name, word in {"PortXmitPkts": "port_xmit_packets", "PortRcvPkts": "port_rcv_packets"}.items():
    if not before[word] <= told[name] <= after[word]:
        bad.append((name, told[name]))
low, high = (load(f"rdma.{name}")[0] for name in ("before", "after"))
hw = lines("hw_files")
bad += [(name, value) for name, value in hw.items() if name != "lifespan" and not low[name] <= value <= high[name]]
print(bad, len(files), len(hw))
sys.exit(bool(bad) or files["port_xmit_packets"] == 0 or files["port_xmit_data"] == 0 or len(files) < 16 or not hw)
END
}
# cleared: perfquery -R clears what sysfs shows
cleared() {
	local files=/sys/class/infiniband/pib0/ports/1/counters before
	before=$(<$files/port_xmit_packets)
	perfquery -x -R -C pib0 "$(lid_of pib0)" 1 && [ "$(<$files/port_xmit_packets)" -lt "$before" ] &&
		pibctl -j show counters pib0/1 | jq -e ".counters[] | select(.port == 1).counters.port_xmit_packets >= $before"
}
runs_command() { bash -o pipefail -c "$1" >"$work/doc" 2>&1 </dev/null || { cat "$work/doc"; return 1; }; }

# The commands of docs/watch.md, which selftests/check copies beside this folder; serve.sh has the others.
mapfile -t commands < <(sed -n 's/^    \(pibctl .*[^# ]\) *#.*$/\1/p' "$here/../watch.md" | grep "pibctl.* top")
ktap_plan $((41 + ${#commands[@]}))
topology_init
check "traffic generator compiles" allpairs_build
net=$(net xgft 2 1)
check "two HCAs and a switch" pibctl fabric load "$net"
check "opensm" fabric_sm
check "all ports ACTIVE" wait_for 60 all_active
switch=$(pibctl -j show | jq -r '.switches[0].name')
check "every port is there" json "{(p['node'], p['port']) for p in o['ports']} >= {('pib0', 1), ('pib1', 1), ('$switch', 0)} and
	all(p['state'] == 'ACTIVE' for p in o['ports'] if p['node'] != '$switch')"
check "every cable is there" json "len(o['cables']) == 2 and all(c['plugged'] and c['state'] == 'ACTIVE' for c in o['cables'])"
check "and what the kernel has" json "any(q['owner'].startswith('[ib_') for q in o['qps'])"
traffic_start pib0 pib1
check "traffic runs" traffic_runs
check "ports move" json_soon "all(p['xmit_bytes'] > 0 and p['rcv_packets'] > 0 for p in o['ports'] if p['node'] in ('pib0', 'pib1'))"
check "cables move, in both directions" json_soon "all(c['bytes_out'] > 0 and c['bytes_in'] > 0 for c in o['cables'])"
check "queue pairs move" json_soon "any(q['sends'] > 0 and q['packets_out'] > 0 for q in o['qps'])" pid "$traffic_pid"
check "the busiest port is the first" json "o['ports'] == sorted(o['ports'], key=lambda p: -(p['xmit_bytes'] + p['rcv_bytes']))"
check "of one port" json "[(p['node'], p['port']) for p in o['ports']] == [('pib1', 1)] and len(o['cables']) == 1 and
	all(q['hca'] == 'pib1' for q in o['qps'])" pib1/1
check "of one process" json "not o['ports'] and not o['cables'] and o['qps'] and all(q['pid'] == $traffic_pid for q in o['qps'])" pid "$traffic_pid"
number=$(pibctl -j top --once --interval 0.1 pid "$traffic_pid" | jq '.qps[0].qpn')
check "of one queue pair" json "{q['qpn'] for q in o['qps']} == {$number}" qp "$number"
check "busy ones only" json "all(p['xmit_packets'] or p['rcv_packets'] or p['waits'] for p in o['ports']) and len(o['ports']) < 6" busy
check "a bad cable" pibctl link set pib0/1 loss 2%
check "what it loses" json_soon "any(c['lost'] > 0 for c in o['cables'])"
check "and what is sent again for it, seconds later" json_soon "any(q['retransmits'] > 0 for q in o['qps'])"
check "a long one with little room" pibctl link set pib0/1 latency 20ms buffer 16k
flood_start
check "what waits for it" json_soon "any(p['waits'] > 0 for p in o['ports']) and any(c['waits'] > 0 for c in o['cables'])"
check "what waits most is the first" json_soon "o['ports'][0]['waits'] > 0 and o['ports'] == sorted(o['ports'], key=lambda p: -p['waits'])" \
	sort waits
flood_end
check "a good one" pibctl link set pib0/1 healthy
check "without a terminal: one table" one_table
check "sorted by name" by_name
check "one kind" only_queue_pairs
check "three lines of JSON" three_lines
check "the reader goes" reader_goes
check "SIGTERM ends it well" interrupted
check "on a terminal: table after table, keys, a smaller window, q" on_terminal 100 30 "see=CABLE" "see=[1-9][0-9]* ports, .* by bytes" \
	key=n "see=by name" key=i "see=busy ones only" size=60x12 "see=busy" "see=busy" "see=busy" "see=busy" key=q -- pibctl top --interval 0.2
check "Ctrl-C leaves the terminal as it was" on_terminal 80 24 "see=ports, " key=^C -- pibctl top --interval 0.2
check "so does SIGTERM" on_terminal 80 24 "see=ports, " kill -- pibctl top --interval 0.2
check "so does Ctrl-\\" on_terminal 80 24 "see=ports, " "key=^\\" -- pibctl top --interval 0.2
refuse "a NAME that is not there" "no HCA and no switch 'nowhere'" pibctl top nowhere --once --interval 0.1
refuse "a port that is not there" "'pib0' has no port 9" pibctl -j top pib0/9 --once --interval 0.1
nobody_sees() {
	"${as_nobody[@]}" pibctl -j top --once --interval 0.1 >"$work/out" && jq -e '(.qps == []) and (.ports | length > 0)' "$work/out"
}
check "nobody sees ports, and no queue pairs of others" nobody_sees
for command in "${commands[@]}"; do
	check "$command" runs_command "${command//4711/$traffic_pid}"
done
traffic_end
check "sysfs has the counters of pibctl, perfquery and rdma" wait_for 30 files_agree
mapfile -t files < <(sed -n 's/^    \(grep .*[^# ]\) *#.*$/\1/p' "$here/../watch.md")
check "what a tool has cleared begins again there, and not in pibctl" cleared
check "docs/watch.md says where" test ${#files[@]} = 2
for command in "${files[@]}"; do check "$command" runs_command "$command"; done
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pibctl fabric serve: what a browser is told, by whom it is asked, and who is refused.
#
#	pib0, pib1 --- switch === spines === switch --- pib2, pib3
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/topology.sh"
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; traffic_clean; topology_clean; rm -rf "$work"' EXIT

# start WORDS...: $port is where it listens
start() {
	: >"$work/said"
	# A shell that runs it in the background has Ctrl-C ignored.
	python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' pibctl fabric serve "$@" >"$work/said" 2>"$work/noted" &
	server=$!
	wait_for 30 grep -q "shows the fabric" "$work/said" || { cat "$work/noted"; return 1; }
	port=$(sed -n 's|^http://.*:\([0-9]*\)/ .*|\1|p' "$work/said")
}
stop() {
	kill -"$1" "$server" && wait "$server"
	local status=$?
	server=
	return $status
}
client() { "$here/../lib/http-client.py" "$port" "$@"; }
# holds PATH EXPRESSION: for o, the JSON there
holds() {
	client get "$1" >"$work/out" || return 1
	python3 -c 'import json, sys
o = json.load(open(sys.argv[1]))
if not eval("(" + sys.argv[2] + ")"):
    print(sys.argv[2], json.dumps(o, indent=1)[:4000])
    sys.exit(1)' "$work/out" "$2"
}
holds_soon() { wait_for 60 holds "$@" || { holds "$@"; return 1; }; }
# gives STATUS METHOD PATH [HEADER]...
gives() {
	local wanted=$1 got
	shift
	got=$(client status "$@")
	[ "$got" = "$wanted" ] || { echo "$got"; return 1; }
}
gives_soon() { wait_for 20 gives "$@"; }
# within_a_second EXPRESSION COMMAND...: it holds for the words of the class of the cable at pib0/1 at the third time of
# asking, each half second. A look may be as old as three of them take: where one takes longer than a third of a second,
# before or afterwards, once more for each half second of it.
within_a_second() {
	local expression=$1 asked most before after
	shift
	before=$(three_looks)
	asked=$(client polls /api/fabric "any($expression for c in o['cables'] for words in [c['class'].split()] if 'pib0/1' in (c['a'], c['b']))" "$@")
	after=$(three_looks)
	most=$((3 + (before > after ? before : after) / 500))
	[ "$asked" -le $most ] || { echo "$asked of $most"; return 1; }
}
# Milliseconds of three looks, no less: for these calls pibctl asks the module what the server asks it.
three_looks() {
	local start
	start=$(date +%s%3N)
	pibctl -j show >/dev/null && pibctl -j show links >/dev/null
	echo $((3 * ($(date +%s%3N) - start)))
}
# is_refused METHOD PATH [HEADER]...
is_refused() { case $(client status "$@") in 4?? | none) ;; *) return 1 ;; esac; }
hung_up_on() { client trickle | grep -q "hung up on"; }
page_is_whole() { client get / >"$work/page" && grep -q "^</html>" "$work/page" && ! grep -E "https?://" "$work/page" | grep -v www.w3.org/2000/svg; }
is_svg() { client get /fabric.svg >"$work/svg" && python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$work/svg"; }
not_from_outside() {
	ss -Hltn "sport = :$port" >"$work/out"
	[ "$(awk '{ print $4 }' "$work/out")" = "127.0.0.1:$port" ] || { cat "$work/out"; return 1; }
}
same_as_ibroute() {
	local lid
	lid=$(pibctl -j show "$switch" | jq '.switches[0].ports[0].lid')
	# "ibroute LID": lines of LID and port
	ibroute -C pib0 "$lid" | sed -n 's/^0x\([0-9A-Fa-f]*\) \([0-9]*\) .*/\1 \2/p' | while read -r to by; do echo "$((16#$to)) $((10#$by))"; done >"$work/ibroute"
	client get "/api/tables?name=$switch" | jq -r '.routes[] | range(.first; .last + 1) as $lid | "\($lid) \(.port)"' >"$work/ours"
	[ -s "$work/ours" ] && diff "$work/ibroute" "$work/ours"
}
served() {	# a command of the page
	start "${@:4}" && stop INT
}
runs_command() {
	local command=$1
	case $command in
	"pibctl fabric serve"*) # shellcheck disable=SC2086
		served $command ;;
	*) bash -o pipefail -c "$command" >"$work/doc" 2>&1 </dev/null || { cat "$work/doc"; return 1; } ;;
	esac
}

# The commands of docs/watch.md but those of top.sh and monitor.sh.
mapfile -t commands < <(sed -n 's/^    \(\(pibctl\|curl\) .*[^# ]\) *#.*$/\1/p' "$here/../watch.md" | grep -v "pibctl.* \(top\|monitor\)")
ktap_plan $((55 + ${#commands[@]}))
topology_init
check "traffic generator compiles" allpairs_build
net=$(net xgft 2,2 1,2)
# A description that would be markup.
sed -i 's|# "h-0-0"|# "<b title=x>h-0-0</b>"|' "$net"
check "four HCAs and four switches" pibctl fabric load "$net"
check "opensm" fabric_sm
check "all ports ACTIVE" wait_for 60 all_active
switch=$(pibctl -j show links pib0/1 | jq -r '.links[0] | if .a.node == "pib0" then .b.node else .a.node end')
start
check "a server" [ $? = 0 ]
check "it listens on this machine alone" not_from_outside
check "the page" page_is_whole
check "the picture" is_svg
check "nodes and cables" holds /api/fabric "len(o['nodes']) == 8 and len(o['cables']) == 8 and
	all(c['class'].startswith('active') for c in o['cables']) and any(n['description'] == '<b title=x>h-0-0</b>' for n in o['nodes'])"
check "a node" holds "/api/node?name=$switch" "o['kind'] == 'switch' and len([p for p in o['ports'] if p['far']]) == 4"
check "a port: LID, state, width, counters" holds "/api/port?name=pib0%2F1" "o['lid'] == $(lid_of pib0) and o['state'] == 'ACTIVE' and
	'4X' in o['rate'] and o['far'].startswith('$switch/') and {c['name'] for c in o['counters']} >= {'port_xmit_bytes', 'link_downed'}"
check "the forwarding table is what ibroute reads" same_as_ibroute
check "no such table" gives 404 GET "/api/tables?name=pib0" "Host: localhost"
check "idle cables" holds_soon /api/fabric "all(c['class'] == 'active load0' for c in o['cables'])"
traffic_start pib0 pib3
check "traffic runs" traffic_runs
check "the cables on its way are busy" holds_soon /api/fabric "any(c['bytes_out'] > 1000 and 'load0' not in c['class'] for c in o['cables'])"
check "counters move" holds_soon "/api/port?name=pib0/1" "{c['name']: c['rate'] for c in o['counters']}['port_xmit_packets'] > 0"
check "a bad cable is seen within a second" within_a_second "'faulty' in words" pibctl link set pib0/1 loss 5%
check "it loses packets" holds_soon /api/fabric "any('losing' in c['class'] and c['lost'] > 0 for c in o['cables'])"
traffic_clean
wait "$traffic_pid" 2>/dev/null
check "a good one, too" within_a_second "'faulty' not in words and 'losing' not in words" pibctl link set pib0/1 healthy
check "a pulled cable is seen within a second" within_a_second "'unplugged' in words" pibctl link set pib0/1 down
check "and one that is put back" within_a_second "'active' in words" bash -c "pibctl link set pib0/1 up && . $here/../lib/ktap.sh && . $here/../lib/topology.sh && wait_for 60 all_active"

# ---- who is refused ----

check "another name of this machine (DNS rebinding)" gives 403 GET /api/fabric "Host: evil.example:$port"
check "an address is no such name" gives 200 GET /api/fabric "Host: 127.0.0.1:$port"
check "a page of another site" gives 403 GET "/api/tables?name=$switch" "Host: localhost:$port" "Sec-Fetch-Site: cross-site"
check "a page of another port of this machine" gives 403 GET /api/fabric "Host: localhost:$port" "Sec-Fetch-Site: same-site"
check "the page itself may ask" gives 200 GET "/api/tables?name=$switch" "Host: localhost:$port" "Sec-Fetch-Site: same-origin"
check "and may stand behind a link" gives 200 GET / "Host: localhost:$port" "Sec-Fetch-Site: cross-site"
check "no Host" gives 400 GET /api/fabric
check "two of them" gives 403 GET /api/fabric "Host: evil.example" "Host: localhost"
check "POST" gives 405 POST /api/fabric "Host: localhost" "Content-Length: 0"
check "DELETE" gives 405 DELETE /api/fabric "Host: localhost"
check "a path out of it" gives 404 GET /../../etc/passwd "Host: localhost"
check "the same in other letters" gives 404 GET /%2e%2e/%2e%2e/etc/passwd "Host: localhost"
check "a port of nothing" gives 404 GET "/api/port?name=..%2F1" "Host: localhost"
check "no HTTP" is_refused "$(printf '\026\003\001')" / "Host: localhost"
check "a header of 60 kB" is_refused GET / "Host: localhost" "X: $(head -c 60000 /dev/zero | tr '\0' a)"
check "a crowd that says nothing, or half, or does not listen" client crowd 80 /api/fabric
check "one who says a byte now and then is hung up on" hung_up_on
check "it serves" holds /api/fabric "len(o['cables']) == 8"
port_taken() { refused=$(pibctl fabric serve --port "$port" 2>&1) && return 1; grep -q "cannot listen on 127.0.0.1:$port: Address already in use" <<<"$refused"; }
check "a port that is taken" port_taken

# ---- what goes while it serves ----

check "the fabric goes" pibctl fabric clear
check "there is nothing then" holds_soon /api/fabric "not o['nodes'] and not o['cables']"
check "and no such node" gives 404 GET "/api/node?name=pib0" "Host: localhost"
sm_end
check "the module goes" wait_for 20 modprobe -r pib
check "the server says so" gives_soon 503 GET /api/fabric "Host: localhost"
check "and does not load it" [ ! -e /sys/module/pib ]
check "the module comes" modprobe pib
check "the server sees it" holds_soon /api/fabric "not o['nodes']"
# check has a shell of its own, whose child the server is not.
stop INT
check "Ctrl-C" [ $? = 0 ]
start --port 0 --listen ::1
check "another port, over IPv6" [ $? = 0 ]
stop TERM
check "SIGTERM" [ $? = 0 ]
# COMMAND where libmicrohttpd is no library
without_http() { unshare -m sh -c 'mount --bind /dev/null "$(realpath /usr/lib/*/libmicrohttpd.so.12)" && exec "$@"' sh "$@"; }
check "without libmicrohttpd pibctl does all else" without_http pibctl -j show
refuse "and says what is missing" "needs libmicrohttpd" without_http pibctl fabric serve --port 0
start --listen 0.0.0.0 --port 0
check "for others: it says so" grep -q "everybody who reaches this address" "$work/noted"
stop TERM
sm_end
pibctl fabric load "$net" && fabric_sm && wait_for 60 all_active
start
for command in "${commands[@]}"; do
	if [[ $command == "pibctl fabric serve"* ]]; then stop TERM; fi
	check "$command" runs_command "${command//sw0/$switch}"
	if [[ $command == "pibctl fabric serve"* ]]; then start; fi
done
ktap_end

# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154  # $owner, $far_owner, $posts and $packets are the suite's
# pibctl's tools beside a program of others that talks between the machines of hosts.sh: they tell of its queue pair, and of
# no other. To be sourced after hosts.sh. The suite says of the program:
#
#	$owner, $far_owner	as "pibctl show objects" has it here, and on host 2
#	$pid			its process here; 0: it is the kernel
#	$posts			what it posts here, as a regular expression
#	$packets		opcodes of what the queue pair sends, as tshark takes them: 0..5,17
#	$losses			how many of these are dropped, and which: requests are to be among them, not acknowledgements alone
. "${BASH_SOURCE[0]%/*}/traces.sh"
dir=/tmp/beside
mkdir -p $dir
qpn='' far='' web='' monitor='' heard=0 losses="6 every 5"
patience=$((60 * ${PIB_SLOW:-1}))

# ---- which queue pair ----

connected() { pibctl -j show objects pib0 kind qp | jq -e --arg owner "$owner" '.objects[] | select(.owner == $owner and .type == "RC" and .state == "RTS")'; }
# of_program: $qpn is the queue pair of $owner here that has sent most, $far the one at its other end
of_program() {
	wait_for 60 connected || pibctl show objects pib0 kind qp
	read -r qpn far < <(pibctl -j show objects pib0 kind qp | jq -r --arg owner "$owner" \
		'[.objects[] | select(.owner == $owner and .type == "RC" and .state == "RTS")] | max_by(.sq_done) | "\(.qpn) \(.remote_qpn)"')
}
# holds FILE FILTER: it is true of what the file has, lines of JSON or one object, with $qpn, $far, $pid and $owner of here
holds() {
	jq -n -e --argjson qpn "$qpn" --argjson far "$far" --argjson pid "$pid" --arg owner "$owner" --arg far_owner "$far_owner" --arg posts "$posts" \
		"[inputs] | $2" "$dir/$1" >/dev/null || { head -n 12 "$dir/$1"; return 1; }
}
# instances: a trace runs
instances() { compgen -G '/sys/kernel/tracing/instances/pibctl-*'; }
moves() { pibctl -j top --once --interval 0.5 pib0 kind qp qp "$qpn" | jq -e '[.qps[].sends] | max > 0'; }
goes_on() { wait_for 30 moves || { echo "it stands still"; pibctl explain pib0 qp "$qpn"; return 1; }; }
# qp_number HOST QPN NAME: what a queue pair says of itself, 0 if nothing
qp_number() { h "$1" pibctl -j show objects pib0 qp "$2" | jq -r ".objects[0].$3 // 0"; }

# ---- a tool each ----

# Both ends, each as the other has it.
by_objects() {
	pibctl -j show objects pib0 qp "$qpn" >$dir/here && h 2 pibctl -j show objects pib0 qp "$far" >$dir/there || return 1
	holds here '[.[].objects[] | [.kind, .owner, .pid // 0, .type, .state, .qpn, .remote_qpn]] == [["qp", $owner, $pid, "RC", "RTS", $qpn, $far]]' &&
		holds there '[.[].objects[] | [.kind, .owner, .type, .qpn, .remote_qpn]] == [["qp", $far_owner, "RC", $far, $qpn]] and
			(.[0].objects[0].state | . == "RTS" or . == "RTR")'
}
by_top() {
	pibctl -j top --once --interval 1 pib0 kind qp qp "$qpn" >$dir/top || return 1
	holds top '[.[].qps[] | [.hca, .qpn, (.owner | ltrimstr("[") | rtrimstr("]")), .pid // 0, .type, .state]] == [["pib0", $qpn, $owner, $pid, "RC", "RTS"]] and
		(.[0].qps[0] | .sends > 0 and .packets_out > 0)'
}
# Completions may be asked for once in a hundred work requests.
by_trace() {
	timeout $patience pibctl -j trace pib0 qp "$qpn" event wr_posted event completion -c 250 >$dir/trace || return 1
	holds trace 'map(select(.event != "lost")) | length == 250 and all(.device == "pib0" and .qpn == $qpn and .pid == $pid) and
		any(.event == "completion" and .status == "SUCCESS") and ([.[] | select(.event == "wr_posted").opcode] | length > 0 and all(test("^(" + $posts + ")$")))'
}
follows() { timeout $patience pibctl -j trace follow pib0 qp "$qpn" -c 120 >$dir/follow; }
# Of what was acknowledged: microseconds from then to the completion.
waits='([group_by(.message)[] | map(select(.event == "ack_received" or (.event == "completion" and .status == "SUCCESS"))) |
	select(length > 1 and .[-1].event == "completion" and .[-2].event == "ack_received") | .[-1].since_post_us - .[-2].since_post_us])'
# Each message is told of from its post on, of that work request only, and goes to the far end; most complete soon after they were acknowledged.
by_follow() {
	follows || return 1
	holds follow 'map(select(.event != "lost")) | ([.[] | select(.event == "wr_posted") | .message]) as $posted |
		([.[] | select(.event == "finished" or (.event == "completion" and .device == "pib0")).message]) as $ended |
		($ended | length == 120 and (. - $posted) == []) and ([.[] | select(.event == "qp_sent").far_qpn] | unique) == [$far] and
		(map(select(.device == "pib0" and (.event == "wr_posted" or .event == "qp_sent"))) | group_by(.message) | all(map(.index) | unique | length == 1)) and
		all(.event == "finished" or .event == "left_out" or .since_post_us >= 0) and ('"$waits"' | length > 0 and min < 9000)'
}
by_capture() {
	local n expected
	timeout $patience pibctl capture pib0 out qp "$far" -c 60 -w $dir/x.pcapng 2>$dir/capture || { cat $dir/capture; return 1; }
	# tshark guesses what the payload is, and may take it for RPC over RDMA.
	expected="infiniband.bth.destqp == $far && infiniband.bth.opcode in {$packets} && !_ws.malformed"
	n=$(tshark --disable-protocol rpcordma -r $dir/x.pcapng -Y "$expected" 2>/dev/null | wc -l)
	[ "$n" = 60 ] && return
	echo "$n of 60; the others:"
	tshark --disable-protocol rpcordma -r $dir/x.pcapng -Y "!($expected)" -V | head -n 100
	return 1
}
# The far end refuses all requests for now: this one says so, that one why; and then it goes on.
explains() { pibctl -j explain pib0 qp "$qpn" >$dir/explain && holds explain '.[0].explanations | any(.qp == $qpn and (.text | contains("far end was not ready (RNR)")))'; }
far_explains() { h 2 pibctl -j explain pib0 qp "$far" >$dir/explain && holds explain ".[0].explanations | any(.qp == \$far and (.text | contains(\"1 rule of 'pibctl inject' acts\")))"; }
stands_still() { ! moves; }
by_explain() {
	local rc=0
	h 2 pibctl inject pib0 qp "$far" rnr all || return 1
	wait_for 20 explains || { pibctl explain pib0 qp "$qpn"; rc=1; }
	far_explains && wait_for 10 stands_still || rc=1
	h 2 pibctl inject del pib0 all || rc=1
	goes_on && return $rc
}
lost_all() { [ "$(pibctl -j show injections | jq '.injections[-1].done')" = "${losses%% *}" ]; }
sent_again() { [ $(($(qp_number 1 "$qpn" retransmits) + $(qp_number 2 "$far" retransmits))) -gt "$again" ]; }
by_inject() {
	local again rc=0
	again=$(($(qp_number 1 "$qpn" retransmits) + $(qp_number 2 "$far" retransmits)))
	# shellcheck disable=SC2086  # words
	pibctl inject pib0 qp "$qpn" drop $losses || return 1
	wait_for 60 lost_all && wait_for 30 sent_again || rc=1
	[ $rc = 0 ] || pibctl show injections
	pibctl inject del pib0 all
	goes_on && return $rc
}
# A completion comes 10 ms after it could, and with it those of what has finished meanwhile. A program on a busy machine may complete
# nothing for a while, so there are three looks.
late_ones() { follows && holds follow "$waits"' | length > 0 and max >= 9000'; }
by_behavior() {
	local rc=0
	pibctl set pib0 behavior late-completions || return 1
	late_ones >/dev/null || late_ones >/dev/null || late_ones || rc=1
	pibctl set pib0 behavior none
	goes_on && return $rc
}
# serve_begin: the page of this host
serve_begin() {
	pibctl fabric serve --port 0 >$dir/said 2>&1 & web=$!
	wait_for 30 grep -q "shows the fabric" $dir/said || cat $dir/said
}
# page_says COMPARISON: of packets of the port in a second, after a third look. One who looks again within five seconds has a measure.
page_says() {
	"${BASH_SOURCE[0]%/*}/http-client.py" "$(sed -n 's|^http://.*:\([0-9]*\)/ .*|\1|p' $dir/said)" polls "/api/port?name=pib0/1" \
		"i > 2 and [c['rate'] for c in o['counters'] if c['name'] == 'port_xmit_packets'][0] $1" true | grep -vx never
}
by_serve() { page_says ">= 50" || { goes_on; return 1; }; }
serve_idle() { page_says "< 50"; }
# monitor_begin: of host 2, which hears of nothing there but what is done to it
probed() { h 2 pibctl switch add probe ports 2 && h 2 pibctl switch del probe && grep -q switch_new $dir/monitor; }
monitor_begin() {
	: >$dir/monitor
	h 2 pibctl -j monitor >$dir/monitor 2>&1 & monitor=$!
	wait_for 30 probed || cat $dir/monitor
}
lines_heard() { wc -l <$dir/monitor; }
quiet_now() { local before; before=$(lines_heard); sleep 2; [ "$(lines_heard)" = "$before" ]; }
port_came_back() {
	tail -n +$((heard + 1)) $dir/monitor >$dir/news
	holds news '([.[] | select(.event == "async").async_event] | index("PORT_ERR")) != null and ([.[] | select(.event == "port_state" and .node == "pib0").state] | index("ACTIVE")) != null'
}
# A program is no change; that its port fails under it is.
by_monitor() {
	[ "$(lines_heard)" = "$heard" ] || { tail -n +$((heard + 1)) $dir/monitor; return 1; }
	h 2 pibctl inject pib0 port 1 error || return 1
	wait_for 90 port_came_back || { cat $dir/news; return 1; }
}
beside_end() {
	kill "$web"
	h 2 pkill -x pibctl
	wait "$web" "$monitor"
}

# tools_beside NAME: ten checks while the program runs. In the last one its path is disturbed.
tools_beside() {
	local tool
	wait_for 30 quiet_now
	heard=$(lines_heard)
	of_program
	for tool in objects top trace follow capture explain inject behavior serve monitor; do check "$1: $tool" "by_$tool"; done
}

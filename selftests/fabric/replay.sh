#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A keyed link's control datagrams, sent again unaltered by who has not the key: what they told when they were new
# does not become true again. They tell of one HCA at host 2, which has two by now; of a host that is no more; and of links
# between two ports that call each other, and that are made again.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap 'rm -f /tmp/key.a /tmp/seen*; hosts_clean' EXIT

ktap_plan 18
LAYOUT=netns
hosts_make 3
make_keys /tmp/key.a
peer_address() { h 1 pibctl -j show peers | jq -r '.peers[0].address' | sed -E 's/:[0-9]+$//; s/%.*]/]/' | tr -d '[]'; }
trunk_up() { h 1 pibctl -j show links | jq -e '[.. | objects | select(.up? == true)] | length == 1'; }
# From HCA 1 to the second one of host 2. The programs exchange addresses over IP.
to_second() {
	local server status
	h 2 timeout 40 ibv_rc_pingpong -d pib7 -n 100 >/tmp/server.out 2>&1 &
	server=$!
	wait_for 10 listening
	h 1 timeout 35 ibv_rc_pingpong -d "$(dev 1)" -n 100 "$(addr4 2)" >/tmp/client.out 2>&1
	status=$?
	[ $status = 0 ] || { kill $server; tail -n 3 /tmp/client.out /tmp/server.out; }
	wait $server
	return $status
}
listening() { h 2 ss -Htln | grep -q ':18515 '; }

check "two hosts with a key" eval 'pib_add 1 standalone key-file /tmp/key.a && pib_add 2 standalone key-file /tmp/key.a'
check "they meet" wait_for 60 trunk_up
check "somebody keeps what host 2 says" ip netns exec hub python3 "$here/hostile.py" capture p1 "$(peer_address)" /tmp/seen
check "a second HCA at host 2" h 2 pibctl add pib7 netdev eth0 standalone key-file /tmp/key.a
check "traffic to it" wait_for 60 to_second
ip netns exec h3 python3 "$here/hostile.py" replay eth0 /tmp/seen 600 >/tmp/replay.out 2>&1 &
replay=$!
sleep 3
check "the same while it is said again" to_second
replays() { kill -0 $replay || { cat /tmp/replay.out; return 1; }; }
check "which it was until now" replays
kill $replay
h 2 pibctl del pib7

# ---- nobody is there any more who could have said it ----

record() {
	ip netns exec hub python3 "$here/hostile.py" record p1 "$1" 16 &
	recorder=$!
	wait_for 20 test -e "$1.ready"
}
# storm FILE: by host 3, until it is killed.
storm() {
	ip netns exec h3 python3 "$here/hostile.py" storm eth0 "$1" 600 &
	storm=$!
}
received() { h 1 pibctl -j show uplinks | jq '[.. | objects | .rx_datagrams? | numbers] | add'; }
received_since() { [ "$(received)" -ge $(($1 + 2000)) ]; }
no_links() { h 1 pibctl -j show links | jq -e '[.links[] | select(.a.node == "sw0" and .address)] == []' || { h 1 pibctl -j show links; return 1; }; }

h 1 pibctl del pib0
h 2 pibctl del pib1
record /tmp/seen.meeting
check "both anew" eval 'pib_add 1 standalone key-file /tmp/key.a && pib_add 2 standalone key-file /tmp/key.a'
check "they meet" wait_for 60 trunk_up
wait $recorder
check "which somebody has recorded" jq -e 'length == 16' /tmp/seen.meeting
h 1 pibctl del pib0
h 2 pibctl del pib1
check "host 1 alone" pib_add 1 standalone key-file /tmp/key.a
before=$(received)
storm /tmp/seen.meeting
check "hears all that again, and again" wait_for 60 received_since "$before"
check "and has no link to what is not there" no_links
check "though host 2 comes meanwhile, the two meet" eval 'pib_add 2 standalone key-file /tmp/key.a && wait_for 60 trunk_up'
kill $storm
h 1 pibctl del pib0
h 2 pibctl del pib1

# ---- two that call each other ----

call() { h 1 pibctl add pib0 netdev eth0 key-file /tmp/key.a peer 10.77.0.2 && h 2 pibctl add pib1 netdev eth0 key-file /tmp/key.a peer 10.77.0.1; }
calls_up() { h 1 pibctl -j show peers | jq -e '[.peers[] | select(.up == true)] | length == 1'; }
record /tmp/seen.calls
check "two ports that call each other" eval 'call && wait_for 60 calls_up'
wait $recorder
check "are recorded, too" jq -e 'length == 16' /tmp/seen.calls
h 1 pibctl del pib0
h 2 pibctl del pib1
storm /tmp/seen.calls
check "they do so again while that is said again" call
check "and meet" wait_for 60 calls_up
kill $storm
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A keyed link's control datagrams, sent again unaltered by who has not the key: what they told when they were new
# does not become true again. They tell of one HCA at host 2, which has two by now.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap 'rm -f /tmp/key.a /tmp/seen; hosts_clean' EXIT

ktap_plan 7
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
h 3 python3 "$here/hostile.py" replay eth0 /tmp/seen 600 >/tmp/replay.out 2>&1 &
replay=$!
sleep 3
check "the same while it is said again" to_second
replays() { kill -0 $replay || { cat /tmp/replay.out; return 1; }; }
check "which it was until now" replays
kill $replay
ktap_end

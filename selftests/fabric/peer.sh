#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# docs/wire-format.md is enough to join a fabric: peer.py is written from that page and the IBA alone, in another language than pib,
# and with another library's cipher. It makes a trunk to a host, asks by SMPs who is there, and exchanges messages with a queue pair
# of a program. Every ICRC that comes is looked at.
#
#	h1 pib0 ------ h2 peer.py
#
#	vm/run --packages python3-cryptography ... fabric/peer.sh
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap 'rm -f /tmp/key.? /tmp/peer.*; hosts_clean' EXIT

ktap_plan 20
LAYOUT=netns
hosts_make 2
make_keys /tmp/key.a /tmp/key.b

counted() { h 1 pibctl -j show uplinks | jq "[.. | objects | .$1? // empty] | add // 0"; }
node_guid() { h 1 cat "/sys/class/infiniband/$(dev 1)/node_guid" | tr -d :; }
told() { jq -e "$@" /tmp/peer.told || { cat /tmp/peer.told; return 1; }; }
# meets KEY|-: a program waits on host 1 meanwhile
meets() {
	local waiting status=0
	h 1 timeout 200 ibv_rc_pingpong -d "$(dev 1)" -s 256 -n 20 >/tmp/peer.program 2>&1 &
	waiting=$!
	h 2 timeout 200 "$here/peer.py" eth0 "$(addr4 1)" "$1" 20 >/tmp/peer.told || status=1
	[ $status = 0 ] || kill $waiting
	wait $waiting || status=1
	cat /tmp/peer.program
	return $status
}
fails_with_key() { ! timeout 100 ip netns exec h2 env PIB_SLOW=0.5 "$here/peer.py" eth0 "$(addr4 1)" "$1" 1; }
active() { h 1 pibctl -j show | grep -qi '"state": *"active"'; }
# suite NAME SEALED KEY|-
suite() {
	local name=$1
	check "$name: it joins, and twenty messages go there and back" meets "$3"
	check "$name: the neighbor is a switch" told '.neighbor.type == 2'
	check "$name: behind which is the HCA" told --arg guid "$(node_guid)" '[.behind[] | select(.type == 1 and .guid == $guid)] | length == 1'
	check "$name: it has the LID that the hello told" told '.lids | length >= 1'
	check "$name: data is $2" told ".$2 > 40 and .$4 == 0"
}

check "an open fabric" pib_add 1 standalone
check "is ACTIVE" wait_for 60 active
suite open clear - sealed
dropped() { for c in rx_malformed rx_bad_icrc rx_wrong_address rx_bad_authentication rx_bad_seal rx_replayed rx_unsealed; do echo "$c $(counted $c)"; done; }
none_dropped() { dropped; ! dropped | grep -v ' 0$'; }
check "nothing of it was dropped" none_dropped
check "a keyed fabric" h 1 pibctl del "$(dev 1)"
check "with a key" pib_add 1 standalone key-file /tmp/key.a
check "is ACTIVE, too" wait_for 60 active
suite keyed sealed /tmp/key.a clear
check "nothing of that was dropped" none_dropped
check "by another key it does not join" fails_with_key /tmp/key.b
check "which is counted" [ "$(counted rx_bad_authentication)" -gt 0 ]
check "without a key it does not join" fails_with_key -
ktap_end

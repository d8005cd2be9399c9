#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Keyed fabrics seal their data: who is on the segment reads nothing, and sends nothing that counts. A reader who has the key
# and docs/wire-format.md reads all of it (sealed.py).
#
#	h1 pib0 --- bridge --- pib1 h2
#	              |
#	              h3, the outsider
#
#	vm/run --packages python3-cryptography ... fabric/sealed.sh
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap 'rm -f /tmp/key.? /tmp/sealed.*; hosts_clean' EXIT

ktap_plan 42
LAYOUT=netns
hosts_make 3
make_keys /tmp/key.a /tmp/key.b
# The bridge is to pass what a wire would carry.
for k in 1 2; do h $k ethtool -K eth0 gso off tso off gro off tx-udp-segmentation off >/dev/null 2>&1; done

trunk_up() { h "$1" pibctl -j show links | jq -e '[.. | objects | select(.up? == true)] | length == 1'; }
active() { h "$1" pibctl -j show | grep -qi '"state": *"active"'; }
counted() { h "$1" pibctl -j show uplinks | jq "[.. | objects | .$2? // empty] | add // 0"; }
opened() { jq -e "$1" /tmp/sealed.open || { cat /tmp/sealed.open; return 1; }; }
downs() { for k in 1 2; do h $k pibctl -j show counters | jq -c '[.. | objects | .link_downed? // empty]'; done; }
# The packets that the ports of hosts 1 and 2 have received.
packets() { for k in 1 2; do h $k pibctl -j show counters | jq '[.. | objects | .port_rcv_packets? // empty] | add'; done | paste -sd ' '; }
# watch NAME COMMAND...: what passes the bridge meanwhile
watch() {
	ip netns exec hub "$here/sealed.py" watch p1 "/tmp/sealed.$1" >/tmp/sealed.begun &
	local watcher=$! status
	wait_for 60 grep -q watching /tmp/sealed.begun
	"${@:2}"
	status=$?
	kill $watcher
	wait $watcher || status=1
	return $status
}
# reads NAME KEY [HOST]: what it has sent
reads() { "$here/sealed.py" open "/tmp/sealed.$1" "/tmp/key.$2" ${3:+"$(h "$3" cat /sys/class/net/eth0/address)"} >/tmp/sealed.open; }
grew() { [ "$(counted 1 "$1")" -gt "$2" ] || { counted 1 "$1"; return 1; }; }
still() { [ "$(counted "$1" "$2")" = 0 ] || { h "$1" pibctl -j show uplinks; return 1; }; }

check "host 1: add with a key" pib_add 1 standalone key-file /tmp/key.a
check "host 2: the same key" pib_add 2 standalone key-file /tmp/key.a
check "they meet" wait_for 60 trunk_up 1
check "host 1: ACTIVE" wait_for 60 active 1
check "host 2: ACTIVE" wait_for 60 active 2

check "small messages, watched" watch small pair 1 2 60 ibv_rc_pingpong -s 64 -n 200
check "the watcher has the key: it reads" reads small a
check "RC SENDs are among it" opened '."opcode 4" > 20'
check "nothing in the clear" opened '.unsealed == null'
check "nothing that the key does not open" opened '.closed == null'
check "no counter twice" opened '."counter twice" == null and ."datagram twice" == null'
check "with another key" reads small b
check "nothing is read" opened '.closed > 20 and ([keys[] | select(startswith("opcode"))] | length == 0)'
check "large messages, in segments, watched" watch large pair 1 2 60 ibv_rc_pingpong -s 16384 -m 4096 -n 20
check "the watcher has the key: it reads" reads large a
check "all of it" opened '.closed == null and .unsealed == null and ."counter twice" == null and ."datagram twice" == null and (add > 200)'
check "host 1 has taken all of it" still 1 rx_bad_seal
check "host 2 has taken all of it" still 2 rx_replayed

downs >/tmp/sealed.downs
before=$(packets)
check "the outsider sends it again: as it was, changed, in the clear" \
	sh -c "ip netns exec h3 '$here/sealed.py' attack eth0 /tmp/sealed.small 4 >/tmp/sealed.sent && jq -e '.replayed > 0 and .changed > 0 and .clear > 0' /tmp/sealed.sent"
echo "# sent: $(cat /tmp/sealed.sent)"
nothing_taken() { [ "$(packets)" = "$before" ] || { packets; echo "before: $before"; return 1; }; }
check "no port has taken a packet of it" nothing_taken
check "replays are counted" grew rx_replayed 0
check "changes are counted" grew rx_bad_seal 0
check "what is in the clear is counted" grew rx_unsealed 0
same_downs() { [ "$(downs)" = "$(cat /tmp/sealed.downs)" ]; }
check "no link went down" same_downs
check "traffic as before" pair 1 2 60 ibv_rc_pingpong
check "so much of it that the key changes" pair 1 2 300 ib_write_bw -s 65536 -n 1600 -F
check "small messages, watched" watch later pair 1 2 60 ibv_rc_pingpong -s 64 -n 200
check "the watcher has the key: it reads" reads later a
check "what a later generation seals, and all of it" \
	opened '."later generations" > 20 and ."opcode 4" > 20 and .closed == null and ."counter twice" == null'

# ---- each end speaks by another key ----

by_second_key() { h "$1" pibctl -j show peers | jq -e '[.peers[] | select(.up == true and .second_key == true)] | length == 1'; }
check "host 1 accepts another key" h 1 pibctl set "$(dev 1)" second-key-file /tmp/key.b
check "host 2, too" h 2 pibctl set "$(dev 2)" second-key-file /tmp/key.b
check "host 1 speaks by it" h 1 pibctl set "$(dev 1)" key-file /tmp/key.b
check "host 2 hears that" wait_for 60 by_second_key 2
check "host 2 speaks by the old one" wait_for 60 by_second_key 1
check "messages, watched" watch two pair 1 2 60 ibv_rc_pingpong -s 64 -n 200
check "what host 1 sends" reads two b 1
check "is sealed by the new key, and nothing else" opened '."opcode 4" > 20 and .closed == null and .unsealed == null and ."counter twice" == null'
check "what host 2 sends" reads two a 2
check "by the old one" opened '."opcode 4" > 20 and .closed == null and .unsealed == null and ."counter twice" == null'
check "with the keys the other way round" reads two a 1
check "nothing is read of host 1's" opened '.closed > 20 and ([keys[] | select(startswith("opcode"))] | length == 0)'
nothing_of_2() { reads two b 2 && opened '.closed > 20 and ([keys[] | select(startswith("opcode"))] | length == 0)'; }
check "nor of host 2's" nothing_of_2
ktap_end

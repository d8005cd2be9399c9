#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A peer speaks from another address or port. Only if it hears there, and shows that, its session follows: an address that has not
# asked for it gets no more than was said in its name.
#
# The bridge counts, where the cable of a victim begins, how much comes of what was said in the victim's name.
#
#	h1 pib0 --- bridge --- h2, whom others name
#	              |
#	              h3, who has a session with h1
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap 'rm -f /tmp/moves.*; hosts_clean' EXIT

ktap_plan 49
LAYOUT=netns
hosts_make 3
make_keys /tmp/moves.key
ip -n h3 addr add 10.77.0.33/24 dev eth0
ip -n h3 addr add fd77::33/64 dev eth0 nodad preferred_lft 0

# member ARGUMENTS...: as of mover.py, by h3; what it saw is in /tmp/moves.seen.
member() { h 3 python3 "$here/mover.py" "$1" eth0 "${@:2}" >/tmp/moves.seen; }
seen() { jq -e "$1" /tmp/moves.seen >/dev/null || { cat /tmp/moves.seen; return 1; }; }
# leads_to ADDRESS: where the peer was heard last; the session of a program that has ended may have ended, too.
leads_to() { h 1 pibctl -j show peers | jq -e --arg at "$1" '[.peers[] | select(.moves > 0) | .address] == [$at]' || { h 1 pibctl -j show peers; return 1; }; }
none_up() { h 1 pibctl -j show peers | jq -e '[.peers[] | select(.up)] == []' || { h 1 pibctl -j show peers; return 1; }; }
wrong() { h 1 pibctl -j show uplinks | jq .uplinks[0].counters.rx_wrong_address; }

# h2 counts what comes for a pib, and is silent.
watch_host() {
	h 2 nft add table inet t && h 2 nft add counter inet t got &&
		h 2 nft add chain inet t in '{ type filter hook input priority 0; }' &&
		h 2 nft add rule inet t in udp dport 18514 counter name got drop
}
got() { h 2 nft -j list counter inet t got | jq '[.nftables[].counter?.packets | numbers] | add'; }
# got_some MOST: since $before
got_some() {
	local n
	n=$(($(got) - before))
	[ "$n" -ge 1 ] && [ "$n" -le "$1" ] || { echo "$n datagrams"; return 1; }
}
# The bridge's port that leads to h2 has a queue for what is for h2's address, whoever sends it, and counts that.
watch_bridge() {
	local tc=(ip netns exec hub tc)
	"${tc[@]}" qdisc add dev p2 root handle 1: prio priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 &&
		"${tc[@]}" qdisc add dev p2 parent 1:1 handle 10: pfifo &&
		"${tc[@]}" filter add dev p2 parent 1: protocol ip u32 match ip dst 10.77.0.2/32 flowid 1:1
}
# through: bytes and packets that have left by the port to h2's address
through() { ip netns exec hub tc -s qdisc show dev p2 | sed -n '/pfifo 10:/,/Sent/s/.*Sent \([0-9]*\) bytes \([0-9]*\) pkt.*/\1 \2/p'; }
# no_more: since $through no more has left there than was said in h2's name, of anything
no_more() {
	local bytes packets
	read -r bytes packets < <(through)
	bytes=$((bytes - ${through% *})) packets=$((packets - ${through#* }))
	echo "$packets packets, $bytes bytes"
	cat /tmp/moves.seen
	[ $packets -le "$(jq .said /tmp/moves.seen)" ] && [ $bytes -le "$(jq .bytes /tmp/moves.seen)" ]
}
# and_some: h1 has said something to h2, or nothing would be shown
and_some() { [ "$(through)" != "$through" ]; }
reflected() {
	local name=$1
	shift
	through=$(through)
	check "$name: a stranger says whatever there is, 50 times, and that it is h2" member reflect 10.77.0.1 10.77.0.2 50
	check "$name: the bridge's port to h2 has no more, in packets and bytes" no_more
	"$@"
}
# fresh ARGUMENTS...: h1 has forgotten all
fresh() { h 1 pibctl del pib0 2>/dev/null; pib_add 1 "$@"; }

# all_of NAME [KEYFILE]
all_of() {
	local name=$1 before
	shift
	before=$(got)
	through=$(through)
	check "$name: who has a session says three times that it is h2 now" member forge 10.77.0.1 10.77.0.2 3 "$@"
	check "$name: the bridge's port to h2 has no more, in packets and bytes" no_more
	check "$name: the session stays where it was" seen '.home >= 2'
	check "$name: h2 gets no more than was said in its name" got_some 3
	check "$name: none of that is taken in" [ "$(wrong)" = 3 ]
	fresh "${add[@]}"
	before=$(got)
	through=$(through)
	check "$name: 200 times, and acknowledges what it has not heard" member forge 10.77.0.1 10.77.0.2 200 "$@"
	check "$name: the session stays where it was" seen '.home >= 2'
	check "$name: h2 gets far less than was said in its name" got_some 60
	check "$name: so has the bridge's port to it" no_more
	fresh "${add[@]}"
	before=$(got)
	check "$name: who ends its session, and says that it is h2 now, in the next one" member revive 10.77.0.1 10.77.0.2 "$@"
	check "$name: has no link come up there" none_up
	check "$name: h2 gets no more than was said in its name" got_some 6
	fresh "${add[@]}"
	check "$name: who goes on from another port, and is asked" member move 10.77.0.1 port 1 "$@"
	check "$name: is followed to there" seen '.asked >= 1 and .asked <= 3 and .moved >= 2'
	fresh "${add[@]}"
	check "$name: from another address" member move 10.77.0.1 10.77.0.33 1 "$@"
	check "$name: the same" seen '.asked >= 1 and .asked <= 3 and .moved >= 2'
	check "$name: the session is there now" leads_to 10.77.0.33:18514
	fresh "${add[@]}"
	check "$name: who does not answer there" member move 10.77.0.1 10.77.0.33 0 "$@"
	check "$name: is not followed" seen '.asked >= 3 and .moved == 0'
	fresh "${add[@]}"
}

check "h2 counts" watch_host
check "the bridge counts" watch_bridge
add=()
check "h1" fresh
reflected "open" check "open: some is answered" and_some
all_of "open"
check "IPv6: from another address" member move fd77::1 fd77::33 1
check "IPv6: is followed to there" seen '.asked >= 1 and .asked <= 3 and .moved >= 2'
add=(key-file /tmp/moves.key)
check "a key" fresh "${add[@]}"
reflected "keyed" true
all_of "keyed" /tmp/moves.key
ktap_end

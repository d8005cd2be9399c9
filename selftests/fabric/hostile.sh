#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An outsider floods a host of a keyed fabric: noise, hellos without the key, with another one, replayed, from
# the addresses of others. PIB_FLOOD: for how many seconds.
#
#	h1 pib0 --- bridge --- pib1 h2
#	              |
#	              h3, the outsider
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap 'rm -f /tmp/key.a /tmp/hostile.*; hosts_clean' EXIT
: "${PIB_FLOOD:=4}"

ktap_plan 16
LAYOUT=netns
hosts_make 3
head -c 32 /dev/urandom >/tmp/key.a
chmod 600 /tmp/key.a

trunk_up() { h 1 pibctl -j show links | jq -e '[.. | objects | select(.up? == true)] | length == 1'; }
counter() { jq "[.. | objects | .$2? // empty] | add // 0" "/tmp/hostile.$1"; }
grew() { [ "$(counter after "$1")" -gt "$(counter before "$1")" ]; }
# What must not change: sessions, states, how often a link went down.
state() {
	h 1 pibctl -j show peers | jq -S 'del(.. | .last_heard_ms?)'
	for k in 1 2; do
		h $k pibctl -j show | jq -S '[.. | objects | select(has("state")) | {state, lid, physical_state}]'
		h $k pibctl -j show counters | jq -S '[.. | objects | .link_downed? // empty]'
	done
}
# Every datagram that came in has a reason why it was dropped, but for the few that belong here.
accounted() {
	local sum=0 name d
	for name in rx_short rx_version rx_unknown_link rx_wrong_address rx_bad_hello rx_bad_authentication \
		rx_malformed rx_bad_icrc rx_other_fabric; do
		d=$(($(counter after $name) - $(counter before $name)))
		sum=$((sum + d))
	done
	d=$(($(counter after rx_datagrams) - $(counter before rx_datagrams)))
	echo "$d datagrams, $sum dropped with a reason"
	[ $d -gt 1000 ] && [ $sum -ge $((d - 100 - 10 * PIB_FLOOD)) ] && [ $sum -le $d ]
}

check "host 1: add" pib_add 1 standalone key-file /tmp/key.a
check "host 2: add" pib_add 2 standalone key-file /tmp/key.a
check "they meet" wait_for 60 trunk_up
check "both ACTIVE" wait_for 60 sh -c 'grep -q ACTIVE /sys/class/infiniband/pib0/ports/1/state && grep -q ACTIVE /sys/class/infiniband/pib1/ports/1/state'
check "the outsider has seen how they greet" ip netns exec hub "$here/hostile.py" capture p1 10.77.0.2,fd77::2 /tmp/hostile.seen

state >/tmp/hostile.state.before
h 1 pibctl -j show uplinks >/tmp/hostile.before
check "a flood of $PIB_FLOOD s" sh -c "ip netns exec h3 '$here/hostile.py' flood eth0 /tmp/hostile.seen $PIB_FLOOD >/tmp/hostile.sent"
echo "# sent: $(cat /tmp/hostile.sent)"
h 1 pibctl -j show uplinks >/tmp/hostile.after
state >/tmp/hostile.state.after

check "no port, no session changed its state" diff /tmp/hostile.state.before /tmp/hostile.state.after
for name in rx_short rx_version rx_unknown_link rx_wrong_address rx_bad_hello rx_bad_authentication rx_malformed; do
	check "dropped and counted: $name" grew $name
done
check "all are accounted for" accounted
check "traffic as before" pair 1 2 60 ibv_rc_pingpong
ktap_end

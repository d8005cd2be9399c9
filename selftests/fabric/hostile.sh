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
. "$here/../lib/flood.sh"
trap 'rm -f /tmp/key.a /tmp/hostile.*; hosts_clean' EXIT
: "${PIB_FLOOD:=4}"

ktap_plan 16
LAYOUT=netns
hosts_make 3
make_keys /tmp/key.a

# Where the trunk's peer was heard first: by IPv4, or at its link-local address.
peer_address() { h 1 pibctl -j show peers | jq -r '.peers[0].address' | sed -E 's/:[0-9]+$//; s/%.*]/]/' | tr -d '[]'; }
trunk_up() { h 1 pibctl -j show links | jq -e '[.. | objects | select(.up? == true)] | length == 1'; }
# The state that must not change: sessions, states, how often a link went down.
state() {
	h 1 pibctl -j show peers | jq -S 'del(.. | .last_heard_ms?)'
	for k in 1 2; do
		h $k pibctl -j show | jq -S '[.. | objects | select(has("state")) | {state, lid, physical_state}]'
		h $k pibctl -j show counters | jq -S '[.. | objects | .link_downed? // empty]'
	done
}

check "host 1: add" pib_add 1 standalone key-file /tmp/key.a
check "host 2: add" pib_add 2 standalone key-file /tmp/key.a
check "they meet" wait_for 60 trunk_up
check "both ACTIVE" wait_for 60 sh -c 'grep -q ACTIVE /sys/class/infiniband/pib0/ports/1/state && grep -q ACTIVE /sys/class/infiniband/pib1/ports/1/state'
check "the outsider has seen how they greet" ip netns exec hub "$here/hostile.py" capture p1 "$(peer_address)" /tmp/hostile.seen

state >/tmp/hostile.state.before
h 1 pibctl -j show uplinks >/tmp/hostile.before
check "a flood of $PIB_FLOOD s" sh -c "ip netns exec h3 '$here/hostile.py' flood eth0 /tmp/hostile.seen $PIB_FLOOD >/tmp/hostile.sent"
echo "# sent: $(cat /tmp/hostile.sent)"
h 1 pibctl -j show uplinks >/tmp/hostile.after
state >/tmp/hostile.state.after

unchanged() { [ -s /tmp/hostile.state.before ] && diff /tmp/hostile.state.before /tmp/hostile.state.after; }
check "no port, no session changed its state" unchanged
# Those of host 2: in a flood, which drowns some of them, each end asks 20 times a second whether the other is there
# (PIB_ASK_MS), and answers as often; then keepalives.
flood_checks $((100 + 50 * PIB_FLOOD))
check "traffic as before" pair 1 2 60 ibv_rc_pingpong
ktap_end

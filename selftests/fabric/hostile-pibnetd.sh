#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# hostile.sh against a pibnetd: an outsider floods the daemon of a keyed fabric. PIB_FLOOD: for how many seconds.
#
#	h1 pib0 --- bridge0 --- pib1 h2		each joins by "peer 10.77.0.9"
#	           |       |
#	      sw, pibnetd  h3, the outsider
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/netd.sh"
. "$here/../lib/flood.sh"
trap 'rm -f /tmp/key.a /tmp/hostile.*; netd_clean h3' EXIT
: "${PIB_FLOOD:=4}"

ktap_plan 18
netd_init
bridge bridge0
for k in 1 2 3; do cable h$k eth0 bridge0 10.77.0.$k/24; done
cable sw eth0 bridge0 10.77.0.9/24
HOSTS=2
make_keys /tmp/key.a
cp /tmp/key.a $netd/key
chown 65534 $netd/key
echo '{ "listen": ["0.0.0.0"], "threads": 2, "switches": [ { "name": "net0", "ports": 4, "key_file": "'$netd/key'" } ] }' >$netd/config.json

# The state that must not change: sessions, states, how often a link went down.
state() {
	ctl -j show peers | jq -S 'del(.. | .last_heard_ms?)'
	ctl -j show | jq -S '[.. | objects | select(has("state")) | {state, lid, physical_state}]'
	ctl -j show counters | jq -S '[.. | objects | .link_downed? // empty]'
	for k in 1 2; do port_attr $k state; done
}

netd_start
check "the daemon of a keyed fabric" netd_answers
check "host 1 joins" pib_add 1 key-file /tmp/key.a peer 10.77.0.9
check "host 2 joins" pib_add 2 key-file /tmp/key.a peer 10.77.0.9
sm_start 1
check "both ACTIVE" wait_active 60
check "the outsider has seen how they greet" ip netns exec hub "$here/hostile.py" capture h1.eth0 10.77.0.1 /tmp/hostile.seen
refuse "it has no key" "it has a KEY" h 3 sh -c 'pibping -c 2 10.77.0.9; false'

state >/tmp/hostile.state.before
ctl -j show uplinks >/tmp/hostile.before
check "a flood of $PIB_FLOOD s" sh -c "ip netns exec h3 '$here/hostile.py' flood eth0 /tmp/hostile.seen $PIB_FLOOD >/tmp/hostile.sent"
echo "# sent: $(cat /tmp/hostile.sent)"
ctl -j show uplinks >/tmp/hostile.after
state >/tmp/hostile.state.after

unchanged() { [ -s /tmp/hostile.state.before ] && diff /tmp/hostile.state.before /tmp/hostile.state.after; }
check "no port, no session changed its state" unchanged
# Those of the two hosts: in a flood, which drowns some of them, each end asks 20 times a second whether the other is
# there (PIB_ASK_MS), and answers as often; then keepalives and MADs.
flood_checks $((400 + 100 * PIB_FLOOD))
check "traffic as before" pair 1 2 60 ibv_rc_pingpong
check "and the daemon has seen no error" eval "! grep -E '^(error|warning)' $netd/log"
ktap_end

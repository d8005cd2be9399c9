#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The key of a fabric is exchanged on one host after the other, and traffic goes on. A host that is left behind is out.
#
#	h1 pib0 --- bridge0 --- pib1 h2		with OpenSM on h1; h1 and h2 change their key
#	           |       |
#	      h3 pib2     sw: pibnetd		h3 speaks by the old key; later h1 and h2 join a pibnetd by "peer"
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/programs.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/netd.sh"
. "$here/../lib/stream.sh"
trap 'stream_kill; held_kill; rm -f /tmp/key.* /tmp/held*; netd_clean h3' EXIT

ktap_plan 78
LAYOUT=netns
netd_init
bridge bridge0
for k in 1 2 3; do cable h$k eth0 bridge0 10.77.0.$k/24; done
cable sw eth0 bridge0 10.77.0.9/24
HOSTS=2
make_keys /tmp/key.old /tmp/key.new /tmp/key.third
(cat /tmp/key.new && printf '\0') >/tmp/key.padded
chmod 600 /tmp/key.padded

# set_keys K ARGUMENTS...
set_keys() { h "$1" pibctl set "$(dev "$1")" "${@:2}"; }
peers() { h "$1" pibctl -j show peers | jq -c "[.peers[]$2]"; }
# Links of host K that are up
up_links() { peers "$1" ' | select(.up == true)' | jq length; }
up_are() { [ "$(up_links "$1")" = "$2" ] || { peers "$1"; return 1; }; }
keys_of() { h "$1" pibctl -j show uplinks | jq -e ".uplinks[0].keys == $2"; }
refused() { h "$1" pibctl -j show uplinks | jq '[.. | objects | .rx_bad_authentication? // empty] | add // 0'; }
refuses_more() { [ "$(refused "$1")" -gt "$2" ]; }
# How often the link of host K's port to its peer was another session
downs() { h "$1" pibctl -j show counters | jq -c '[.counters[] | .counters.link_downed]'; }
says_of_peer() { peers "$1" '.refusal // empty' | grep -q -- "$2"; }
second_key_users() { peers "$1" ' | select(.second_key == true)' | jq length; }
users_are() { [ "$(second_key_users "$1")" = "$2" ]; }
ipoib_up() {
	local k dev
	for k in 1 2; do
		dev=$(ipoib $k)
		wait_for 20 ip link show "$dev" || return 1
		ip link set "$dev" netns h$k || return 1
		h $k ip addr add 10.78.0.$k/24 dev "$dev" && h $k ip link set "$dev" up || return 1
	done
	wait_for 60 h 1 ping -c1 -W1 10.78.0.2
}
# An RC connection of host 1 with host 2 (lib/held.c). Not to be called by check, whose subshell would keep the pid.
held_pid=
held_start() {
	/tmp/held "$(dev 1)" "$(dev 2)" /tmp/held.progress /tmp/held.stop >/tmp/held.says 2>&1 &
	held_pid=$!
}
held_kill() { [ -z "$held_pid" ] || kill "$held_pid"; } 2>/dev/null
held_count() { cat /tmp/held.progress 2>/dev/null || echo 0; }
held_at() { [ "$(held_count)" -ge "$1" ]; }
held_moves() { wait_for 120 held_at $(($(held_count) + 20)) || { cat /tmp/held.says; return 1; }; }
# After a restart: the ports are ACTIVE, and the stream and the connection move.
goes_on() { wait_active 60 && stream_moves 90 && held_moves; }

# ---- by discovery ----

check "host 1: the old key" pib_add 1 key-file /tmp/key.old
check "host 2: the old key" pib_add 2 key-file /tmp/key.old
check "they meet" wait_for 60 up_are 1 1
check "an uplink has one key" keys_of 1 1
sm_start 1
check "both ACTIVE" wait_active 60
check "IPoIB between them" ipoib_up
stream_start 1 2 10.78.0.2
check "a stream that goes on from here to the end" stream_moves
check "held compiles" program held /tmp/held
held_start
check "an RC connection that does as well" held_moves

before=$(downs 1; downs 2)
check "step 1, host 1 accepts the new key" set_keys 1 second-key-file /tmp/key.new
check "the stream moves" stream_moves
check "step 1, host 2" set_keys 2 second-key-file /tmp/key.new
check "both ACTIVE, and the stream moves" goes_on
same_downs() { [ "$(downs 1; downs 2)" = "$before" ] || { downs 1; downs 2; return 1; }; }
check "no link went down for that" same_downs
check "an uplink has two keys" keys_of 1 2
no_bytes() {
	local all
	if ! all=$(h 1 pibctl -jp show && h 1 pibctl -jp show uplinks) || ! grep -q '"keys": 2' <<<"$all"; then
		echo "no word of keys: $all"
		return 1
	fi
	! grep -Eqi '"(second_)?key"' <<<"$all" && ! grep -q "$(od -An -tx1 -N4 /tmp/key.new | tr -d ' ')" <<<"$all"
}
check "of which nothing is shown" no_bytes

check "step 2, host 1 has the new key" set_keys 1 key-file /tmp/key.new
refuse "step 3 at once is refused, whether or not the link is up again" "uses the key that would go" set_keys 1 no-second-key
restarted() { [ "$(downs 1)" != "$(head -n 1 <<<"$before")" ]; }
check "its link begins a new session" wait_for 60 restarted
check "and is up again" wait_for 60 up_are 1 1
check "host 1 sees that host 2 speaks by its second key" wait_for 60 users_are 1 1
check "host 2 sees the same of host 1" wait_for 60 users_are 2 1
check "both ACTIVE, and the stream moves" goes_on
refuse "host 1 does not drop the key by which host 2 speaks" "uses the key that would go" set_keys 1 no-second-key
check "its link did not suffer" up_are 1 1
check "step 2, host 2, by both names" set_keys 2 key-file /tmp/key.new second-key-file /tmp/key.old
check "both ACTIVE, and the stream moves" goes_on
check "nobody speaks by a second key" wait_for 60 users_are 1 0
# Which sessions there are, and how many there were before
sessions() { peers "$1" ' | select(.up == true) | [.peer_node_guid, .restarts]'; }
before=$(sessions 1; sessions 2)

# Each end has sealed by its own key of each moment, and was understood.
all_opened() {
	for k in 1 2; do h $k pibctl -j show uplinks; done | jq -se '[.. | objects | .rx_bad_seal? | numbers] | length == 2 and add == 0' ||
		{ for k in 1 2; do h $k pibctl show uplinks; done; return 1; }
}
check "no seal was wrong meanwhile" all_opened

check "host 3 comes with the old key alone" h 3 pibctl add pib2 netdev eth0 key-file /tmp/key.old
refused_3=$(refused 3)
check "host 3 does not know the others' key" wait_for 60 refuses_more 3 "$refused_3"
check "it has met nobody" up_are 3 0
h 3 pibctl del pib2
check "host 3 asks host 1 by name" h 3 pibctl add pib2 netdev eth0 key-file /tmp/key.old peer 10.77.0.1
check "its user sees why there is no link" wait_for 60 says_of_peer 3 "the fabric's key is another one"
check "host 1's user sees that, too" wait_for 60 says_of_peer 1 "does not know this host's key"
check "there is no session by a second key for that" users_are 1 0
h 3 pibctl del pib2

check "host 3 speaks by the old key, and understands the new one" h 3 pibctl add pib2 netdev eth0 key-file /tmp/key.old second-key-file /tmp/key.new
check "it meets both" wait_for 60 up_are 3 2
check "host 1 sees by which key" wait_for 60 users_are 1 1
refuse "host 1 does not drop the old key" "by force" set_keys 1 no-second-key
refuse "nor put another one in its place" "by force" set_keys 1 second-key-file /tmp/key.third
check "host 3's link did not suffer" up_are 1 2
refused_1=$(refused 1)
check "step 3, host 1 drops the old key by force" set_keys 1 no-second-key force
check "host 3's link goes down" wait_for 60 up_are 1 1
check "at host 3, too" wait_for 60 up_are 3 1
check "host 3 is refused" wait_for 60 refuses_more 1 "$refused_1"
refused_1=$(refused 1)
check "again and again" wait_for 60 refuses_more 1 $((refused_1 + 3))
check "its link stays down" up_are 1 1
check "an uplink has one key" keys_of 1 1
h 3 pibctl del pib2
check "step 3, host 2, where nobody speaks by the old key any more" set_keys 2 no-second-key
check "both ACTIVE, and the stream moves" goes_on
same_sessions() { [ "$(sessions 1; sessions 2)" = "$before" ] || { sessions 1; sessions 2; echo "before: $before"; return 1; }; }
check "the sessions of hosts 1 and 2 are the same" same_sessions
h 3 pibctl add pib2 netdev eth0 key-file /tmp/key.old peer 10.77.0.1
check "host 3, with the old key alone, is refused now" wait_for 60 refuses_more 1 "$(refused 1)"
check "host 3 has met nobody" up_are 3 0
check "a third key" eval 'h 3 pibctl del pib2 && h 3 pibctl add pib2 netdev eth0 key-file /tmp/key.third'
check "is refused as well" wait_for 60 refuses_more 1 "$(refused 1)"
check "and meets nobody" up_are 3 0
h 3 pibctl del pib2
check "the new key" h 3 pibctl add pib2 netdev eth0 key-file /tmp/key.new
check "meets both" wait_for 60 up_are 3 2
check "what the stream sent has come" stream_whole
touch /tmp/held.stop
held_ended() { wait "$held_pid" || { cat /tmp/held.says; return 1; }; }
if held_ended; then ok "the RC connection has lost nothing"; else nok "the RC connection has lost nothing"; fi
held_pid=

# ---- what is refused ----

refuse "a key that was not the second one" "all hosts must have" set_keys 1 key-file /tmp/key.old
refuse "the key as the second one" "is the fabric's key already" set_keys 1 second-key-file /tmp/key.new
refuse "the same with a zero behind it, which is nothing to HMAC" "is the fabric's key already" set_keys 1 second-key-file /tmp/key.padded
refuse "force alone" "nothing is to change" set_keys 1 force
refuse "no HCA" "no such HCA|no HCA" h 1 pibctl set pib9 no-second-key
refuse "a user who is not root" "denied|permi|CAP_NET_ADMIN" ip netns exec h1 setpriv --reuid 65534 --regid 65534 --clear-groups pibctl set pib0 no-second-key
check "the key that there is changes nothing" set_keys 1 key-file /tmp/key.new
h 3 pibctl del pib2
sm_end h 1
for k in 1 2; do h $k pibctl del "$(dev $k)"; done

# ---- through a pibnetd ----

netd_keys() {
	cp "/tmp/key.$1" $netd/key
	cp "/tmp/key.${2:-$1}" $netd/second
	chown 65534 $netd/key $netd/second
	echo '{ "listen": ["0.0.0.0"], "switches": [ { "name": "net0", "ports": 4, "key_file": "'$netd/key'"'"${2:+, \"second_key_file\": \"$netd/second\"}"' } ] }' >$netd/config.json
}
reload() { kill -HUP "$netd_pid"; wait_for 20 netd_log_has "$1"; }
netd_log_has() { [ "$(grep -c "$1" $netd/log)" -ge "${2:-1}" ]; }
# The ports may be about to go down.
traffic() { wait_for 90 pair 1 2 20 ibv_rc_pingpong -n 100 && wait_active 60; }
netd_keys old
netd_start
check "a daemon with the old key" netd_answers
for k in 1 2; do pib_add $k key-file /tmp/key.old peer 10.77.0.9; done
sm_start 1
check "both ACTIVE" wait_active 60
for k in 1 2; do set_keys $k second-key-file /tmp/key.new; done
netd_keys new old
check "a daemon that leaves step 1 out says so" reload "not its second key before"
netd_keys old new
check "step 1, the daemon" reload "keys changed"
netd_keys new old
kill -HUP "$netd_pid"
check "step 2, the daemon" wait_for 20 netd_log_has "keys changed" 2
check "traffic" traffic
for k in 1 2; do set_keys $k key-file /tmp/key.new; done
check "step 2, the hosts: traffic" traffic
netd_keys new
kill -HUP "$netd_pid"
check "step 3, the daemon" wait_for 20 netd_log_has "keys changed" 3
for k in 1 2; do set_keys $k no-second-key; done
check "step 3, the hosts: traffic" traffic
h 2 pibctl del "$(dev 2)"
pib_add 2 key-file /tmp/key.old peer 10.77.0.9
check "who comes with the old key is told" wait_for 60 says_of_peer 2 "the fabric's key is another one"
ktap_end

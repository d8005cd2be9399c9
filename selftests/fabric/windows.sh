#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Virtual lanes over UDP: many flows of SL 0 go to a host to which a slow way leads, and one of SL 1. Without windows, as by default, SL 1 gets
# what one flow among many gets. With windows at both ends each VL has half of the way. Turned on and off while the links are up,
# keyed, and by pibnetd. A VL that is closed keeps nobody's memory, and no datagram for long.
#
#	h1 eth0 --+-------+-- eth0 h2		the bridge lets 40 Mbit/s through to h2
#	   pib0   | net0  |      pib1, SM
#	h3 eth0 --+       |			h3 calls h2, by whose host switch h1's data passes
#	   pib2   +-------+-- eth0 sw		sw: pibnetd
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/netd.sh"
. "$here/../lib/programs.sh"
trap 'pkill -x windowed; rm -rf /tmp/windows; netd_clean h3' EXIT

HOSTS=2
LAYOUT=netns
MANY=16
MBIT=40
net_make() {
	mkdir -p /tmp/windows
	netd_init
	bridge net0
	cable h1 eth0 net0 10.77.0.1/24
	cable h2 eth0 net0 10.77.0.2/24
	cable h3 eth0 net0 10.77.0.3/24
	cable sw eth0 net0 10.77.0.9/24
	ip netns exec h1 ping -c 1 -W 5 10.77.0.2 && ip netns exec h1 ping -c 1 -W 5 10.77.0.9
}
slow() { ip netns exec hub tc qdisc replace dev h2.eth0 root netem rate ${MBIT}mbit limit 200; }
fast() { ip netns exec hub tc qdisc del dev h2.eth0 root; }
dropped() { ip netns exec hub tc -s qdisc show dev h2.eth0 | sed -n 's/.*dropped \([0-9]*\),.*/\1/p'; }

cat >/tmp/windows.conf <<-END
	qos TRUE
	qos_max_vls 8
	qos_high_limit 0
	qos_vlarb_high 0:0
	qos_vlarb_low 0:16,1:16,2:16,3:16,4:16,5:16,6:16,7:16
	qos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7
END

daemon_counter() { ctl -j show uplinks | jq ".uplinks[0].counters.$1"; }
# link_windows H, daemon_windows: whether the VLs of the links that are up have windows
shown='[.links[] | select(.up == true) | .windows] | unique | map(tostring) | join(" ")'
link_windows() { h "$1" pibctl -j show links | jq -r "$shown"; }
daemon_windows() { ctl -j show links | jq -r "$shown"; }
link_has() { same "$(link_windows "$1")" "$2"; }
# vl_waits: VL 0 of h1 has its window full, and waits
vl_waits() {
	h 1 pibctl -j show links | jq -e '.links[] | select(.up == true) | .vls[] | select(.vl == 0)
		| .waits and .on_way >= .window and .window > 0'
}
text_waits() { h 1 pibctl show links | grep -E 'vl 0 .*waits'; }
lid() { printf %d "$(port_attr 2 lid)"; }
# taken SL, both_taken: bytes of the SL, and of SL 0 and SL 1 by one query, that have come to pib1
taken() { echo $((4 * $(timeout 20 perfquery -C pib1 --rcvsl "$(lid)" 1 | sed -n "s/^.*SL$1:\.*//p" | head -n 1))); }

both_taken() {
	timeout 20 perfquery -C pib1 --rcvsl "$(lid)" 1 | sed -n 's/^.*SL[01]:\.*//p' | head -n 2 |
		{ read -r a && read -r b && echo "$((4 * a)) $((4 * b))"; }
}

# Their exit status goes into a file: it is looked at in subshells.
flows() {
	rm -f /tmp/windows/status
	{ /tmp/windows/windowed -n 1000000 "$@" >/tmp/windows/out 2>&1; echo $? >/tmp/windows/status; } 2>/dev/null &
}
flows_over() { [ -s /tmp/windows/status ]; }
flows_stop() { pkill -x windowed; wait_for 20 flows_over; }
grown() {
	flows_over && { cat /tmp/windows/out; return 1; }
	[ $(($(taken "$1") - $2)) -ge "$3" ]
}
many() { for ((i = 0; i < MANY; i++)); do echo -n "pib0:pib1:0 "; done; }
both() {
	# shellcheck disable=SC2046 # words
	flows $(many) pib0:pib1:1
}

# for_ms N: bytes that get through in that time
for_ms() { echo $((MBIT * 125 * $1)); }
# measure: how much of both SLs comes in, while of SL 0 there is what gets through in 1.6 s
measure() {
	local from0 from1 to0 to1
	read -r from0 from1 < <(both_taken) && wait_for 60 grown 0 "$from0" "$(for_ms 1600)" && read -r to0 to1 < <(both_taken) || return 1
	B0=$((to0 - from0)) B1=$((to1 - from1))
	echo "SL 0: $B0, SL 1: $B1"
}
# not by check, whose subshell would keep the results
measured() { measure >/tmp/windows/measured 2>&1 || B0=0 B1=0; sed 's/^/# /' /tmp/windows/measured; }
# Neither has more than twice of what the other one has.
fair() { echo "SL 0: $B0, SL 1: $B1"; [ "$B0" -gt 0 ] && [ $((2 * B1)) -ge "$B0" ] && [ $((2 * B0)) -ge "$B1" ]; }
starved() { echo "SL 0: $B0, SL 1: $B1"; [ "$B0" -gt 0 ] && [ $((4 * B1)) -le "$B0" ]; }
# The way is busy all the time.
all_of_it() {
	local from began=${EPOCHREALTIME/./} span
	from=$(taken 0)
	wait_for 60 grown 0 "$from" "$(for_ms 3000)" || return 1
	span=$((${EPOCHREALTIME/./} - began))
	echo "$(($(taken 0) - from)) bytes in $span us"
	[ $((($(taken 0) - from) * 1000 / (span / 1000))) -ge "$(for_ms 800)" ]
}
management() {
	local began=$SECONDS
	for _ in 1 2 3 4 5; do timeout 20 smpquery -C pib1 nodeinfo "$(printf %d "$(port_attr 1 lid)")" >/dev/null || return 1; done
	echo "$((SECONDS - began)) s"
	[ $((SECONDS - began)) -le $((5 * ${PIB_SLOW:-1})) ]
}

begin() {
	local name=$1 peers=$2
	shift 2
	check "$name: pib1" pib_add 2 "${@:2}" ${peers:+peer "$peers"}
	check "$name: pib0" pib_add 1 "${@:2}" peer "$1"
	check "$name: a subnet manager" sm_start 2 -Q -F /tmp/windows.conf
	check "$name: ACTIVE" wait_active 60
	check "$name: the way becomes slow" slow
}
end() {
	local name=$1
	flows_stop
	check "$name: the way becomes fast" fast
	sm_end h 2
	check "$name: deleted" eval 'h 1 pibctl del pib0 && h 2 pibctl del pib1'
}

# shares NAME: with windows
shares() {
	local name=$1 lost
	both
	check "$name: both have begun" wait_for 60 grown 1 "$(taken 1)" 500000
	lost=$(dropped)
	measured
	check "$name: each has half of the way" fair
	check "$name: management gets through" management
	check "$name: nothing was lost" same "$(dropped)" "$lost"
	flows_stop
	# shellcheck disable=SC2046 # words
	flows $(many)
	check "$name: SL 0 alone has begun" wait_for 60 grown 0 "$(taken 0)" "$(for_ms 1600)"
	check "$name: and has all of it" all_of_it
	flows_stop
	check "$name: the links are up" wait_active 1
}
# starves NAME: without
starves() {
	local name=$1
	both
	check "$name: SL 0 has begun" wait_for 60 grown 0 "$(taken 0)" 500000
	measured
	check "$name: SL 1 gets what many leave to one" starved
	check "$name: nothing waits" same "$(credits_of)" "$2"
	flows_stop
}
credits_of() { echo "$(uplink_counter 1 tx_waits) $(uplink_counter 1 rx_bad_credits) $(uplink_counter 2 rx_bad_credits)"; }
# none_bad NUMBERS: of both ends. If there were some, whether a link had begun again, and what else came wrong
none_bad() { same "$1" "0 0" || { h 2 pibctl -j show peers | jq -c '.peers[] | {address, up, restarts}'; h 2 pibctl show uplinks; return 1; }; }
# settled: no CREDIT is counted any more. h2 ceases to send them when it hears of h1, whose keepalives stand behind what the many had sent.
settled() {
	local before
	before=$(credits_of)
	sleep 1
	[ "$before" = "$(credits_of)" ]
}
has_waited() { no_less "$(uplink_counter 1 tx_waits)" "$1"; }

# hold DEV: data of VLs 0 to 7 and CREDITs stay on the way by that port of the bridge; all else goes on, keepalives and subnet
# management above all. Sealed data does not say its VL, so of a keyed link subnet management stays, too: OpenSM finds h1 again.
hold() {
	local to=(ip netns exec hub tc filter add dev "$1" parent 1: protocol ip u32)
	ip netns exec hub tc qdisc replace dev "$1" root handle 1: prio priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 &&
		ip netns exec hub tc qdisc add dev "$1" parent 1:3 handle 30: netem delay 600s limit 100000 &&
		"${to[@]}" match u8 0x20 0xff at 28 match u8 0 0x80 at 36 flowid 1:3 &&
		"${to[@]}" match u8 0x25 0xff at 28 flowid 1:3 && "${to[@]}" match u8 0x26 0xff at 28 flowid 1:3
}
# just_closed TIMES: the VL has just been closed so many times. The third time, and each one after it, it stays so for four
# seconds, for the peer does not answer.
just_closed() {
	local from
	from=$(uplink_counter 1 tx_waits)
	wait_for 40 has_waited $((from + $1))
}
datagram() {
	local from
	from=$(uplink_counter 1 tx_overdrawn)
	pair 2 1 5 ibv_ud_pingpong -n 1
	no_less "$(uplink_counter 1 tx_overdrawn)" $((from + 1))
}
# killed, deregistered: long before the end of the four seconds for which the VL is closed
killed() {
	local began=${EPOCHREALTIME/./}
	flows_over && { cat /tmp/windows/out; return 1; }
	pkill -KILL -x windowed
	wait_for 20 flows_over || return 1
	echo "$((${EPOCHREALTIME/./} - began)) us"
	[ $((${EPOCHREALTIME/./} - began)) -le 3000000 ]
}
deregistered() {
	local ms
	pkill -USR1 -x windowed
	wait_for 20 flows_over || return 1
	cat /tmp/windows/out
	ms=$(sed -n 's/^deregistered after \([0-9]*\) ms$/\1/p' /tmp/windows/out)
	[ "${ms:-10000}" -le 2500 ]
}
# stands NAME: with windows, while the way stands still
stands() {
	local name=$1
	# shellcheck disable=SC2046 # words
	flows $(many)
	check "$name: SL 0 has begun" wait_for 60 grown 0 "$(taken 0)" 500000
	check "$name: the way stands still" hold h2.eth0
	check "$name: the VL is closed, again and again" just_closed 3
	check "$name: that is shown" vl_waits
	check "$name: and in text" text_waits
	check "$name: a datagram is not kept" datagram
	check "$name: the VL is closed" just_closed 1
	check "$name: who is killed is gone" killed
	# shellcheck disable=SC2046 # words
	flows $(many)
	check "$name: the VL is closed for the next one" just_closed 2
	check "$name: memory is deregistered" deregistered
	check "$name: the links are up" wait_active 1
	check "$name: the way is as before" slow
	both
	check "$name: both go on" wait_for 60 grown 1 "$(taken 1)" 500000
	flows_stop
}

# vl_to_h3 FILTER: of VL 0 from the host switch of h2 to h3
vl_to_h3() {
	h 2 pibctl -j show links |
		jq -er "[.links[] | select(.address // \"\" | startswith(\"10.77.0.3:\")) | .vls[] | select(.vl == 0)][0] | $1"
}
# on_way: bytes that are on their way, and whether its window is closed
on_way() { vl_to_h3 '"\(.on_way) \(.waits)"'; }
# While it was unbounded more was on its way than may be, of which the network has dropped some.
is_bounded() { vl_to_h3 ".unbounded == false and .on_way < $((MOST / 2))"; }
# Data that passes a switch cannot be held back. The bytes that h3 has not taken in grow to 8 MiB, and a super-packet more, and
# then the switch drops.
MOST=$((8 << 20)) SUPER=$((80 << 10))
# follow COUNT: what is on its way until the switch has dropped, with COUNT dropped before, into $most and $closed. Before the
# first of it leaves the VL is not shown.
follow() {
	local b w late=0 end=$((SECONDS + 90))
	most=0 closed=false
	while [ $late -lt 5 ] && [ $SECONDS -lt $end ]; do
		read -r b w < <(on_way)
		[[ $b =~ ^[0-9]+$ ]] || b=0
		[ "$b" -le "$most" ] || most=$b
		[ "$w" != true ] || closed=true
		! overdrawn "$1" || late=$((late + 1))
	done
	echo "# $most bytes at most"
}
overdrawn() { [ "$(uplink_counter 2 tx_overdrawn)" -gt "$1" ]; }
# passes: h1's data goes to h3 by the host switch of h2
passes() {
	local before i
	HOSTS=3
	check "passing: a subnet manager's host" pib_add 2 windows on
	check "passing: pib0 and pib2 call it" eval 'pib_add 1 peer 10.77.0.2 windows on && pib_add 3 peer 10.77.0.2 windows on'
	# Management that waits for no window has h3 tell something, too, if it comes.
	check "passing: the way to h3 stands still from the beginning" hold h3.eth0
	check "passing: a subnet manager" sm_start 2 -Q -F /tmp/windows.conf
	check "passing: ACTIVE" wait_active 60
	check "passing: all links have windows" eval 'link_has 1 true && link_has 2 true && link_has 3 true'
	# shellcheck disable=SC2046 # words
	flows $(for ((i = 0; i < MANY; i++)); do echo -n "pib0:pib2:0 "; done)
	check "passing: who was never heard holds nothing up, and that is shown" wait_for 60 vl_to_h3 ".unbounded == true"
	check "passing: the way is free" ip netns exec hub tc qdisc del dev h3.eth0 root
	check "passing: h3 is heard" wait_for 60 is_bounded
	before=$(uplink_counter 2 tx_overdrawn)
	check "passing: the way to h3 stands still" hold h3.eth0
	follow "$before"
	check "passing: 8 MiB are on their way" test "$most $closed" = "$((most < MOST ? MOST : most)) true"
	check "passing: more is dropped" overdrawn "$before"
	check "passing: and never were more" test "$most" -le $((MOST + SUPER))
	check "passing: the links are up" wait_active 1
	flows_stop
	check "passing: the way is free" ip netns exec hub tc qdisc del dev h3.eth0 root
	check "passing: and still are" wait_active 60
	check "passing: data passes" wait_for 60 pair 3 1 30 ibv_uc_pingpong
	sm_end h 2
	check "passing: deleted" eval 'h 1 pibctl del pib0 && h 3 pibctl del pib2 && h 2 pibctl del pib1'
	HOSTS=2
}

ktap_plan 107
modprobe -a sch_netem
check "three hosts" net_make
check "the program" program flows /tmp/windows/windowed
make_keys /tmp/windows/key

# By default there are none, nor are there if one end alone has them.
begin open "" 10.77.0.2
check "open: there are none" uplink_has 1 "windows == false"
check "open: the link says so" link_has 1 false
starves off "0 0 0"
check "one end: h1 has them" h 1 pibctl set pib0 windows on
check "one end: it says so" uplink_has 1 "windows == true"
starves "one end" "0 0 0"
check "one end: the link has none" link_has 1 false
check "on: h2 has them" h 2 pibctl set pib1 windows on
both
check "on: VLs wait" wait_for 30 has_waited 1
check "on: both links say so" eval 'wait_for 20 link_has 1 true && wait_for 20 link_has 2 true' # h2's begins again
flows_stop
shares on
stands still
check "off again: h2 has none" h 2 pibctl set pib1 windows off
both
sleep 1.2 # two keepalives
flows_stop
check "off again: no credits come" wait_for 20 settled
check "off again: the link has none" link_has 1 false
starves "off again" "$(credits_of)"
end open

# The way that is to be shared may be faster than a cipher without KVM, so no shares are looked at.
begin keyed "" 10.77.0.2 key-file /tmp/windows/key windows on
stands keyed
check "keyed: VLs have waited" no_less "$(uplink_counter 1 tx_waits)" 1
check "keyed: no credits were bad" none_bad "$(uplink_counter 1 rx_bad_credits) $(uplink_counter 2 rx_bad_credits)"
end keyed

passes

# Its sockets as large as a service's.
sysctl -qw net.core.wmem_max=8388608 net.core.rmem_max=8388608
echo '{ "listen": ["0.0.0.0"], "windows": true, "switches": [ { "name": "net0", "ports": 4 } ] }' >$netd/config.json
netd_start
check "pibnetd: it runs" netd_answers
begin pibnetd 10.77.0.9 10.77.0.9 windows on
shares pibnetd
check "pibnetd: it shows windows" same "$(daemon_windows)" true
check "pibnetd: VLs have waited" no_less "$(daemon_counter tx_waits)" 1
check "pibnetd: no credits were bad" none_bad "$(daemon_counter rx_bad_credits) $(uplink_counter 2 rx_bad_credits)"
end pibnetd
netd_stop
netd_pid=
ktap_end

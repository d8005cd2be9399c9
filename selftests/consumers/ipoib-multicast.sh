#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Multicast over IPoIB: what IGMP and MLD ask for become groups of the subnet manager, and go with their last member. Host 2
# joins; hosts 1 and 3 do not, but send.
#
#	h1, SM --- h2
#	     \    /
#	      h3
set -u
here=$(dirname "$0")
. "$here/lib.sh"
member=''
clean() {
	kill "$member" 2>/dev/null
	hosts_clean
}
trap clean EXIT
LAYOUT=netns
multicast="IPoIB, multicast (ib_ipoib)"

ktap_plan 47
hosts_make 3
for k in 1 2 3; do check "host $k: pibctl add" pib_add $k; done
sm_start 1
check "subnet up, three ports ACTIVE" wait_active 60
check "IPoIB, IPv4" ipoib_up
check "IPoIB, IPv6" ipoib_up6

# ---- what the SA knows: MCMemberRecords, asked for by who is trusted ----

records() { h 1 saquery -C pib0 --smkey 1 MCMR; }
compressed() { python3 -c 'import ipaddress, sys; print(ipaddress.ip_address(sys.argv[1]))' "$1"; }
GID=()
for k in 1 2 3; do GID[k]=$(compressed "$(port_attr $k gids/0)"); done
# join_state K MGID: of host K's port, 1 a full member, 8 a full member that only sends; nothing if it is none
join_state() {
	records | sed -n 's/^[^A-Za-z]*\([A-Za-z]*\)\.\.*/\1 /p' | awk -v mgid="$2" -v gid="${GID[$1]}" '
		$1 == "MGID" { m = $2 } $1 == "PortGid" { g = $2 }
		$1 == "JoinState" && m == mgid && g == gid { sub("0x", "", $2); print $2 }'
}
state_is() { [ "$(join_state "$1" "$2")" = "$3" ]; }
# sa_has K MGID STATE: in time
sa_has() { wait_for 30 state_is "$@" || { echo "JoinState is '$(join_state "$1" "$2")'"; records; return 1; }; }
known() { records | grep -q "MGID.*[.]$1\$"; }
unknown() { local all; all=$(records) && ! grep -q "MGID.*[.]$1\$" <<<"$all"; }

# ---- datagrams ----

# eye K in|out FILTER: what passes host K's interface, in /tmp/eye.K, until eye_end; not to be called by check
EYE=()
eye() {
	local k=$1
	shift
	ip netns exec "h$k" tcpdump -i "$(ipoib "$k")" -Q "$1" -l -n -v -A "${@:2}" >"/tmp/eye.$k" 2>"/tmp/eye.$k.err" & EYE[k]=$!
	wait_for 20 grep -q 'listening on' "/tmp/eye.$k.err"
}
eye_end() { kill "${EYE[$1]}"; wait "${EYE[$1]}"; } 2>/dev/null
saw() { grep -aq -- "$2" "/tmp/eye.$1"; }
# enter K GROUP; not to be called by check
enter() {
	ip netns exec "h$1" python3 "$here/mcast.py" join "$2" "$(ipoib "$1")" >/tmp/member 2>&1 & member=$!
	wait_for 20 grep -q joined /tmp/member
}
leave() { kill $member; wait $member; member=''; } 2>/dev/null
say() { h "$1" python3 "$here/mcast.py" send "$2" "$(ipoib "$1")" "$3"; }
got() { grep -qx "$1" /tmp/member; }
said_and_got() { say "$@" && wait_for 1 got "$3"; }
# reaches_member FROM GROUP TEXT: the first datagrams may be lost, until the switches know the group
reaches_member() { wait_for 30 said_and_got "$@" || { cat /tmp/member; return 1; }; }
# unicast FROM K TEXT: comes behind what was sent before
unicast() { h "$1" bash -c "printf %s '$3' >/dev/udp/$(ib_addr "$2")/7200"; }
marked() { unicast "$@" && saw "$2" "$3"; }
# got_nothing FROM K TEXT: a datagram to host K alone has come, and none with TEXT
got_nothing() {
	wait_for 20 marked "$1" "$2" "mark-$3" || { cat "/tmp/eye.$2"; return 1; }
	! grep -a "group-$3" "/tmp/eye.$2"
}

# group NAME GROUP MGID REPORT: REPORT is how tcpdump shows that a host has asked for the group
group() {
	local name=$1 group=$2 mgid=$3 report=$4
	check "$name: the SA knows no such group" unknown "$mgid"
	eye 2 out 'igmp or ip6'
	enter 2 "$group"
	check "$name: the report is on the wire" wait_for 20 saw 2 "$report"
	shown "$multicast" kernel "$name: a join makes the group in OpenSM" sa_has 2 "$mgid" 1
	eye_end 2
	eye 3 in 'udp port 7200'
	shown "$multicast" kernel "$name: what host 1 sends comes to the member" reaches_member 1 "$group" "group-$name-1"
	check "$name: host 1 has joined to send only" sa_has 1 "$mgid" 8
	shown "$multicast" kernel "$name: who has not joined gets nothing" got_nothing 1 3 "$name-1"
	check "$name: what host 3 sends comes, too" reaches_member 3 "$group" "group-$name-3"
	check "$name: host 3 has joined to send only" sa_has 3 "$mgid" 8
	check "$name: host 1 sends again" reaches_member 1 "$group" "again-group-$name-2"
	shown "$multicast" kernel "$name: who has joined to send only gets nothing" got_nothing 1 3 "$name-2"
	eye_end 3
	leave
	check "$name: the member leaves, and is none in OpenSM" sa_has 2 "$mgid" ""
	enter 3 "$group"
	check "$name: who only sent joins, and is a full member" sa_has 3 "$mgid" 1
	check "$name: and gets what host 1 sends" reaches_member 1 "$group" "group-$name-3a"
	leave
	check "$name: and leaves" sa_has 3 "$mgid" ""
	check "$name: the group is there while host 1 sends to it" known "$mgid"
	check "$name: host 1 goes down and comes up" again_up 1
	shown "$multicast" kernel "$name: the group goes with the last who was in it" wait_for 30 unknown "$mgid"
	check "$name: host 1 is there again" wait_for 30 h 1 ping -c1 -W1 "$(ib_addr 2)"
}
again_up() { h "$1" ip link set "$(ipoib "$1")" down && h "$1" ip link set "$(ipoib "$1")" up; }

group IPv4 239.1.2.3 ff12:401b:ffff::f01:203 'gaddr 239.1.2.3 '
group IPv6 ff15::77 ff12:601b:ffff::77 'gaddr ff15::77 '

# ---- groups that are always there ----

h 1 ip addr replace "$(ib_addr6 1)/64" dev "$(ipoib 1)" nodad
# both_answer ADDRESS: who else is there
both_answer() {
	h 1 ping -b -c 3 -W 2 "$1" >/tmp/answers 2>&1
	sed -n 's/.*bytes from \([^ ]*[^ :]\):* .*/\1/p' /tmp/answers | sort -u >/tmp/answered
	[ "$(grep -cvxF "$2" /tmp/answered)" = 2 ] || { cat /tmp/answers; return 1; }
}
for k in 2 3; do h $k sysctl -qw net.ipv4.icmp_echo_ignore_broadcasts=0; done
own=$(h 1 ip -o -6 addr show dev "$(ipoib 1)" scope link | sed 's/.*inet6 \([^/]*\).*/\1/')
for k in 1 2 3; do check "host $k is a member of the broadcast group" sa_has $k ff12:401b:ffff::ffff:ffff 1; done
check "broadcast: both others answer" both_answer 10.78.0.255 "$(ib_addr 1)"
check "ff02::1: both others answer" both_answer "ff02::1%$(ipoib 1)" "$own%$(ipoib 1)"
ktap_end

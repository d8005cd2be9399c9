#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A stranger in a fabric without a key: whom it reaches, what it is answered, and who gets a port by "accept".
#
#	h1 pib0 --- bridge --- pib1 h2
#	              |
#	              h3, the stranger, who writes its hop limit itself
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap 'rm -f /tmp/stranger.*; hosts_clean' EXIT

ktap_plan 76
LAYOUT=netns
hosts_make 3

# greet ARGUMENTS...: as of strangers.py, by h3; what came in return is in /tmp/stranger.seen.
greet() { h 3 python3 "$here/strangers.py" greet eth0 "$@" >/tmp/stranger.seen; }
seen() { jq -e "$1" /tmp/stranger.seen >/dev/null || { cat /tmp/stranger.seen; return 1; }; }
# counted_as NAME: what the uplinks of host 1 have counted so
counted_as() { h 1 pibctl -j show uplinks | jq "[.. | objects | .$1? | numbers] | add // 0"; }
strangers() { counted_as rx_stranger; }
# grew NAME FROM BY
grew() { [ "$(counted_as "$1")" = $(($2 + $3)) ] || { echo "$1: $2, then $(counted_as "$1")"; return 1; }; }
links() { h 1 pibctl -j show links | jq '[.links[] | select(.a.node == "sw0" and .address)] | length'; }
links_are() { [ "$(links)" = "$1" ] || { h 1 pibctl -j show links; return 1; }; }
meets() { h 1 pibctl -j show peers | jq -e '[.peers[] | select(.up == true)] | length == 1'; }
accepts() { h 1 pibctl -j show uplinks | jq -e ".uplinks[0].accept == \"$1\""; }
# refused HOPLIMIT: a host that asks for a port at once is told that there is none, and is counted.
refused() {
	local before
	before=$(strangers)
	greet 10.77.0.1 "$1" 3 1 0 && seen '.refusals == [4] and .heard <= .said and .largest <= 176' && links_are 0 &&
		[ "$(strangers)" -ge $((before + 3)) ]
}
anew() { h 1 pibctl del pib0; pib_add 1 "$@"; }

check "host 1: anybody, as a rule" pib_add 1
check "and says so" accepts anybody
before=$(strangers)

# ---- discovery ----

check "a hello to everybody, through a router" greet group 254 3 0 1
check "is not answered" seen '.said == 3 and .heard == 0'
check "nor is a hello to nobody that comes to this host alone" greet 10.77.0.1 255 3 0 1
check "not at all" seen '.heard == 0'
check "nor one of a trunk from behind a router" greet 10.77.0.1 64 3 1 1
check "but by a refusal" seen '.refusals == [4] and .heard <= .said'
check "none of them has a port" links_are 0
counted() { [ "$(strangers)" = $((before + 9)) ] || { strangers; return 1; }; }
check "all are counted" counted
before=$(strangers)
check "a question to everybody who is there, through a router" greet group 254 3 0 probe
check "is not answered" seen '.said == 3 and .heard == 0'
three_counted() { [ "$(strangers)" = $((before + 3)) ] || { strangers; return 1; }; }
check "and counted" three_counted
check "on the link it is answered" eval 'greet group 255 3 0 probe && seen ".heard == 3 and .guids == 1"'
check "a hello to everybody on the link" greet group 255 6 0 1
check "is answered, and whoever is named as its sender gets no more than it said" seen '.heard > 0 and .heard <= .said and .largest <= 176'
check "which costs no port" links_are 0
check "until the answer is echoed" eval 'greet group 255 1 0 trunk-echo && wait_for 20 links_are 1'
anew

# ---- who asks for a port ----

check "anybody who asks for a port, from behind a router" greet 10.77.0.1 64 6 1 0
check "gets no more than it said" seen '.heard > 0 and .heard <= .said and .refusals == []'
check "and no port, for it has not shown that it hears" links_are 0
check "who echoes the answer gets one" eval 'greet 10.77.0.1 64 1 1 echo 18514 abc /tmp/stranger.said && wait_for 20 links_are 1'
check "and is not refused" seen '.refusals == []'
anew
check "said again, from there and with its GUID" h 3 python3 "$here/strangers.py" again eth0 10.77.0.1 /tmp/stranger.said 100
check "that leaves no port behind" links_are 0

before=$(counted_as rx_version)
check "who asks for a port in version 1" greet 10.77.0.1 64 3 1 former
check "is told so in version 1" seen '.refusals == [5] and .heard <= .said and .largest <= 176'
check "and counted" grew rx_version "$before" 3
check "once in the log" eval '[ "$(dmesg | grep -c "stranger speaks version 1")" = 1 ]'
check "who asks for one in version 1 from everybody" greet group 255 3 1 former
check "is told nothing" seen '.said == 3 and .heard == 0'
anew accept link
check "accept link: behind a router nobody gets a port" refused 254
check "on the link" greet 10.77.0.1 255 1 1 echo
check "it gets one" wait_for 20 links_are 1
anew accept link
check "the same over IPv6: behind a router" greet fd77::1 254 3 1 0
check "it is refused" seen '.refusals == [4] and .heard <= .said'
check "and gets no port" links_are 0
check "on the link" greet fd77::1 255 1 1 echo
check "it gets one" wait_for 20 links_are 1
h 1 pibctl del pib0
check "accept nobody" pib_add 1 accept nobody
check "not even on the link" refused 255
check "nor is anybody told who is here" seen '.guids == 0'
check "who only asks that" greet 10.77.0.1 255 3 0 probe
check "is refused, without a word of it" seen '.refusals == [4] and .guids == 0 and .heard <= .said'
check "who asks for a port in version 1" greet 10.77.0.1 255 3 1 former
check "is not told, either" seen '.guids == 0 and .heard == 0'
refuse "an HCA beside it that wants another" "accepts others" h 1 pibctl add pib5 netdev eth0 accept link
check "accept peers" h 1 pibctl set pib0 accept peers
check "who is not named gets no port" refused 255
check "whom it names gets one" eval 'h 1 pibctl add pib6 netdev eth0 peer 10.77.0.3 && greet 10.77.0.1 64 1 1 echo 18515 && wait_for 20 links_are 1'
h 1 pibctl del pib6

# ---- who waits for its port while it is not accepted any more ----

# A switch with 12 HCAs: while these are made, newcomers wait.
busy_net() {
	local i
	echo -e 'switchguid=0x77000\nSwitch 12 "B"'
	for i in {1..12}; do echo "[$i] \"B$i\"[1]"; done
	for i in {1..12}; do printf 'caguid=0x77%02x0\nHca 1 "B%d"\n[1] "B"[%d]\n' "$i" "$i" "$i"; done
}
busy_net >/tmp/stranger.net
# rounds NUMBER COMMAND...: none leaves an HCA behind, whatever comes of it
rounds() {
	local number=$1 round rc
	shift
	for ((round = 1; round <= number; round++)); do
		rc=0
		"$@" || rc=1
		h 1 pibctl fabric clear
		[ $rc = 0 ] || { echo "round $round"; return 1; }
	done
}
# no_more LINKS: there may be fewer, for loading takes longer than a link lives whose peer is gone
no_more() { [ "$(links)" -le "$1" ] || { echo "$1, then $(links)"; return 1; }; }
# A peer that comes when nobody is accepted any more gets no port, though it was welcome when it was heard.
closes_in_time() {
	local before
	pib_add 1 || return 1
	h 1 pibctl fabric load /tmp/stranger.net &
	h 3 python3 "$here/strangers.py" crowd eth0 10.77.0.1 16
	h 1 pibctl set pib0 accept nobody
	before=$(links)
	wait $! && no_more "$before"
}
h 1 pibctl del pib0
check "many who greet while much is made, and then nobody is accepted" rounds 3 closes_in_time
# Nor does who has greeted by a key that was dropped since.
key_goes_in_time() {
	local before
	pib_add 1 key-file /tmp/stranger.first && h 1 pibctl set pib0 second-key-file /tmp/stranger.second || return 1
	h 1 pibctl fabric load /tmp/stranger.net &
	h 3 python3 "$here/strangers.py" crowd eth0 10.77.0.1 16 /tmp/stranger.second
	h 1 pibctl set pib0 no-second-key force
	before=$(links)
	wait $! && no_more "$before"
}
(umask 077; for name in first second; do head -c 32 /dev/urandom >/tmp/stranger.$name; done)
check "by a key that is dropped then" rounds 3 key_goes_in_time
# Sixteen wait. One host has one place of them.
one_place_each() {
	pib_add 1 || return 1
	h 1 pibctl fabric load /tmp/stranger.net &
	h 3 python3 "$here/strangers.py" copies eth0 10.77.0.1 16 15
	wait $! && wait_for 20 links_are 16
}
check "sixteen copies of one host's echo leave room for fifteen hosts" rounds 4 one_place_each

# ---- who comes by two addresses ----

both_ways() { h 3 python3 "$here/strangers.py" pairs eth0 10.77.0.1 fd77::1 "$2" "$1"; }
# Both of a trunk's echoes may be waiting: the second one is from an address that is its own, too.
trunks_by_both() {
	local before
	pib_add 1 || return 1
	before=$(counted_as rx_wrong_address)
	h 1 pibctl fabric load /tmp/stranger.net &
	both_ways 1 8
	wait $! && wait_for 20 links_are 8 && grew rx_wrong_address "$before" 0
}
check "trunks that echo by IPv4 and IPv6 are known by both at once" rounds 3 trunks_by_both
check "hosts that ask for a port" pib_add 1
before=$(counted_as rx_wrong_address)
check "by both" both_ways 0 4
check "have one port each" wait_for 20 links_are 4
check "and one address: the other is not theirs while the link is up" grew rx_wrong_address "$before" 4

# ---- for whom there is no port ----

anew
# A link is made after its echo was sent.
settled() { local before; before=$(links) && sleep 0.5 && [ "$(links)" = "$before" ]; }
fills() {
	local free
	settled || return
	free=$((62 - $(links)))
	[ $free -le 0 ] || h 3 python3 "$here/strangers.py" crowd eth0 10.77.0.1 $((free < 16 ? free : 16))
	links_are 62
}
check "every port but one is taken" wait_for 40 fills
before=$(counted_as rx_no_port)
check "two who were both answered while it was free echo that" h 3 python3 "$here/strangers.py" copies eth0 10.77.0.1 1 1
check "one of them gets it" wait_for 20 links_are 63
check "the other is counted" wait_for 10 grew rx_no_port "$before" 1
before=$(counted_as rx_no_port)
check "one more" greet 10.77.0.1 255 3 1 0
check "is told so" seen '.refusals == [1] and .heard <= .said'
check "and counted" grew rx_no_port "$before" 3
h 1 pibctl del pib0
check "an uplink without a host switch" h 1 pibctl add pib6 netdev eth0 peer 10.77.0.3
before=$(counted_as rx_no_port)
check "counts who says hello to everybody" eval 'greet group 255 3 0 1 && grew rx_no_port $before 3'
h 1 pibctl del pib6

check "two hosts that accept their link" eval 'pib_add 1 accept link && pib_add 2 accept link'
check "meet" wait_for 60 meets

# ---- whose peer is away ----

guid=$(h 2 pibctl -j show sw0 | jq -r '.switches[0].node_guid')
leads() { h 1 pibctl -j show links | jq -e '[.links[] | select(.a.node == "sw0" and .address).address | startswith("10.77.0.2:")] == [true]'; }
h 2 pibctl del pib1
check "one goes, and its trunk stays for a while" leads
check "a trunk's hello from behind a router that has its GUID" greet 10.77.0.1 64 3 1 1 18514 "$guid"
check "is not answered" seen '.said == 3 and .heard == 0'
check "and does not move the trunk" leads
check "the peer comes back" eval 'pib_add 2 accept link && wait_for 60 meets'

# ---- who is not there ----

# answers_stand: answers wait in the stack for the addresses of those who have greeted
answers_stand() { h 1 ip neigh show | grep -c INCOMPLETE | grep -qvx 0; }
# not_held_back: data goes while hosts that are not there greet
not_held_back() {
	local flood rc=0
	h 3 python3 "$here/strangers.py" absent eth0 10.77.0.1 100 & flood=$!
	wait_for 20 answers_stand && pair 2 1 60 ibv_rc_pingpong -n 200 -s 65536 || rc=1
	kill $flood || rc=1	# it was there all the time
	wait $flood 2>/dev/null
	return $rc
}
sm_start 1
HOSTS=2
check "a subnet" wait_active 60
check "answers to hosts that are not there hold no data back" not_held_back
ktap_end

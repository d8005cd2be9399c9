#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A host's netdev goes down and comes back: the peer notices, OpenSM re-sweeps, traffic resumes. So does one that becomes a port
# of a bridge.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap hosts_clean EXIT

ktap_plan 13
hosts_make 2
pib_add 1 && pib_add 2 && sm_start 1
check "subnet up" wait_active 60
check "traffic before" pair 1 2 60 ibv_rc_pingpong

sweeps() { h 1 grep -c "SUBNET UP\|Heavy sweep\|ENTERING HEAVY SWEEP" /tmp/opensm.1/opensm.log; }
before=$(sweeps)
# A BYE, over IPv4 or IPv6
h 1 timeout 60 tcpdump -i eth0 -Q in -c 1 'udp and (udp[8] == 0x24 or (ip6 and ip6[48] == 0x24))' >/tmp/bye 2>&1 & sniffer=$!
listens() { grep -q listening /tmp/bye; }
wait_for 20 listens
h 2 ip link set eth0 down
farewell() { wait_for 20 grep -q '1 packet captured' /tmp/bye || { cat /tmp/bye; return 1; }; }
check "the host says goodbye before it cannot any more" farewell
kill "$sniffer" 2>/dev/null
check "the peer's trunk port is Down within 5 s" wait_for 5 trunk_is false
resweep() { [ "$(sweeps)" -gt "$before" ]; }
check "OpenSM sweeps again" wait_for 20 resweep
gone() { [ "$(h 1 ibnetdiscover -C "$(dev 1)" | grep -c ^Ca)" = 1 ]; }
check "the other host is gone from the subnet" wait_for 20 gone

h 2 ip link set eth0 up
[ -z "$PIB_V6ONLY" ] || h 2 ip -6 addr add "$(addr6 2)/64" dev eth0 nodad
h 2 ip -6 addr replace "$(addr6 2)/64" dev eth0 nodad
check "trunk up again" wait_for 10 trunk_is true
check "both ports ACTIVE again" wait_active 60
back() { [ "$(h 1 ibnetdiscover -C "$(dev 1)" | grep -c ^Ca)" = 2 ]; }
check "the other host is back in the subnet" wait_for 20 back
check "traffic after, nothing restarted" pair 1 2 60 ibv_rc_pingpong

# As a port of a bridge the netdev is up and hears nothing.
h 2 ip link add over0 type bridge
check "its netdev becomes a port of a bridge" h 2 ip link set eth0 master over0
check "the peer's trunk port is Down" wait_for 5 trunk_is false
h 2 ip link set eth0 nomaster
check "and comes back" wait_for 20 trunk_is true
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# IPoIB in datagram mode: large sends (TSO), and checksums that the HCA fills in and verifies. Each path carries TCP and
# UDP both ways, of which the other end has the same bytes. Where one end does without, the other must not notice.
#
#	h1          hub, a bridge          h2
#	eth0 ------------+------------------ eth0
#	pib0             |                   pib1
#	             eth0 in sw: pibnetd
#
# "cable" is a cable in the kernel from pib0 to pib1, both of h1.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/ipoib.sh"
. "$here/../lib/netd.sh"
. "$here/../lib/compat.sh"
trap 'netd_clean' EXIT
LAYOUT=netns
HOSTS=2
MiB=4
ipoib="IPoIB, datagram mode (ib_ipoib)"

ip6_addr() { echo "fd78::$1"; }
feature_is() { h "$1" ethtool -k "$(ipoib "$1")" | grep -q "^$2: $3"; }
# features K FEATURE VALUE...
features() {
	local k=$1
	shift
	h "$k" ethtool -K "$(ipoib "$k")" "$@"
}
all_offered() {
	local k what
	for k in 1 2; do
		for what in tx-checksum-ipv4 rx-checksumming tcp-segmentation-offload; do
			feature_is $k ".*$what" on || { h $k ethtool -k "$(ipoib $k)"; return 1; }
		done
	done
}
hidden() { # IBV_DEVICE_UD_IP_CSUM
	local flags
	flags=$(ibv_devinfo -v -d pib0 | awk '$1 == "device_cap_flags:" { print $2 }')
	[ -n "$flags" ] && [ $((flags >> 18 & 1)) = 0 ]
}

# ---- paths ----

path_udp() { pib_add 1 peer 10.77.0.2 && pib_add 2 peer 10.77.0.1; }
path_pibnetd() { pib_add 1 peer 10.77.0.9 && pib_add 2 peer 10.77.0.9; }
path_cable() {
	local k
	for k in 1 2; do
		h 1 pibctl add "$(dev $k)" netdev eth0 && h 1 pibctl link del "$(dev $k)/1" || return 1
	done
	h 1 pibctl link add pib0/1 pib1/1
}
path_end() {
	local k
	sm_end h 1
	for k in 1 2; do for dev in pib0 pib1; do h $k pibctl del $dev; done; done 2>/dev/null
}
ipoib_up_both() {
	local k
	ipoib_up || return 1
	for k in 1 2; do h $k ip addr add "$(ip6_addr $k)/64" dev "$(ipoib $k)" nodad || return 1; done
	wait_for 30 h 1 ping -c1 -W1 "$(ip6_addr 2)"
}
# path NAME: it is made, and carries pings
path() {
	path_end
	check "$1: HCAs" "path_$1"
	sm_start 1
	check "$1: subnet up" wait_active 60
	check "$1: IPoIB, IPv4 and IPv6" ipoib_up_both
}

# ---- what is carried ----

listening() { h "$1" ss -Hltn 'sport = :7000' | grep -q .; }
# transfer FROM TO FAMILY: a file by TCP, and the same bytes at the other end
transfer() {
	local from=$1 to=$2 family=$3 server sent target
	if [ "$family" = 4 ]; then target=$(ib_addr "$to"); else target="[$(ip6_addr "$to")]"; fi
	head -c ${MiB}M /dev/urandom >/tmp/sent
	rm -f /tmp/got
	h "$to" timeout 120 socat -u "TCP$family-LISTEN:7000,reuseaddr" CREATE:/tmp/got & server=$!
	wait_for 20 listening "$to" || return 1
	h "$from" timeout 120 socat -u -b 65536 FILE:/tmp/sent "TCP$family:$target:7000" || return 1
	wait $server || return 1
	sent=$(sha256sum </tmp/sent)
	sha256sum </tmp/got | grep -x "$sent"
}
echoing() { h 2 ss -Hlun 'sport = :7001' | grep -q .; }
not_echoing() { ! echoing; }
# datagrams ADDRESS: of host 2
datagrams() {
	local rc=0
	h 2 timeout 300 python3 "$here/udp_echo.py" server "$1" >/dev/null 2>&1 &
	wait_for 20 echoing && h 1 timeout 200 python3 "$here/udp_echo.py" client "$1" || rc=1
	h 2 pkill -f 'udp_echo.py server'
	wait_for 20 not_echoing
	return $rc
}
carries() {
	check "$1: TCP over IPv4, 1 to 2" transfer 1 2 4
	check "$1: TCP over IPv4, 2 to 1" transfer 2 1 4
	check "$1: TCP over IPv6, 1 to 2" transfer 1 2 6
}
carries_all() {
	carries "$1"
	check "$1: UDP over IPv4" datagrams "$(ib_addr 2)"
	check "$1: UDP over IPv6" datagrams "$(ip6_addr 2)"
}

capturing() { grep -q 'listening on' /tmp/capture.err; }
# checksums: what host 2 sees of a transfer are packets, no larger than they may be, with checksums that are right.
# Packets that GRO has put together have none.
checksums() {
	local watcher rc=0
	features 2 gro off || return 1
	h 2 timeout 200 tcpdump -i "$(ipoib 2)" -s 0 -U -w /tmp/capture 'tcp dst port 7000' 2>/tmp/capture.err & watcher=$!
	wait_for 20 capturing && transfer 1 2 4 || rc=1
	pkill -INT -x tcpdump
	wait $watcher
	features 2 gro on
	[ $rc = 0 ] || return 1
	tcpdump -n -vv -r /tmp/capture 2>/dev/null >/tmp/capture.txt
	awk '/\(correct\)/ { good++ } /\(incorrect|bad cksum/ { bad++; print }
		match($0, /length [0-9]+\)$/) { n = substr($0, RSTART + 7) + 0; if (n > 2044) { bad++; print } }
		END { print good + 0, "right", bad + 0, "wrong"; exit !(good >= 200 && !bad) }' /tmp/capture.txt | tail -n 20
	return "${PIPESTATUS[0]}"
}
sent_packets() { h 1 cat "/sys/class/net/$(ipoib 1)/statistics/tx_packets"; }
# large: of 4 MiB more than two packets go in a work request. On a slow path TCP sends two at a time.
large() {
	local before rc=0
	h 1 sysctl -q net.ipv4.tcp_min_tso_segs=8
	before=$(sent_packets)
	transfer 1 2 4 || rc=1
	h 1 sysctl -q net.ipv4.tcp_min_tso_segs=2
	[ $rc = 0 ] || return 1
	echo "$(($(sent_packets) - before)) sends"
	[ $(($(sent_packets) - before)) -lt $((MiB * 1048576 / 2044 / 2)) ]
}

ktap_plan 57
netd_init
bridge bridge0
cable h1 eth0 bridge0 10.77.0.1/24
cable h2 eth0 bridge0 10.77.0.2/24
cable sw eth0 bridge0 10.77.0.9/24

path udp
check "TSO and checksums are offered to IPoIB" all_offered
check "checksums are not offered to processes" hidden
shown "$ipoib" kernel "TSO: a work request carries many packets, the same checksum" large
shown "$ipoib" kernel "checksums: what arrives over UDP has right ones" checksums
carries_all "udp"
check "udp: a ping in fragments" h 1 ping -c3 -i0.3 -s 8000 "$(ib_addr 2)"
check "1 without TSO" features 1 tso off
carries "1 without TSO"
check "1 without checksums, and without TSO" features 1 tx off
carries "1 without checksums"
check "2 verifies for itself" features 2 rx off
carries "2 verifies for itself"
check "1 again with all" features 1 tx on tso on
carries "1 with all, 2 verifies for itself"
check "MTU 1000 at 1" h 1 ip link set "$(ipoib 1)" mtu 1000
check "MTU 1000 at 1: TCP over IPv4, 1 to 2" transfer 1 2 4
check "MTU 1000 at 1: TCP over IPv4, 2 to 1" transfer 2 1 4

path cable
shown "$ipoib" kernel "checksums: what arrives by a cable has right ones" checksums
carries_all "cable"
check "2 verifies for itself" features 2 rx off
carries "cable, 2 verifies for itself"
check "loss on the cable" h 1 pibctl link set pib0/1 loss 1% seed 3
carries "lossy cable"

echo '{ "listen": ["0.0.0.0"] }' >$netd/config.json
netd_start
netd_answers >/dev/null
path pibnetd
carries_all "pibnetd"
path_end
ktap_end

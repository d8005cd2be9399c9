#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An IPoIB interface as ip, ethtool and tcpdump show it, and its IPv6 addresses: made of the port's GUID and what a router advertises
# (radvd), with duplicates found.
#
#	h1  ib0 ------ ib1  h2, radvd
#
#	vm/run --packages radvd ... consumers/ipoib-addresses.sh
set -u
here=$(dirname "$0")
. "$here/lib.sh"
servers=()
clean() {
	kill "${servers[@]}" 2>/dev/null
	hosts_clean
}
trap clean EXIT
LAYOUT=netns
v6="IPoIB, IPv6 (ib_ipoib)"

ktap_plan 24
subnet_with_ipoib
a=$(ipoib 1) b=$(ipoib 2)

# ---- the interface as programs see it ----

says() { h "$1" sh -c "$2" >/tmp/said 2>&1 && grep -Eq -- "$3" /tmp/said || { cat /tmp/said; return 1; }; }
check "ethtool -i: the driver" says 1 "ethtool -i $a" '^driver: ib_ipoib$'
check "ethtool -i: whose interface it is" says 1 "ethtool -i $a" '^bus-info: .+'
check "ethtool: speed and link" says 1 "ethtool $a | tr -d '\n'" 'Speed: [1-9][0-9]*Mb/s.*Link detected: yes'
counted() {
	local before after
	before=$(h 1 ethtool -S "$a" | awk '$1 == "tx_packets:" { print $2 }')
	h 1 ping -c 5 -i 0.2 "$(ib_addr 2)" || return 1
	after=$(h 1 ethtool -S "$a" | awk '$1 == "tx_packets:" { print $2 }')
	echo "$before, then $after"
	[ "$after" -ge $((before + 5)) ]
}
shown ethtool ethtool "-i, -S and speed of an IPoIB interface; counters count" counted
check "ip -d link: mode and P_Key" says 1 "ip -d link show $a" 'ipoib pkey *0xffff mode *datagram'
check "MTU: 2044, by itself" says 1 "cat /sys/class/net/$a/mtu" '^2044$'
check "a ping that fills it" h 1 ping -c 2 -M "do" -s 2016 "$(ib_addr 2)"
refuse "a ping that does not fit" "too long" h 1 ping -c 1 -W 1 -M "do" -s 2017 "$(ib_addr 2)"

# eye K FILTER: what passes, in /tmp/eye, until eye_end; not to be called by check
eye() {
	ip netns exec "h$1" tcpdump -i "$(ipoib "$1")" -l -n -vvv "$2" >/tmp/eye 2>/tmp/eye.err & eye_pid=$!
	wait_for 20 grep -q 'listening on' /tmp/eye.err
}
eye_end() { kill "$eye_pid"; wait "$eye_pid"; } 2>/dev/null
saw() { wait_for 20 grep -Eq -- "$1" /tmp/eye || { cat /tmp/eye.err /tmp/eye; return 1; }; }
h 1 ip neigh flush dev "$a"
eye 2 'arp or icmp'
h 1 ping -c 2 "$(ib_addr 2)" >/dev/null
check "tcpdump: InfiniBand's ARP" saw "ARP.*InfiniBand.* who-has $(ib_addr 2)|who-has $(ib_addr 2)"
shown tcpdump tcpdump "ARP and ICMP on an IPoIB interface" saw "$(ib_addr 1) > $(ib_addr 2): ICMP echo request"
check "tcpdump: the answer" saw "$(ib_addr 2) > $(ib_addr 1): ICMP echo reply"
eye_end

# ---- SLAAC: the host's part of an address is the port's GUID, with the universal bit (RFC 4391 8) ----

# interface_id K: as IPv6 writes it
interface_id() {
	local guid
	guid=$(port_attr "$1" gids/0 | tr -d : | tail -c 17)
	printf '%016x\n' $((0x$guid | 0x0200000000000000))
}
address_of() { python3 -c 'import ipaddress, sys; print(ipaddress.ip_address(int(ipaddress.ip_address(sys.argv[1])) + int(sys.argv[2], 16)))' "$1" "$2"; }
has_address() { h "$1" ip -6 addr show dev "$(ipoib "$1")" -tentative | grep "inet6 $2/"; }
link_local=$(address_of fe80:: "$(interface_id 1)")
check "link-local: made of the GUID" has_address 1 "$link_local"
check "ping by link-local addresses" wait_for 20 h 2 ping -c 1 -W 1 "$link_local%$b"

cat >/tmp/radvd.conf <<-END
	interface $b
	{
		AdvSendAdvert on;
		MinRtrAdvInterval 3;
		MaxRtrAdvInterval 4;
		prefix fd79::/64 { AdvOnLink on; AdvAutonomous on; };
	};
END
chmod 644 /tmp/radvd.conf
h 2 sysctl -qw net.ipv6.conf.all.forwarding=1 "net.ipv6.conf.$b.forwarding=1"
h 1 sysctl -qw "net.ipv6.conf.$a.accept_dad=1" "net.ipv6.conf.$a.accept_ra=2"
h 2 sysctl -qw "net.ipv6.conf.$b.accept_dad=1"
h 2 ip addr add fd79::1/64 dev "$b" nodad
h 2 ip addr add fd7e::1/128 dev lo
eye 1 icmp6
ip netns exec h2 radvd -n -m stderr -p /tmp/radvd.pid -C /tmp/radvd.conf >/tmp/radvd.log 2>&1 & servers+=($!)
radvd_says() { saw 'router advertisement' || { cat /tmp/radvd.log; return 1; }; }
check "radvd: its advertisement comes" radvd_says
eye_end
slaac=$(address_of fd79:: "$(interface_id 1)")
got_address() { wait_for 30 has_address "$@" || { h "$1" ip -6 addr show dev "$(ipoib "$1")"; return 1; }; }
shown "$v6" kernel "SLAAC: the address that radvd's prefix and the GUID make" got_address 1 "$slaac"
check "SLAAC: a default route" wait_for 20 says 1 "ip -6 route show default" "via fe80:.* dev $a "
check "SLAAC: by that route" wait_for 20 h 1 ping -c 1 -W 1 -I "$slaac" fd7e::1

# ---- DAD ----

failed_address() { h "$1" ip -6 addr show dev "$(ipoib "$1")" dadfailed | grep "inet6 $2/"; }
check "DAD: an address of one's own passes" h 1 ip addr add fd78::66/64 dev "$a"
check "DAD: it is not tentative any more" got_address 1 fd78::66
duplicate() {
	h 2 ip addr add fd78::66/64 dev "$b" || return 1
	wait_for 20 failed_address 2 fd78::66 || { h 2 ip -6 addr show dev "$b"; return 1; }
}
shown "$v6" kernel "DAD: another host's address is found to be a duplicate" duplicate
ktap_end

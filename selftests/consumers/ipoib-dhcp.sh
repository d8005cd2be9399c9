#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# DHCP over IPoIB (RFC 4390): Debian's dnsmasq is the server; dhcp.py, the client of hosts 1 and 3, has hardware type 32 and no
# hardware address, asks for answers by broadcast, and is known by its client identifier.
#
#	h1, SM --- h2, dnsmasq
#	     \	  /
#	      h3
#
#	vm/run --packages dnsmasq-base ... consumers/ipoib-dhcp.sh
set -u
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/../lib/stream.sh"
dnsmasq='' eye=''
clean() {
	kill $dnsmasq $eye 2>/dev/null
	stream_clean
}
trap clean EXIT
LAYOUT=netns
dhcp="DHCP over IPoIB (dnsmasq)"
RESERVED=10.78.0.50

ktap_plan 29
hosts_make 3
for k in 1 2 3; do check "host $k: pibctl add" pib_add $k; done
sm_start 1
check "subnet up, three ports ACTIVE" wait_active 60
# interface K: up, without an address of IPv4
interface() {
	local dev
	dev=$(ipoib "$1")
	wait_for 10 ip link show "$dev" && ip link set "$dev" netns "h$1" && h "$1" ip link set "$dev" up && wait_for 60 has_carrier "$1"
}
has_carrier() { h "$1" ip link show "$(ipoib "$1")" | grep LOWER_UP; }
for k in 1 2 3; do check "host $k: IPoIB" interface $k; done
hardware() { h "$1" cat "/sys/class/net/$(ipoib "$1")/address"; }

# ---- the server, which has an address kept for host 3's client identifier ----

listens() { h 2 ss -Hlun 'sport = :67' | grep -q .; }
h 2 ip addr add 10.78.0.2/24 dev "$(ipoib 2)"
# A client identifier of the older kind: the hardware type, and the address.
ip netns exec h2 dnsmasq --conf-file=/dev/null --keep-in-foreground --port=0 --interface="$(ipoib 2)" --bind-interfaces \
	--dhcp-range=10.78.0.100,10.78.0.120,1h --dhcp-host="id:20:$(hardware 3),$RESERVED" --dhcp-leasefile=/tmp/leases \
	--dhcp-no-override --log-dhcp --log-facility=- >/tmp/server 2>&1 & dnsmasq=$!
check "dnsmasq listens" wait_for 20 listens
ip netns exec h2 tcpdump -i "$(ipoib 2)" -l -n -vvv 'udp port 67 or udp port 68' >/tmp/eye 2>/tmp/eye.err & eye=$!
check "tcpdump listens" wait_for 20 grep -q 'listening on' /tmp/eye.err

# ---- a client ----

# client COMMAND K CLIENT-ID: its answer is in /tmp/got.K
client() { h "$2" python3 "$here/dhcp.py" "$1" "$(ipoib "$2")" "$3" ${4:+"$4" "$5"} >"/tmp/got.$2" || { cat /tmp/server; return 1; }; }
got() { awk -v n="$2" '{ print $n }' "/tmp/got.$1"; }
address_of() { got "$1" 1; }
# gets_one K CLIENT-ID: asked for, and given to the interface
gets_one() {
	h "$1" ip -4 addr flush dev "$(ipoib "$1")"
	client get "$1" "$2" && h "$1" ip addr add "$(got "$1" 1)/$(got "$1" 2)" dev "$(ipoib "$1")"
}
# Of the newer kind (RFC 4361): 255, the interface's number, a DUID of the link-layer kind
ID1="ff:00:00:00:01:00:03:00:20:$(hardware 1)"
ID3="20:$(hardware 3)"
in_range() { address_of 1; [[ $(address_of 1) =~ ^10\.78\.0\.1([01][0-9]|20)$ ]]; }
has_prefix() { cat /tmp/got.1; [ "$(got 1 2) $(got 1 3)" = "24 10.78.0.2" ]; }
saw() { wait_for 20 grep -Ezq -- "$1" /tmp/eye || { cat /tmp/eye; return 1; }; }
shown "$dhcp" dnsmasq-base "a client gets an address" gets_one 1 "$ID1"
check "it is one of the server's range" in_range
check "with the prefix of the server's network" has_prefix
check "the client asks with hardware type 32, no hardware address and the broadcast flag" \
	saw 'BOOTP/DHCP, Request, length [0-9]+, htype 32, hlen 0, [^\n]*Flags \[Broadcast\]'
check "and with a client identifier" saw 'Client-ID \(61\)'
check "the server answers by broadcast" saw '10\.78\.0\.2\.67 > 255\.255\.255\.255\.68: [^\n]*BOOTP/DHCP, Reply'
lease_of() { awk -v address="$1" '$3 == address { print $5 }' /tmp/leases; }
has_lease() { cat /tmp/leases; [ -n "$(lease_of "$1")" ] && [ "$(lease_of "$1")" != "*" ]; }
check "the server knows the client by its identifier" has_lease "$(address_of 1)"
check "ping" wait_for 30 h 1 ping -c 1 -W 1 10.78.0.2
stream_start 2 1 "$(address_of 1)"
check "a TCP stream to the new address" stream_moves
shown "$dhcp" dnsmasq-base "TCP to the new address: the same checksum" stream_whole

# ---- another client, whose identifier the server has an address for ----

shown "$dhcp" dnsmasq-base "a client gets the address that is kept for its identifier" gets_one 3 "$ID3"
is() { echo "'$1'"; [ "$1" = "$2" ]; }
check "it is that one" is "$(address_of 3)" $RESERVED
check "the identifier in the lease is type and hardware address" is "$(lease_of $RESERVED)" "20:$(hardware 3)"
check "the two clients reach each other" wait_for 30 h 1 ping -c 1 -W 1 $RESERVED

# ---- renewal, release ----

renewed() {
	local address
	address=$(address_of 1)
	client renew 1 "$ID1" "$address" 10.78.0.2 && is "$(address_of 1)" "$address"
}
shown "$dhcp" dnsmasq-base "renewal, from address to address: the same one" renewed
kept=$(address_of 1)
check "release" client release 1 "$ID1" "$kept" 10.78.0.2
no_lease() { [ -z "$(lease_of "$kept")" ]; }
check "the server has no lease any more" wait_for 20 no_lease

# ---- connected mode ----

connected() {
	local k dev
	for k in 1 2; do
		dev=$(ipoib $k)
		h $k sh -c "echo connected >/sys/class/net/$dev/mode" && h $k ip link set "$dev" mtu 65520 || return 1
	done
}
check "connected mode" connected
shown "$dhcp" dnsmasq-base "in connected mode" gets_one 1 "$ID1"
check "a packet of 60000 bytes to the new address" wait_for 30 h 2 ping -c 1 -W 1 -M "do" -s 60000 "$(address_of 1)"
ktap_end

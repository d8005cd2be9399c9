#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Netdevs of every kind: an HCA on each carries traffic between two hosts. Then a veth, whose offloads are switched over, one
# after the other.
#
#	h1 pib0 on x0, over eth0 ---- eth0, under x0 pib1 h2
#
#	vm/run --packages wireguard-tools ... fabric/netdev-kinds.sh
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
umask 077
LAYOUT=netns
tun=''
trap 'kill $tun 2>/dev/null; rm -f /tmp/wg.*; hosts_clean' EXIT

other() { echo $((3 - $1)); }
on_eth0() { ip -n "h$1" link add link eth0 name x0 type "${@:2}"; }
tunnel() {
	local k
	for k in 1 2; do ip -n h$k link add x0 type "$1" remote "$(addr4 "$(other $k)")" "${@:2}" || return; done
}
# A cable of its own, whose ends are called $1, for what takes its netdev over.
cable() { ip link add "$1" netns h1 type veth peer name "$1" netns h2; }
port_of() { ip -n "h$1" link set under0 up && ip -n "h$1" link set under0 master "$2"; }
tun_pair() {
	modprobe tun || return
	coproc { exec "$here/../lib/tun-pair.py" "$1" x0 h1 h2; }
	tun=$COPROC_PID
	read -r -u "${COPROC[0]}" _
}

# make_KIND: x0 on both hosts
make_vlan() { on_eth0 1 vlan id 7 && on_eth0 2 vlan id 7; }
make_macvlan() { on_eth0 1 macvlan mode bridge && on_eth0 2 macvlan mode private; }
make_ipvlan() { on_eth0 1 ipvlan mode l2 && on_eth0 2 ipvlan mode l2; }
make_macsec() {
	local k mac
	on_eth0 1 macsec port 1 encrypt on && on_eth0 2 macsec port 1 encrypt on || return
	for k in 1 2; do
		mac=$(h "$(other $k)" cat /sys/class/net/x0/address)
		ip -n h$k macsec add x0 tx sa 0 pn 1 on key 0$k "$(key_of $k)" && ip -n h$k macsec add x0 rx port 1 address "$mac" &&
			ip -n h$k macsec add x0 rx port 1 address "$mac" sa 0 pn 1 on key "0$(other $k)" "$(key_of "$(other $k)")" || return
	done
}
key_of() { printf %032d "$1"; }
make_bridge() {
	local k
	cable under0 || return
	for k in 1 2; do ip -n h$k link add x0 type bridge && port_of $k x0 || return; done
}
make_bond() {
	local k
	cable under0 || return
	for k in 1 2; do
		ip -n h$k link add x0 type bond mode active-backup miimon 100 && ip -n h$k link set under0 master x0 || return
	done
}
make_vrf() {
	local k
	cable x0 || return
	for k in 1 2; do
		ip -n h$k link add vrf0 type vrf table 10 && ip -n h$k link set vrf0 up && ip -n h$k link set x0 master vrf0 || return
	done
}
make_vxlan() { tunnel vxlan id 9 dstport 4789 dev eth0; }
make_geneve() { tunnel geneve id 9; }
make_gretap() { tunnel gretap; }
make_gre() { tunnel gre; }
make_wireguard() {
	local k
	for k in 1 2; do wg genkey >/tmp/wg.$k; done
	for k in 1 2; do
		ip -n h$k link add x0 type wireguard && h $k wg set x0 private-key /tmp/wg.$k listen-port 51820 \
			peer "$(wg pubkey </tmp/wg."$(other $k)")" allowed-ips 10.79.0.0/24 endpoint "$(addr4 "$(other $k)"):51820" || return
	done
}
make_tun() { tun_pair tun; }
make_tap() { tun_pair tap; }

# needs K: what "pibctl add" is given more; a tunnel without multicast has to be told of its peer.
needs() { case $kind in wireguard | gre | tun) echo "peer 10.79.0.$(other "$1")" ;; esac; }

unmake() {
	local k
	for k in 1 2; do
		h $k pibctl del "$(dev $k)"
		ip -n h$k link del x0
		ip -n h$k link del vrf0
		ip -n h$k link del under0
	done >/dev/null 2>&1
	[ -z "$tun" ] || { kill "$tun"; wait "$tun"; } 2>/dev/null
	tun=''
}

sent() { h "$1" cat /sys/class/net/x0/statistics/tx_packets; }
trunk_up() { h 1 pibctl -j show links | jq -e '[.. | objects | select(.up? == true)] | length == 1'; }
join() {
	local k
	# shellcheck disable=SC2046  # words
	for k in 1 2; do h $k pibctl add "$(dev $k)" netdev "$1" standalone $(needs $k) || return; done
	wait_active 60 && wait_for 60 trunk_up
}
traffic() { pair 1 2 60 ibv_rc_pingpong -c -s 65536 -m 4096 -n 20; }
over_x0() {
	local k before
	for k in 1 2; do
		ip -n h$k addr add 10.79.0.$k/24 dev x0
		ip -n h$k link set x0 up
	done
	join x0 || { h 1 pibctl show uplinks; h 1 pibctl show peers; return 1; }
	before=$(sent 1)
	traffic && [ "$(sent 1)" -gt $((before + 20)) ]
}
carries() {
	local rc=0
	kind=$1
	"make_$kind" && over_x0 || rc=1
	[ $rc = 0 ] || ip -n h1 -d link show x0
	unmake
	return $rc
}

features() {
	local k
	for k in 1 2; do h $k ethtool -K eth0 "$@" || return; done
}
# switched FEATURE STATE: on both hosts' eth0; then as a veth is again
switched() {
	local rc=0
	features "$@" && traffic || rc=1
	features rx on tx on sg on gso on gro on tx-udp-segmentation on rx-gro-list off rx-udp-gro-forwarding off >/dev/null || rc=1
	return $rc
}

kinds=(vlan macvlan ipvlan macsec bridge bond vrf vxlan geneve gretap gre wireguard tun tap)
offloads=("rx off" "tx off" "sg off" "gso off" "gro off" "tx-udp-segmentation off" "rx-gro-list on" "rx-udp-gro-forwarding on")
kind=''
ktap_plan $((${#kinds[@]} + ${#offloads[@]} + 1))
hosts_make 2
for name in "${kinds[@]}"; do check "over $name" carries "$name"; done
kind=veth
check "two hosts over a veth" join eth0
for name in "${offloads[@]}"; do
	# shellcheck disable=SC2086  # two words
	check "a veth with $name" switched $name
done
ktap_end

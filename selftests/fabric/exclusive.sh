#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Network namespaces that keep their RDMA devices to themselves ("rdma system set netns exclusive"). Each host's HCA ends up in
# its namespace: at once from Linux 6.17 on, and before by what "pibctl add" says is to be typed.
#
#	h1 pib0 on eth0 ---- eth0, under pib1 h2
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
LAYOUT=netns
said=/tmp/exclusive.said
# The machine may be kept for another suite. The mode changes only when no namespace is left but the first.
back() { hosts_clean; wait_for 20 rdma system set netns shared; }
trap 'back; rm -f "$said".*' EXIT

is_older() { [ "$(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" != "$1" ]; }
sees() { h "$1" rdma -j dev | jq -r '.[].ifname' | xargs; }
sees_only() { sees "$1"; [ "$(sees "$1")" = "$2" ]; }
add_says() { pib_add "$1" 2>"$said.$1"; }
is_silent() { ! [ -s "$said.$1" ]; }
# type_it HOST: runs the command that the message names, with the names of this host in it.
type_it() {
	local words
	words=$(sed -n "s/.*'\(rdma dev set .*\)' there.*/\1/p" "$said.$1")
	words=${words/HCA/$(dev "$1")}
	words=${words/NAME/h$1}
	echo "$words"
	[ -n "$words" ] && $words
}
in_place() {
	if is_older 6.17; then type_it "$1"; else is_silent "$1"; fi
}
ipoib_moves() { is_older 6.17 || { [ "$(interface "$1")" = ib0 ]; return; }; ip link set "$(ipoib "$1")" netns "h$1"; }
# A kernel that makes the interface where the HCA is counts the names of each namespace for itself.
interface() { basename "$(h "$1" sh -c 'echo /sys/class/net/ib*')"; }
pings() {
	local k
	for k in 1 2; do
		h $k ip addr add 10.78.0.$k/24 dev "$(interface $k)" && h $k ip link set "$(interface $k)" up || return
	done
	h 1 ping -c 3 -w 60 10.78.0.2
}

ktap_plan 15
check "namespaces keep their devices to themselves" rdma system set netns exclusive
hosts_make 2
for k in 1 2; do
	check "an HCA on h$k" add_says $k
	check "h$k has it, by what the command says if need be" in_place $k
done
for k in 1 2; do check "h$k sees its own, and no other" sees_only $k "$(dev $k)"; done
sees_none() { local seen; seen=$(rdma dev) && echo "$seen" && [ -z "$seen" ]; }
check "the initial namespace sees none" sees_none
check "OpenSM on h1" sm_start 1
check "both ports are ACTIVE" wait_active 60
check "connections between the hosts" pair 1 2 60 ibv_rc_pingpong -n 100
for k in 1 2; do check "h$k has its interface of IPoIB" wait_for 20 ipoib_moves $k; done
check "it carries IP" pings
check "when the namespaces are gone, devices are shared again" back
ktap_end

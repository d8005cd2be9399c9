# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# IP over InfiniBand on the hosts of hosts.sh: host K has 10.78.0.K. To be sourced after it.

ib_addr() { echo "10.78.0.$1"; }

# ipoib_up [connected]: on all hosts; in connected mode with the largest MTU there is
ipoib_up() {
	local k dev mode=${1:-datagram}
	for ((k = 1; k <= HOSTS; k++)); do
		dev=$(ipoib "$k")
		wait_for 10 ip link show "$dev" || h "$k" ip link show "$dev" || return 1
		[ "$LAYOUT" = machines ] || ip link set "$dev" netns "h$k" || return 1
		h "$k" sh -c "echo $mode >/sys/class/net/$dev/mode" || return 1
		[ "$mode" = datagram ] || h "$k" ip link set "$dev" mtu 65520 || return 1
		h "$k" ip addr add "$(ib_addr "$k")/24" dev "$dev" && h "$k" ip link set "$dev" up || return 1
	done
	for ((k = 2; k <= HOSTS; k++)); do
		wait_for 60 h 1 ping -c1 -W1 "$(ib_addr "$k")" || return 1
	done
}

# subnet_with_ipoib [connected]: two hosts under a subnet manager, as far as a consumer needs it; four checks
subnet_with_ipoib() {
	hosts_make 2
	check "host 1: pibctl add" pib_add 1
	check "host 2: pibctl add" pib_add 2
	sm_start 1
	check "subnet up, both ports ACTIVE" wait_active 60
	check "IPoIB${1:+ in $1 mode}: ping" ipoib_up "$@"
}

# modules_gone K MODULE...: they can be unloaded there, in this order
modules_gone() {
	local k=$1 module
	shift
	for module; do
		wait_for 20 h "$k" modprobe -r "$module" || { h "$k" modprobe -r "$module"; return 1; }
	done
}

ib_addr6() { echo "fd78::$1"; }
# ipoib_up6: IPv6 addresses for all hosts, after ipoib_up
ipoib_up6() {
	local k
	for ((k = 1; k <= HOSTS; k++)); do h "$k" ip addr add "$(ib_addr6 "$k")/64" dev "$(ipoib "$k")" nodad || return 1; done
	for ((k = 2; k <= HOSTS; k++)); do wait_for 30 h 1 ping -c1 -W1 "$(ib_addr6 "$k")" || return 1; done
}

# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A pibnetd in the namespace "sw", and hosts on bridges in the namespace "hub". To be sourced after
# hosts.sh. The daemon runs as nobody, with its files in $netd.

netd=/tmp/pibnetd
netd_pid=

netd_init() {
	rm -rf $netd
	mkdir -p $netd
	chmod 777 $netd
	modprobe -a ib_umad ib_uverbs rdma_ucm ib_ipoib
	ip netns add hub
	ip netns add sw
} 2>/dev/null

# bridge NAME
bridge() {
	ip -n hub link add name "$1" type bridge mcast_snooping 0
	ip -n hub link set "$1" up
}

# cable NAMESPACE NETDEV BRIDGE ADDRESS/LENGTH: the namespace, if it is not there, gets a netdev that is plugged into a
# port of the bridge called NAMESPACE.NETDEV.
cable() {
	local ns=$1 dev=$2 far=$1.$2
	[ -e "/run/netns/$ns" ] || ip netns add "$ns"
	# The machine has an eth0 of its own, hence the detour by other names.
	ip link add near type veth peer name "$far"
	ip link set near netns "$ns"
	ip -n "$ns" link set near name "$dev"
	ip link set "$far" netns hub
	ip -n hub link set "$far" master "$3" up
	ip -n "$ns" link set lo up
	ip -n "$ns" link set "$dev" up
	ip -n "$ns" addr add "$4" dev "$dev"
}

# routed_nets: hosts 1 and 2, with a router between them; all of it goes with "netd_clean r"
#
#	10.77.0/24 +-- r --+ 10.79.0/24
#	h1 eth0 ---+       +--- eth0 h2
#	fd77::/64  net0   net1   fd79::/64
routed_nets() {
	netd_init
	bridge net0
	bridge net1
	cable h1 eth0 net0 10.77.0.1/24
	cable h2 eth0 net1 10.79.0.2/24
	cable r eth0 net0 10.77.0.101/24
	cable r eth1 net1 10.79.0.101/24
	ip netns exec r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	ip -n h1 -6 addr add fd77::1/64 dev eth0 nodad
	ip -n h2 -6 addr add fd79::2/64 dev eth0 nodad
	ip -n r -6 addr add fd77::101/64 dev eth0 nodad
	ip -n r -6 addr add fd79::101/64 dev eth1 nodad
	ip -n h1 route add 10.79.0.0/24 via 10.77.0.101
	ip -n h2 route add 10.77.0.0/24 via 10.79.0.101
	ip -n h1 -6 route add fd79::/64 via fd77::101
	ip -n h2 -6 route add fd77::/64 via fd79::101
}

# Not to be called by check, whose subshell would keep the pid.
netd_start() {
	ip netns exec sw setpriv --reuid 65534 --regid 65534 --clear-groups \
		pibnetd --config $netd/config.json --control $netd/control --state $netd/state >>$netd/log 2>&1 &
	netd_pid=$!
}
netd_answers() { wait_for 10 ctl show || { cat $netd/log; return 1; }; }
netd_stop() { kill "$netd_pid" && wait "$netd_pid"; }
netd_kill() { kill -9 "$netd_pid"; wait "$netd_pid" 2>/dev/null; }

# ctl ARGUMENTS...: pibctl, at the daemon
ctl() { pibctl --daemon $netd/control "$@"; }

# Processor time that it has had
netd_cpu_ms() { awk -v tick="$(getconf CLK_TCK)" '{ print ($14 + $15) * 1000 / tick }' "/proc/$netd_pid/stat"; }

# netd_clean [NAMESPACE]...: these go, too
netd_clean() {
	local ns
	[ -z "$netd_pid" ] || kill "$netd_pid"
	hosts_clean
	for ns in sw "$@"; do ip netns del "$ns"; done
} 2>/dev/null

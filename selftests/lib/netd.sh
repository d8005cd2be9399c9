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

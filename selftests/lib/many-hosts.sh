# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The HCAs of a topology, pib0, pib1, .., as hosts: each in a network namespace of its name ("pibctl fabric load FILE netns"),
# with an address on its IPoIB interface. Needs ktap.sh and topology.sh.

# IPoIB posts recv_queue_size buffers of 64 KiB for connected mode, used or not: by default 16 MiB an interface.
many_hosts_init() {
	modprobe ib_ipoib recv_queue_size=32 send_queue_size=32
	topology_init
	# In shared mode ib_core shows each HCA in each namespace, with a tree of sysfs files: N * N of them.
	rdma system set netns exclusive || return 1
	# Neighbours are counted for all namespaces together: two for each pair that talks.
	sysctl -qw net.ipv4.neigh.default.gc_thresh1=8192 net.ipv4.neigh.default.gc_thresh2=16384 \
		net.ipv4.neigh.default.gc_thresh3=16384
	# IPv6 would want multicast groups of its own for each interface.
	sysctl -qw net.core.devconf_inherit_init_net=1 net.ipv6.conf.default.disable_ipv6=1
}

many_hosts_address() { echo "10.64.$((($1 + 1) / 256)).$((($1 + 1) % 256))"; }

# IPoIB has a carrier when it has joined the broadcast group.
host_joined() { ip -n "pib$1" -br link show "ib$1" | grep -q LOWER_UP; }

# many_hosts_up N
many_hosts_up() {
	local i
	for ((i = 0; i < $1; i++)); do
		printf 'addr add %s/16 dev ib%d\nlink set ib%d up\n' "$(many_hosts_address $i)" $i $i |
			ip -n pib$i -batch - || return 1
	done
	for ((i = 0; i < $1; i++)); do
		wait_for 300 host_joined $i || { echo "pib$i has not joined"; return 1; }
	done
}

# ping_args I J SECONDS: for nsenter
ping_args() { echo "--net=/run/netns/pib$1 ping -q -c 1 -w $3 $(many_hosts_address "$2")"; }

# host_pings I J SECONDS
host_pings() {
	# shellcheck disable=SC2046
	nsenter $(ping_args "$@")
}

# many_hosts_ping N: each pings the one half the way round and one further. HCAs that follow each other in a file of
# "make-net xgft" are behind different switches, so the two are not behind the same one. Sets ANSWERED, and says who
# was not.
many_hosts_ping() {
	local i
	for ((i = 0; i < $1; i++)); do
		ping_args $i $(((i + $1 / 2 + 1) % $1)) 60
	done | xargs -P 8 -L 1 nsenter >/tmp/pings
	ANSWERED=$(grep -c ', [1-9][0-9]* received' /tmp/pings)
	[ "$ANSWERED" = "$1" ] && return
	grep -B 1 ', 0 received' /tmp/pings | grep ' ping statistics ' | sed 's/^/# not answered: /'
	return 1
}

# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Hosts to test on, in one of two layouts:
#
#	netns (default)		machines (PIB_HOSTS > 1: selftests/vm/run --hosts N)
#
#	 h1        h2		 host1     host2
#	 eth0 ---- eth0		 eth0 ---- eth0		10.77.0.K/24, fd77::K/64
#	 pib0      pib1		 pib0      pib0
#
# Namespaces of more than two hosts hang on a bridge in a namespace of its own.
# Every function takes the host's number K first.

. "$(dirname "${BASH_SOURCE[0]}")/opensm.sh"
: "${PIB_HOSTS:=1}"
if [ "$PIB_HOSTS" -gt 1 ]; then LAYOUT=machines; else LAYOUT=netns; fi
HOSTS=0
PIB_V6ONLY=${PIB_V6ONLY:-}

# h K COMMAND...: run it on host K
h() {
	local k=$1
	shift
	if [ $LAYOUT = netns ]; then
		ip netns exec "h$k" "$@"
	elif [ "$k" = 1 ]; then
		"$@"
	else
		on "$k" "$@"
	fi
}

# IB device names are global to a kernel, so each namespace's has its own number.
dev() {
	if [ $LAYOUT = netns ]; then echo "pib$(($1 - 1))"; else echo pib0; fi
}

ipoib() {
	if [ $LAYOUT = netns ]; then echo "ib$(($1 - 1))"; else echo ib0; fi
}

addr4() { echo "10.77.0.$1"; }
addr6() { echo "fd77::$1"; }

hosts_make() {
	HOSTS=$1
	modprobe -a ib_umad ib_uverbs rdma_ucm ib_ipoib 2>/dev/null || :
	if [ $LAYOUT = machines ]; then
		for ((k = 2; k <= HOSTS; k++)); do
			on "$k" modprobe -a ib_umad ib_uverbs rdma_ucm ib_ipoib || :
		done
		return
	fi
	local k
	if [ "$HOSTS" = 2 ]; then
		ip netns add h1
		ip netns add h2
		# The machine has an eth0 of its own, hence the detour by other names.
		ip link add veth1 type veth peer name veth2
		host_take 1 veth1
		host_take 2 veth2
		[ -z "$PIB_V6ONLY" ] || hosts_side_net
	else
		ip netns add hub
		ip -n hub link add name bridge0 type bridge mcast_snooping 0
		ip -n hub link set bridge0 up
		for ((k = 1; k <= HOSTS; k++)); do
			ip netns add "h$k"
			ip link add "veth$k" type veth peer name "p$k"
			host_take "$k" "veth$k"
			ip link set "p$k" netns hub
			ip -n hub link set "p$k" master bridge0 up
		done
	fi
	for ((k = 1; k <= HOSTS; k++)); do
		host_net_up "$k"
	done
}

# Over IPv6 alone: the pingpong programs exchange their addresses over IPv4 and nothing else, so
# that has a cable of its own, of which pib knows nothing.
hosts_side_net() {
	local k
	ip link add side1 type veth peer name side2
	for k in 1 2; do
		ip link set "side$k" netns "h$k"
		ip -n "h$k" addr add "$(addr4 "$k")/24" dev "side$k"
		ip -n "h$k" link set "side$k" up
	done
}

host_take() {
	ip link set "$2" netns "h$1"
	ip -n "h$1" link set "$2" name eth0
}

host_net_up() {
	local k=$1
	ip -n "h$k" link set lo up
	ip netns exec "h$k" sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0 \
		net.ipv6.conf.eth0.accept_dad=0
	ip -n "h$k" link set eth0 up
	[ -n "$PIB_V6ONLY" ] || ip -n "h$k" addr add "$(addr4 "$k")/24" dev eth0
	ip -n "h$k" -6 addr add "$(addr6 "$k")/64" dev eth0 nodad
}

# pib_add K [ARGUMENT...]
pib_add() {
	local k=$1
	shift
	h "$k" pibctl add "$(dev "$k")" netdev eth0 "$@"
}

port_attr() {
	h "$1" cat "/sys/class/infiniband/$(dev "$1")/ports/1/$2"
}

port_is() {
	[[ $(port_attr "$1" state) == *"$2"* ]]
}

# Start OpenSM on host K (-d 2: it flushes its log); its log is /tmp/opensm.K/opensm.log there.
sm_start() {
	local k=$1 guid
	shift
	guid=0x$(port_attr "$k" gids/0 | tr -d : | tail -c 17)
	h "$k" mkdir -p "/tmp/opensm.$k"
	h "$k" env OSM_TMP_DIR="/tmp/opensm.$k" OSM_CACHE_DIR="/tmp/opensm.$k" \
		opensm -g "$guid" -f "/tmp/opensm.$k/opensm.log" --pidfile "/tmp/opensm.$k/pid" -d 2 -B "$@" >/dev/null 2>&1
}

# sm_stop K: to go on at once; "sm_end h K" waits for its end
sm_stop() {
	h "$1" pkill -x opensm || :
}

sm_log_has() {
	h "$1" grep -q -- "$2" "/tmp/opensm.$1/opensm.log"
}

# wait_active SECONDS: all hosts' ports
wait_active() {
	local k
	for ((k = 1; k <= HOSTS; k++)); do
		wait_for "$1" port_is "$k" ACTIVE || return 1
	done
}

# uplink_counter K NAME, uplink_has K EXPRESSION: look at the first uplink of host K
uplink_counter() { h "$1" pibctl -j show uplinks | jq ".uplinks[0].counters.$2"; }
uplink_has() { h "$1" pibctl -j show uplinks | jq -e ".uplinks[0].$2"; }

# none_counted NAME...: these counters of the uplinks are 0, of all hosts
none_counted() {
	local k
	for ((k = 1; k <= HOSTS; k++)); do
		h "$k" pibctl -j show uplinks | jq -e '.uplinks[0].counters as $n | all($ARGS.positional[]; $n[.] == 0)' --args "$@" ||
			{ h "$k" pibctl -j show uplinks; return 1; }
	done
}

# make_keys FILE...: keys of fabrics, each another
make_keys() {
	local file
	for file; do head -c 32 /dev/urandom >"$file" && chmod 600 "$file"; done
}

# pair SERVER CLIENT TIMEOUT PROGRAM ARGS...: run a perftest or pingpong program on both ends.
# The client is given the server's underlay address for its TCP exchange. Both must succeed.
# Their output is in $pair_out.server and $pair_out.client; two pairs at a time have two of these.
pair_out=/tmp/pair
pair() {
	local s=$1 c=$2 t=$3 rc=0
	shift 3
	local target
	target=$(addr4 "$s")
	h "$s" timeout "$t" "$1" -d "$(dev "$s")" "${@:2}" >"$pair_out.server" 2>&1 &
	local pid=$!
	for _ in {1..10}; do
		sleep 0.3
		rc=0
		h "$c" timeout "$t" "$1" -d "$(dev "$c")" "${@:2}" "$target" >"$pair_out.client" 2>&1 || rc=$?
		[ $rc = 0 ] && break
		# Only a refused connection means that the server does not listen yet.
		grep -Eqi "couldn.t connect|unable to connect|connection refused|failed to connect" "$pair_out.client" || break
	done
	# The shell's child has the program. One that goes on would be in the way of whoever tries again, for all of its time.
	[ $rc = 0 ] || { echo "client:"; tail -n 20 "$pair_out.client"; pkill -P $pid; }
	wait $pid || { [ $rc = 0 ] || :; rc=1; echo "server:"; tail -n 20 "$pair_out.server"; }
	return $rc
}

# port_listens K PORT: a program of host K waits for TCP connections there
port_listens() { h "$1" ss -Hltn "sport = :$2" | grep -q .; }

# trunk_is true|false: a trunk of host 1 is up, or is not
trunk_is() { h 1 pibctl -j show links | jq -e "[.. | objects | select(has(\"up\")) | .up] | index($1) != null" >/dev/null; }

hosts_clean() {
	local k
	for ((k = 1; k <= HOSTS; k++)); do
		sm_stop "$k" 2>/dev/null
		h "$k" pibctl del "$(dev "$k")" 2>/dev/null
	done
	[ $LAYOUT = netns ] || return 0
	for ((k = 1; k <= HOSTS; k++)); do
		ip netns pids "h$k" 2>/dev/null | xargs -r kill 2>/dev/null
		ip netns del "h$k" 2>/dev/null
	done
	ip netns del hub 2>/dev/null || :
}

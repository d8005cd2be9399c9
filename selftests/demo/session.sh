#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# `make run` shows this: two hosts, one command on each, an unmodified OpenSM, and InfiniBand works.
#
#	 h1 (network namespace)		 h2 (network namespace)
#	 eth0 10.77.0.1 ------ veth ----- eth0 10.77.0.2
#	 pib0				 pib1
set -eu
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"

bold='' plain=''
[ ! -t 1 ] || bold=$'\033[1m' plain=$'\033[0m'
say() { printf '\n%s== %s%s\n' "$bold" "$*" "$plain"; }
# show COMMAND...: as typed, then its output
show() {
	printf '\n$ %s\n' "$*"
	"$@"
}
fail() {
	echo "demo: $1" >&2
	[ -f /tmp/opensm.1/opensm.log ] && tail -n 20 /tmp/opensm.1/opensm.log >&2
	exit 1
}

say "Two hosts on one Ethernet; one command on each"
hosts_make 2
show h 1 pibctl add pib0 netdev eth0
show h 2 pibctl add pib1 netdev eth0
show rdma link

say "A subnet manager on one of them"
printf '\n$ opensm -g 0x%s -B\n' "$(port_attr 1 gids/0 | tr -d : | tail -c 17)"
sm_start 1
wait_for 60 sm_log_has 1 "SUBNET UP" || fail "OpenSM did not bring the subnet up"
grep -m1 "SUBNET UP" /tmp/opensm.1/opensm.log
wait_active 30 || fail "a port is not Active"
show h 1 ibstat pib0
show h 2 ibstat pib1
show h 1 ibnetdiscover -C pib0
show h 1 pibctl show
show h 1 pibctl show links

# both PROGRAM ARGS...: server on host 1, client on host 2
both() {
	printf '\n$ %s	# on both hosts\n' "$*"
	pair 1 2 120 "$@" || fail "$1 failed"
	cat /tmp/pair.client
}
say "Verbs between the hosts"
both ibv_rc_pingpong
both ibv_ud_pingpong
both ib_write_bw -F -n 1000
both ib_read_bw -F -n 1000
both ib_send_bw -F -n 1000

say "Manners: what a program does that no verbs program should"
printf '\n$ pibctl manners ibv_srq_pingpong\t# the client, without it, on host 2\n'
h 1 pibctl manners ibv_srq_pingpong -d pib0 >/tmp/manners 2>&1 & manners=$!
wait_for 60 h 1 sh -c "ss -Hltn | grep -q ':18515 '" || fail "ibv_srq_pingpong does not listen"
h 2 ibv_srq_pingpong -d pib1 10.77.0.1 >/dev/null || fail "ibv_srq_pingpong failed"
wait $manners || fail "pibctl manners failed"
cat /tmp/manners

say "IPoIB"
for k in 1 2; do
	dev=$(ipoib "$k")
	wait_for 10 ip link show "$dev" || fail "no IPoIB interface"
	ip link set "$dev" netns "h$k"
	h "$k" ip addr add "10.78.0.$k/24" dev "$dev"
	h "$k" ip link set "$dev" up
done
wait_for 20 h 1 ping -c1 -W1 10.78.0.2 || fail "no answer over IPoIB"
show h 1 ping -c 10 -i 0.2 10.78.0.2 | tee /tmp/ping
grep -q " 0% packet loss" /tmp/ping || fail "packets lost over IPoIB"

say "rdma-cm"
h 2 timeout $((60 * ${PIB_SLOW:-1})) rping -s -a 10.78.0.2 -C 100 >/dev/null 2>&1 &
printf '\n$ rping -c -a 10.78.0.2 -C 100 -v\n'
# Until the server listens.
rping_client() { h 1 timeout $((30 * ${PIB_SLOW:-1})) rping -c -a 10.78.0.2 -C 100 -v -V >/tmp/rping 2>&1; }
wait_for 30 rping_client || fail "rping failed"
head -n 3 /tmp/rping
echo "..."
tail -n 1 /tmp/rping
echo "rping: $(grep -c 'ping data' /tmp/rping) of 100 exchanges, data verified"

say "Done: the subnet is up and carries traffic"
if [ -t 0 ]; then
	echo "A shell on host 1 (ip netns exec h2 bash: host 2). exit ends the lab."
	ip netns exec h1 bash || :
fi
hosts_clean

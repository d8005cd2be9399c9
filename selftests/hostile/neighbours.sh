#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Two users of one host, of whom one means ill. The other one's traffic, whose every byte is looked at, his
# new objects and the host's IPoIB must go on, whatever he does:
#
#	 h1: nobody (attacks), somebody (works)	 h2
#	 pib0, ib0 ------------------------------ pib1, ib1	ping over IPoIB
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
trap 'kill $(jobs -p) 2>/dev/null; hosts_clean' EXIT
[ $# -gt 0 ] || set -- smi tables memory groups local doorbells flood pages peer
attacks=("$@")
slice=$((seconds / ${#attacks[@]} > 8 ? seconds / ${#attacks[@]} : 8))
cage=/sys/fs/cgroup/nobody

ipoib_up() {
	local k name
	for k in 1 2; do
		name=$(ipoib $k)
		wait_for 20 ip link show "$name" || h $k ip link show "$name" || return 1
		ip link set "$name" netns h$k
		h $k ip addr add 10.78.0.$k/24 dev "$name" && h $k ip link set "$name" up || return 1
	done
	wait_for 60 h 1 ping -c1 -W1 10.78.0.2
}

# As an administrator would have it: what a user takes is his own.
in_cage() {
	echo $BASHPID >$cage/cgroup.procs
	exec "$@"
}
make_cage() {
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control
	mkdir -p $cage && echo 400M >$cage/memory.max && echo 0 >$cage/memory.swap.max 2>/dev/null
	[ -e $cage/memory.max ]
}

# attack NAME: for one slice. A process that is killed for the memory that it took has got its due.
attack() {
	(in_cage ip netns exec h1 pib-hostile attack --what "$1" --dev pib0 --seed "$seed" --seconds $slice) >/tmp/attack 2>&1 &
	local attacker=$! victim
	h 1 pib-hostile victim --dev pib0 --seed "$seed" --seconds $slice >/tmp/victim 2>&1 & victim=$!
	h 1 ping -i 0.3 -W 20 -w $((slice / 2)) 10.78.0.2 >/tmp/ping 2>&1
	ipoib_down_up >/tmp/down_up 2>&1; down_up_status=$?
	wait $attacker; attacker_status=$?
	wait $victim; victim_status=$?
	[ $attacker_status != 137 ] || attacker_status=0
	sed "s/^/# $1: /" /tmp/attack
	sed "s/^/# victim: /" /tmp/victim
	grep transmitted /tmp/ping | sed 's/^/# /'
}
attack_fails() { cat /tmp/attack; [ "$attacker_status" = 0 ]; }
victim_works() { cat /tmp/victim; [ "$victim_status" = 0 ]; }
ping_goes_on() {
	cat /tmp/ping /tmp/down_up
	echo "down and up: $down_up_status"
	grep -Eq " [1-9][0-9]* received" /tmp/ping && [ "$down_up_status" = 0 ]
}
ipoib_down_up() {
	timeout 60 ip -n h1 link set ib0 down && timeout 60 ip -n h1 link set ib0 up && wait_for 60 h 1 ping -c1 -W1 10.78.0.2
}

ktap_plan $((2 + 3 * ${#attacks[@]} + AFTER))
hosts_make 2
pib_add 1 && pib_add 2 && sm_start 1 && wait_active 90 || bail "no ports"
check "IPoIB comes up" ipoib_up
check "a group with a memory limit for nobody" make_cage
before
for name in "${attacks[@]}"; do
	attack "$name"
	check "$name: the attack runs, and gets nothing that it may not have" attack_fails
	check "$name: another user's traffic, memory and objects" victim_works
	check "$name: IPoIB goes on, and down and up" ping_goes_on
done
after
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Pairs of hosts over bad cables, a pair for each level of loss, all at the same time:
#
#	 h1        h2		 h3        h4
#	 eth0 ---- eth0		 eth0 ---- eth0
#	 pib0      pib1		 pib2      pib3
#	   1 % loss		  10 % loss
#
# pib-soak drives every opcode over them, compares every byte and accounts for every completion.
#
#	soak.sh [MINUTES [LOSS]...]
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap hosts_clean EXIT
LAYOUT=netns
minutes=${1:-1}
[ $# = 0 ] || shift
[ $# -gt 0 ] || set -- 1 10
losses=("$@")
HOSTS=$((2 * ${#losses[@]}))

# A cable that loses LOSS %, and beside that doubles, reorders and corrupts, either way. From the
# first host on packets come one by one, from the second one as super-packets, lost as a whole.
bad_cable() {
	local a=$1 loss=$2 k
	h "$a" ethtool -K eth0 gso off tx-udp-segmentation off || return 1
	for k in "$a" $((a + 1)); do
		h "$k" tc qdisc replace dev eth0 root netem limit 20000 delay 500us 100us loss "$loss%" duplicate 1% corrupt 0.5% \
			reorder 95% 50% || return 1
	done
}

make_pair() {
	local a=$1 b=$(($1 + 1)) k
	for k in $a $b; do ip netns add "h$k"; done
	ip link add "veth$a" type veth peer name "veth$b"
	for k in $a $b; do host_take "$k" "veth$k"; done
	for k in $a $b; do host_net_up "$k"; done
	pib_add "$a" standalone && pib_add "$b" standalone
}

# soak PAIR'S FIRST HOST, LOSS: its output to /tmp/soak.LOSS. Retries may be used up now and then: of
# eight tries in a row all are lost, or the machine has been busy with other things for a second.
soak() {
	rm -f "/tmp/soak.$2.status"
	pib-soak --dev "$(dev "$1")" --peer "$(dev $(($1 + 1)))" --seconds $((minutes * 60)) --may-fail >"/tmp/soak.$2" 2>&1
	echo $? >"/tmp/soak.$2.status"
}

netem_acts() { h "$1" tc -s qdisc show dev eth0 | grep -Eq "dropped [1-9]"; }
verdict() { cat "/tmp/soak.$1"; return "$(cat "/tmp/soak.$1.status")"; }

ktap_plan $((2 * ${#losses[@]} + 1))
modprobe -a ib_uverbs sch_netem
a=1
for loss in "${losses[@]}"; do make_pair $a && bad_cable $a "$loss" || { echo "Bail out! no hosts"; exit 1; }; a=$((a + 2)); done
check "all ports ACTIVE" wait_active 60
a=1
for loss in "${losses[@]}"; do
	soak $a "$loss" &
	a=$((a + 2))
done
wait
a=1
for loss in "${losses[@]}"; do
	check "$loss % loss: every byte right, every completion once, nothing hangs" verdict "$loss"
	sed 's/^/# /' "/tmp/soak.$loss"
	for k in $a $((a + 1)); do rdma -p statistic show link "$(dev "$k")/1"; h "$k" pibctl show links; done 2>&1 | sed 's/^/# /'
	check "$loss % loss: the cable lost packets" netem_acts $a
	a=$((a + 2))
done
ktap_end

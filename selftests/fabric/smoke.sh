#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The short run for every kernel: module by DKMS, subnet up, RC and UD traffic, IPoIB.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap hosts_clean EXIT

ktap_plan 9
by_dkms() { dkms status pib | grep "$(uname -r)" | grep -q installed && modinfo -n pib | grep -q "$(uname -r)/updates/dkms"; }
check "the module was installed by DKMS" by_dkms
hosts_make 2
check "pibctl add on two hosts" sh -c "ip netns exec h1 pibctl add pib0 netdev eth0 && ip netns exec h2 pibctl add pib1 netdev eth0"
sm_start 1
check "subnet up, both ports ACTIVE" wait_active 60
check "ibv_rc_pingpong" pair 1 2 60 ibv_rc_pingpong
check "ibv_ud_pingpong" pair 1 2 60 ibv_ud_pingpong
check "ib_write_bw" pair 1 2 60 ib_write_bw -F -n 500
# The programs of pair here: a server that stays, and a client that fails at once.
cat >/tmp/stays <<'END'
#!/bin/sh
[ $# = 2 ] || { sleep 0.5; exit 1; }
exec sleep 1234
END
chmod +x /tmp/stays
leaves_no_server() {
	! pair 1 2 60 /tmp/stays || return 1
	! pgrep -af 'sleep 1234'
}
check "of a pair whose client fails nothing is left" leaves_no_server
ping_ok() {
	local k
	for k in 1 2; do
		wait_for 10 ip link show "ib$((k - 1))" || return 1
		ip link set "ib$((k - 1))" netns "h$k" && h "$k" ip addr add "10.78.0.$k/24" dev "ib$((k - 1))" &&
			h "$k" ip link set "ib$((k - 1))" up || return 1
	done
	wait_for 60 h 1 ping -c1 -W1 10.78.0.2
	h 1 ping -c 10 -i 0.1 10.78.0.2 | grep " 0% packet loss"
}
check "ping over IPoIB" ping_ok
check "del" sh -c "pkill -x opensm; ip netns exec h1 pibctl del pib0 && ip netns exec h2 pibctl del pib1"
ktap_end

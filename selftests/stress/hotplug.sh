#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# CPUs go and come under traffic: `vm/run --smp 3 ... stress/hotplug.sh [ROUNDS [SEED]]`.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap 'online_all; kill $(jobs -p) 2>/dev/null; hosts_clean' EXIT
LAYOUT=netns
rounds=${1:-20}
RANDOM=${2:-$RANDOM}
cpus=$(nproc --all)

online() { echo "$2" >"/sys/devices/system/cpu/cpu$1/online"; }
online_all() { for ((cpu = 1; cpu < cpus; cpu++)); do online $cpu 1; done; } 2>/dev/null
sent() { cat "/sys/class/infiniband/$1/ports/1/counters/port_xmit_packets"; }
sent_more() { [ "$(sent "$1")" -gt "$2" ]; }
flows() { wait_for 20 sent_more "$1" "$(sent "$1")"; }

# Both ends of each go on until they are stopped.
listening() { h 1 ss -Hltn "sport = :$1" | grep -q .; }
traffic() {
	h 1 ib_write_bw -d pib0 -F -D 3600 -q 4 >/tmp/write.1 2>&1 &
	h 1 ib_send_bw -d pib0 -F -D 3600 -p 19000 -e >/tmp/send.1 2>&1 &
	wait_for 20 listening 18515 && wait_for 20 listening 19000 || return 1
	h 2 ib_write_bw -d pib1 -F -D 3600 -q 4 "$(addr4 1)" >/tmp/write.2 2>&1 &
	h 1 ib_send_bw -d pib0 -F -D 3600 -p 19000 -e "$(addr4 1)" >/tmp/send.2 2>&1 &
	flows pib0 && flows pib1
}
no_traffic() {
	pkill -x ib_write_bw
	pkill -x ib_send_bw
	wait_for 20 eval '! pgrep -x "ib_write_bw|ib_send_bw"'
}

# A device that is made while a CPU is missing counts those that are there.
plug() {
	local i cpu
	for ((i = 0; i < rounds; i++)); do
		cpu=$((1 + RANDOM % (cpus - 1)))
		online $cpu 0 || return 1
		if [ $((i % 5)) = 0 ]; then
			h 2 pibctl add pibx netdev eth0 && h 2 pibctl del pibx || return 1
		fi
		sleep "0.$((RANDOM % 10))"
		online $cpu 1 || return 1
		flows pib1 || { echo "round $i: nothing moves"; return 1; }
	done
}

[ "$cpus" -ge 2 ] || { echo "1..0 # SKIP one CPU"; exit 4; }
ktap_plan 7
hosts_make 2
pib_add 1 standalone && pib_add 2 standalone
check "ACTIVE" wait_active 30
check "traffic begins" traffic
check "$rounds rounds: CPUs go and come, and it goes on" plug
check "pib0 still sends" flows pib0
check "the programs can be stopped" no_traffic
check "a new pair of programs" pair 1 2 60 ibv_rc_pingpong
hosts_clean
check "the module can be unloaded" wait_for 20 modprobe -r pib
ktap_end

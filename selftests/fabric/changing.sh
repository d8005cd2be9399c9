#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Memory that is read by RDMA READ while its owner writes it: what bytes arrive is anybody's guess, but they arrive, with an ICRC
# that is theirs. Through a pibnetd with "icrc", since two kernels do without the ICRC.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/programs.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/netd.sh"
trap 'kill "$writer"; netd_clean' EXIT
writer=''
file=/dev/shm/changing

file_make() { head -c $((1 << 20)) /dev/zero >$file; }
counter() { h "$1" pibctl -j show uplinks | jq "[.. | objects | .$2? // empty] | add // 0"; }
# Both ends have the file for a buffer; the server's is what is read.
reads() { pair 1 2 120 ib_read_bw -F -s 65536 -n 500 --mmap=$file; }
# heard FILTER: how many datagrams of data host 2 has had by it. Version and type are the first byte of what UDP carries, flags
# the second.
heard() { tcpdump -nr $netd/data.pcap "udp and dst host 10.77.0.2 and (udp[8] = 0x20 or udp[8] = 0x25) and $1" 2>/dev/null | wc -l; }
reads_overheard() {
	local rc=0 ear
	ip netns exec h2 tcpdump -ni eth0 -s 64 -c 2000 -w $netd/data.pcap -Z root udp port 18514 >$netd/ear 2>&1 &
	ear=$!
	wait_for 20 grep -q "listening on" $netd/ear && reads || rc=1
	kill $ear 2>/dev/null	# unless it has heard enough
	wait $ear
	return $rc
}
none_without() { echo "with $(heard "udp[9] & 1 = 0"), without $(heard "udp[9] & 1 = 1")"; [ "$(heard "udp[9] & 1 = 0")" -gt 100 ] && [ "$(heard "udp[9] & 1 = 1")" = 0 ]; }
writer_runs() { kill -0 "$writer"; }
intact() { counter "$1" rx_bad_icrc; [ "$(counter "$1" rx_bad_icrc)" = 0 ]; }

ktap_plan 10
netd_init
bridge bridge0
cable h1 eth0 bridge0 10.77.0.1/24
cable h2 eth0 bridge0 10.77.0.2/24
cable sw eth0 bridge0 10.77.0.9/24
HOSTS=2
echo '{ "listen": ["0.0.0.0"], "icrc": true, "switches": [ { "name": "net0", "ports": 4 } ] }' >$netd/config.json
netd_start
check "the daemon starts" netd_answers
check "host 1 joins" pib_add 1 peer 10.77.0.9
check "host 2 joins" pib_add 2 peer 10.77.0.9
sm_start 1
check "subnet up" wait_active 60
check "what writes compiles" program changing /tmp/changing
check "a file to write to" file_make
/tmp/changing $file &
writer=$!
check "it is read while it is written" reads_overheard
check "by somebody who still writes" writer_runs
check "packets come with an ICRC" none_without
check "every packet's ICRC is right" intact 2
ktap_end

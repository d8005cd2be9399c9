#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# RDS over InfiniBand between two hosts: reliable datagrams of many sizes, there and back, compared.
#
#	vm/run --hosts 2 ... consumers/rds.sh
set -u
here=$(dirname "$0")
. "$here/lib.sh"

ktap_plan 8
subnet_with_ipoib
for k in 1 2; do h $k modprobe rds_rdma; done
to=$(ib_addr 2)
echoes() { both 60 python3 "$here/rds.py" echo "$to" -- python3 "$here/rds.py" ask "$(ib_addr 1)" "$to"; }
shown "RDS (rds_rdma)" kernel "messages of 1 byte to 64 KiB, echoed: the same bytes" echoes
# RDS over TCP would go through IPoIB. The sum of rds.py's sizes leaves host 1 once, and by the port alone.
messages=936150
by_port() { echo $(($(port_attr 1 counters/port_xmit_data) * 4)); }
by_ip() { cat /sys/class/net/ib0/statistics/tx_bytes; }
by_rdma() {
	local port ip
	port=$(by_port) ip=$(by_ip)
	echoes || return 1
	port=$(($(by_port) - port)) ip=$(($(by_ip) - ip))
	echo "the port has sent $port bytes, IPoIB $ip"
	[ $port -ge $messages ] && [ $ip -lt $((messages / 10)) ]
}
shown "RDS (rds_rdma)" kernel "the same again, over RDMA, on the connection that is there" by_rdma
# The cable is pulled under messages and put back: all of them arrive, once and as they were.
cable_out() {
	local asker echoer rc=0
	h 2 timeout 200 python3 "$here/rds.py" echo "$to" >/tmp/server 2>&1 & echoer=$!
	sleep $((2 * ${PIB_SLOW:-1}))
	rm -f /tmp/enough
	timeout 200 python3 "$here/rds.py" ask "$(ib_addr 1)" "$to" /tmp/enough >/tmp/client 2>&1 & asker=$!
	wait_for 20 has_sent $(($(by_port) + messages)) || rc=1
	ip link set eth0 down || rc=1
	sleep "$1"
	kill -0 $asker || { echo "the messages have ended while the cable was out"; rc=1; }
	touch /tmp/enough
	ip link set eth0 up || rc=1
	wait $asker || { echo "not all messages came back"; rc=1; }
	wait $echoer || rc=1
	[ $rc = 0 ] || cat /tmp/client /tmp/server
	return $rc
}
has_sent() { [ "$(by_port)" -ge "$1" ]; }
shown "RDS (rds_rdma)" kernel "the cable out for 5 s under messages: the same bytes" cable_out 5
check "rds_rdma and pib can be unloaded" all_unloaded rds_rdma rds
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# RDS over InfiniBand between two hosts: reliable datagrams of many sizes, there and back, compared.
#
#	vm/run --hosts 2 ... consumers/rds.sh
set -u
here=$(dirname "$0")
. "$here/lib.sh"

ktap_plan 7
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
check "rds_rdma and pib can be unloaded" all_unloaded rds_rdma rds
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# RDS over InfiniBand between two hosts: reliable datagrams of many sizes, there and back, compared.
#
#	vm/run --hosts 2 ... consumers/rds.sh
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/ipoib.sh"
. "$here/../lib/compat.sh"
trap hosts_clean EXIT

ktap_plan 8
subnet_with_ipoib
for k in 1 2; do h $k modprobe rds_rdma; done
to=$(ib_addr 2)
echoes() { both 60 python3 "$here/rds.py" echo "$to" -- python3 "$here/rds.py" ask "$(ib_addr 1)" "$to"; }
shown "RDS (rds_rdma)" kernel "messages of 1 byte to 64 KiB, echoed: the same bytes" echoes
# rdma-cm has made its QP.
by_ib() { rdma resource show qp | grep "type RC" | grep "rdma_cm\|rds" || { rdma resource show qp; return 1; }; }
check "they go over RDMA" by_ib
shown "RDS (rds_rdma)" kernel "the same again, on the connection that is there" echoes
ends() {
	for k in 1 2; do modules_gone $k rds_rdma rds || return 1; done
	hosts_clean
	for k in 1 2; do modules_gone $k pib || return 1; done
}
check "rds_rdma and pib can be unloaded" ends
ktap_end

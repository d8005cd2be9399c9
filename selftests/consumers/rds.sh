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
# rdma-cm has made its QP.
by_ib() { rdma resource show qp | grep "type RC" | grep "rdma_cm\|rds" || { rdma resource show qp; return 1; }; }
check "they go over RDMA" by_ib
shown "RDS (rds_rdma)" kernel "the same again, on the connection that is there" echoes
check "rds_rdma and pib can be unloaded" all_unloaded rds_rdma rds
ktap_end

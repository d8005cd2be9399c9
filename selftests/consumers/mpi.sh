#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# MPI between two hosts: Open MPI and MPICH, over UCX's and libfabric's verbs transports, with 2, 4 and 8 ranks.
# That the messages take no other way is seen by the port's counters.
#
#	vm/run --hosts 2 --packages openmpi-bin,libopenmpi-dev,mpich,libmpich-dev,ucx-utils ... consumers/mpi.sh
set -u
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/../lib/mpi.sh"

ktap_plan 27
subnet_with_ipoib
ulimit -l unlimited
built() {
	mpicc.openmpi -O1 -o /tmp/mpi.openmpi "$here/mpi.c" && mpicc.mpich -O1 -o /tmp/mpi.mpich "$here/mpi.c" &&
		mpi_there /tmp/mpi.openmpi && mpi_there /tmp/mpi.mpich && mpi_agent
}
check "the test program, by Open MPI's compiler and MPICH's" built

octets() { echo $(($(port_attr 1 counters/port_xmit_data) * 4)); }
# by_port COMMAND...: the command says that all is right, and 40 MiB and more have left by the port
by_port() {
	local before rc=0
	before=$(octets)
	"$@" >/tmp/mpi.raw 2>&1 || rc=$?
	tr -d '\0' </tmp/mpi.raw >/tmp/mpi.out
	if [ $rc != 0 ] || ! grep -q "all right" /tmp/mpi.out; then
		echo "status $rc"
		tail -n 30 /tmp/mpi.out
		return 1
	fi
	sed -n 's/.*ranks, \(.*\)/\1/p' /tmp/mpi.out >/tmp/figure
	[ $(($(octets) - before)) -gt $((40 << 20)) ] || { echo "the port has sent $(($(octets) - before)) bytes"; return 1; }
}
openmpi() { by_port openmpi_run 120 "$@"; }
ucx() { openmpi "$1" -x UCX_TLS="$2" -x UCX_NET_DEVICES=pib0:1 --mca pml ucx /tmp/mpi.openmpi "${@:3}"; }
# Open MPI takes osc/ucx by itself on HCAs of Mellanox alone, and UCX's strong fence wants what only their transports have
# (ends.table).
one_sided() {
	ucx_one_sided "$@" || return 1
	! grep -a "UCX *ERROR" /tmp/mpi.out
}
ucx_one_sided() {
	openmpi "$1" -x UCX_TLS=rc_v,self,sm -x UCX_NET_DEVICES=pib0:1 -x UCX_FENCE_MODE=weak --mca pml ucx --mca osc ucx \
		/tmp/mpi.openmpi
}
mpich() {
	by_port timeout $((120 * ${PIB_SLOW:-1})) mpirun.mpich -launcher ssh -launcher-exec /tmp/agent -hosts host1,host2 -ppn $(($1 / 2)) -np "$1" \
		-genv UCX_TLS "$2" -genv UCX_NET_DEVICES pib0:1 /tmp/mpi.mpich
}
for ranks in 2 4 8; do
	shown "Open MPI, UCX" openmpi-bin "$ranks ranks, rc_v, two-sided" ucx $ranks rc_v,self,sm two-sided
done
shown "Open MPI, UCX" openmpi-bin "4 ranks, ud_v, two-sided" ucx 4 ud_v,self,sm two-sided
for ranks in 2 4; do
	shown "Open MPI, UCX" openmpi-bin "$ranks ranks, rc_v, one-sided (osc ucx, UCX_FENCE_MODE=weak)" one_sided $ranks
done
shown "Open MPI, libfabric" openmpi-bin "4 ranks, verbs;ofi_rxm, two-sided" \
	openmpi 4 --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include "verbs;ofi_rxm" /tmp/mpi.openmpi two-sided
for ranks in 2 4 8; do
	shown "MPICH, UCX" mpich "$ranks ranks, rc_v" mpich $ranks rc_v,self,sm
done
shown "MPICH, UCX" mpich "4 ranks, ud_v" mpich 4 ud_v,self,sm

# UCX's own program, which Debian has built with MPI.
perftest() {
	local way=$1
	shift
	timeout $((90 * ${PIB_SLOW:-1})) mpirun.openmpi --allow-run-as-root --host host1,host2 -np 2 --leave-session-attached \
		--prtemca plm_ssh_agent /tmp/agent -x "UCX_TLS=$way,self" -x UCX_NET_DEVICES=pib0:1 --mca pml ^ucx --mca osc ^ucx \
		ucx_perftest -t "$1" -s "$2" -n 500 -w 50 >/tmp/perftest.out 2>&1 || { tail -n 30 /tmp/perftest.out; return 1; }
	awk '/Final:/ { print $4 " us, " $6 " MB/s" }' /tmp/perftest.out >/tmp/figure
	[ -s /tmp/figure ] || { cat /tmp/perftest.out; return 1; }
}
for way in rc_v ud_v; do
	for test in "tag_lat 8" "tag_bw 65536" "ucp_put_bw 65536" "ucp_get 4096" "ucp_am_lat 8"; do
		# shellcheck disable=SC2086
		shown "UCX" ucx-utils "ucx_perftest $test, $way" perftest $way $test
	done
done
check "pib can be unloaded on both" all_unloaded
ktap_end

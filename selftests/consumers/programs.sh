#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Libraries and programs over verbs that are neither rdma-core's nor MPI, between two hosts: libfabric, UCX, qperf, uDAPL.
#
#	vm/run --hosts 2 --packages libfabric-bin,ucx-utils,qperf,dapl2-utils ... consumers/programs.sh
set -u
here=$(dirname "$0")
. "$here/lib.sh"

ktap_plan 21
subnet_with_ipoib
ulimit -l unlimited
to=$(ib_addr 2)

fabric_info() { fi_info -p verbs | grep -q "domain: pib0"; }
shown "libfabric" libfabric-bin "fi_info -p verbs" fabric_info
pingpong() { both 120 fi_pingpong -p "$1" -e "$2" -c -I 20 -- fi_pingpong -p "$1" -e "$2" -c -I 20 "$to"; }
shown "libfabric" libfabric-bin "fi_pingpong, verbs, msg, contents compared" pingpong verbs msg
shown "libfabric" libfabric-bin "fi_pingpong, verbs;ofi_rxm, contents compared" pingpong "verbs;ofi_rxm" rdm
shown "libfabric" libfabric-bin "fi_pingpong, verbs;ofi_rxd, contents compared" pingpong "verbs;ofi_rxd" rdm
shown "libfabric" libfabric-bin "fi_pingpong, verbs, dgram" pingpong verbs dgram

ucx_sees() { ucx_info -d | grep -A2 "Transport: $1" | grep -q "Device: pib0:1"; }
for way in rc_verbs ud_verbs; do shown "UCX" ucx-utils "ucx_info -d: $way" ucx_sees $way; done
# qperf: the server serves all of them
measured() {
	timeout $((60 * ${PIB_SLOW:-1})) qperf -t 2 "$to" "$1" >/tmp/qperf 2>&1 || { cat /tmp/qperf; return 1; }
	awk '/latency|bw|msg_rate|rate/ && / = / { print $3, $4; exit }' /tmp/qperf >/tmp/figure
	[ -s /tmp/figure ] || { cat /tmp/qperf; return 1; }
}
h 2 sh -c 'ulimit -l unlimited; exec qperf' >/dev/null 2>&1 & qperf_server=$!
sleep $((3 * ${PIB_SLOW:-1}))
for test in rc_bw rc_lat uc_bw ud_lat rc_rdma_read_bw rc_rdma_write_lat ver_rc_compare_swap ver_rc_fetch_add; do
	shown qperf qperf "$test" measured $test
done
h 2 pkill -x qperf
wait $qperf_server

dapl() {
	printf 'ofa-v2-ib0 u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "ib0 0" ""\n' >/etc/dat.conf
	h 2 sh -c 'cat >/etc/dat.conf' </etc/dat.conf
	# Their status is 0 also when they have failed.
	both 120 dtest -P ofa-v2-ib0 -b 65536 -B 5 -- sh -c "sleep 5; dtest -P ofa-v2-ib0 -b 65536 -B 5 -h $to" &&
		grep "DAPL Test Complete. PASSED" /tmp/client && grep "DAPL Test Complete. PASSED" /tmp/server
}
shown "uDAPL" dapl2-utils "dtest" dapl
check "pib can be unloaded on both" all_unloaded
ktap_end

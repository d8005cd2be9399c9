#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pibctl's tools beside what others wrote: a disk over NVMe that is written to and read, and an MPI job. Each tool sees
# its queue pairs, and the bytes are the same.
#
#	vm/run --hosts 2 --packages openmpi-bin,libopenmpi-dev,tshark ... consumers/tools.sh
set -u
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/../lib/mpi.sh"
. "$here/../lib/disk.sh"
disks='/dev/nvme[0-9]*n1'
dir=/tmp/tools
mkdir -p $dir

ktap_plan 31
subnet_with_ipoib
ulimit -l unlimited

# ---- a disk ----

disconnect() {
	local controller
	for controller in /sys/class/nvme/nvme[0-9]*; do [ ! -e "$controller" ] || echo 1 >"$controller/delete_controller"; done
	wait_for 20 disk_gone
}
modprobe nvme-rdma
check "host 2 exports a disk" h 2 "$here/nvmet" start "$(ib_addr 2)"
check "host 1 connects" sh -c "echo transport=rdma,traddr=$(ib_addr 2),trsvcid=4420,nqn=pib >/dev/nvme-fabrics"
check "the disk is there" wait_for 20 disk_there

# Its queue pairs: connected ones of the kernel.
disk_qps() { pibctl -j show objects pib0 kind qp | jq -r '.objects[] | select(.type == "RC" and .state == "RTS" and .pid == null) | .qpn'; }
each_qp() {
	local qp n=0
	for qp in $(disk_qps); do "${@//QP/$qp}" || return 1; n=$((n + 1)); done
	[ $n -ge 2 ] || { pibctl show objects pib0 kind qp; return 1; }
}
instances() { compgen -G '/sys/kernel/tracing/instances/pibctl-*'; }
# beside COMMAND...: it runs while the disk is written to and read, and ends well by SIGTERM
beside() {
	local tool rc=0
	"$@" >$dir/out 2>$dir/err & tool=$!
	[[ "$*" != *trace* ]] || wait_for 30 instances || rc=1
	write_and_read 16384 || rc=1
	kill $tool
	wait $tool || rc=1
	[ $rc = 0 ] || tail -n 5 $dir/out $dir/err
	return $rc
}
said() { jq -s -e "$1" $dir/out >/dev/null || { head -n 5 $dir/out; return 1; }; }
decoded() {
	local n
	n=$(tshark -r $dir/disk.pcapng -Y "$1" 2>/dev/null | grep -c .)
	test "$n" "${@:2}" || { echo "$n of them"; tshark -r $dir/disk.pcapng | head -n 20; return 1; }
}
acted() { [ "$(pibctl -j show injections | jq '[.injections[].done] | add // 0')" -gt 0 ] || { pibctl show injections; return 1; }; }
# suffers WORDS...: it happens to each of the queue pairs, and the bytes are the same
suffers() {
	local rc=0
	each_qp pibctl inject pib0 qp QP "$@" && write_and_read 16384 && acted || rc=1
	pibctl inject del pib0 all
	return $rc
}

check "disk: explain" each_qp pibctl explain pib0 qp QP
check "disk: capture" beside pibctl capture pib0 -w $dir/disk.pcapng
check "disk: the target's READs are in it" decoded "infiniband.bth.opcode == 12" -gt 100
check "disk: and SENDs that invalidate a key" decoded "infiniband.bth.opcode == 23" -gt 100
check "disk: nothing is malformed" decoded _ws.malformed = 0
check "disk: trace" beside pibctl -j trace pib0
check "disk: what was posted, and completed" said '[.[].event] | index("wr_posted") and index("completion")'
check "disk: top" beside pibctl -j top kind qp --interval 0.5
check "disk: its queue pairs move" said '[.[].qps[].sends] | max > 10'
check "disk: monitor" beside pibctl -j monitor
# One at a time: the initiator waits for so many timeouts, and gives up after five seconds.
check "disk: packets are lost" suffers drop 1 after 20
check "disk: requests are refused for now" suffers rnr 2
check "disk: packets are late" suffers delay 20ms count 5
check "disk: behaviors by chance" pibctl set pib0 behavior random seed 3
check "disk: the same bytes" write_and_read 16384
pibctl set pib0 behavior none
check "disk: a queue pair fails, the initiator connects anew" pibctl inject pib0 qp "$(disk_qps | tail -n 1)" error
check "disk: the same bytes then" wait_for 60 write_and_read 16384
check "it is disconnected" disconnect

# ---- MPI ----

built() { mpicc.openmpi -O1 -o /tmp/mpi.openmpi "$here/mpi.c" && mpi_there /tmp/mpi.openmpi && mpi_agent; }
# job [TOOL...]: each rank is started by the tool
job() {
	openmpi_run 120 2 -x UCX_TLS=rc_v,self -x UCX_NET_DEVICES=pib0:1 --mca pml ucx "$@" /tmp/mpi.openmpi two-sided \
		>$dir/job 2>&1 && tr -d '\0' <$dir/job | grep -q "all right" || { tail -n 20 $dir/job; return 1; }
}
traced_job() {
	local tool rc=0
	pibctl -j trace pib0 event verb event completion >$dir/out 2>$dir/err & tool=$!
	wait_for 30 instances && job || rc=1
	kill $tool
	wait $tool || rc=1
	return $rc
}
# Something was seen of each rank, be it bad or not.
reported() {
	tr -d '\0' <$dir/job >$dir/report
	grep -Eq "^(nothing was found|[a-z-]+: [0-9]+ times?)" $dir/report && ! grep -q "no verbs" $dir/report || { tail -n 40 $dir/report; return 1; }
}
check "MPI: the program" built
check "MPI: under manners, unchanged" job pibctl manners
check "MPI: a report" reported
check "MPI: trace" traced_job
check "MPI: its verbs are in it" said '[.[] | select(.event == "verb") | .verb] | index("create_qp") and index("reg_mr")'
gone() { h 2 "$here/nvmet" stop && modules_gone 1 nvme-rdma && modules_gone 2 nvmet-rdma && all_unloaded; }
check "pib can be unloaded on both" gone
ktap_end

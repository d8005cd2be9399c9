#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pibctl's tools beside what others wrote: a disk over NVMe that is written to and read, and mounted, and an MPI job. Each tool sees
# its queue pairs, and the bytes are the same. tools-programs.sh has rdma-core's examples and perftest.
#
#	vm/run --hosts 2 --packages openmpi-bin,libopenmpi-dev,tshark,e2fsprogs ... consumers/tools.sh
set -u
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/../lib/mpi.sh"
. "$here/../lib/disk.sh"
. "$here/../lib/beside.sh"
disks='/dev/nvme[0-9]*n1'

ktap_plan 63
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
# beside COMMAND...: it runs while the disk is written to and read, or what $does says is done, and ends well by SIGTERM
beside() {
	local tool rc=0
	"$@" >$dir/out 2>$dir/err & tool=$!
	[[ "$*" != *trace* ]] || wait_for 30 instances || rc=1
	${does:-write_and_read 16384} || rc=1
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

check "disk: capture" beside pibctl capture pib0 -w $dir/disk.pcapng
check "disk: the target's READs are in it" decoded "infiniband.bth.opcode == 12" -gt 100
check "disk: and SENDs that invalidate a key" decoded "infiniband.bth.opcode == 23" -gt 100
check "disk: nothing is malformed" decoded _ws.malformed = 0
check "disk: trace" beside pibctl -j trace pib0
check "disk: what was posted, and completed" said '[.[].event] | index("wr_posted") and index("completion")'
# with_files COMMAND...: a file system is made, filled, and mounted again beside it
with_files() { local does=file_system; beside "$@"; }
check "disk: a file system, and a capture" with_files pibctl capture pib0 -w $dir/disk.pcapng
check "disk: what it reads and writes is in that" decoded "infiniband.bth.opcode == 12" -gt 5
check "disk: and the WRITEs of the target" decoded "infiniband.bth.opcode in {6, 10}" -gt 20
check "disk: nothing of it is malformed" decoded _ws.malformed = 0
check "disk: a file system, and a trace" with_files pibctl -j trace pib0
check "disk: what it has posted, and what completed" said '[.[].event] | index("wr_posted") and index("completion")'
# One at a time: the initiator waits for so many timeouts, and gives up after five seconds.
check "disk: packets are lost" suffers drop 1 after 20
check "disk: requests are refused for now" suffers rnr 2
check "disk: packets are late" suffers delay 20ms count 5
check "disk: behaviors by chance" pibctl set pib0 behavior random seed 3
check "disk: the same bytes" write_and_read 16384
pibctl set pib0 behavior none
# A process that writes has no verbs of its own: that is said.
looks_on() { pibctl manners dd if=/tmp/sent of="$(disk_path)" bs=64k count=16 oflag=direct conv=nocreat status=none; }
no_verbs() { looks_on >$dir/report && grep -qx "no verbs of pib's devices were seen" $dir/report || { cat $dir/report; return 1; }; }
check "disk: manners of who writes to it" no_verbs
mounted() { mke2fs -q -F -t ext4 "$(disk_path)" && mkdir -p /mnt/disk && mount "$(disk_path)" /mnt/disk && cp /tmp/sent /mnt/disk/file && sync; }
check "disk: a file system, mounted" mounted
# One CPU writes, so that one queue pair has it all but for the journal.
writing() { while [ ! -e $dir/enough ]; do taskset -c 0 dd if=/tmp/sent of=/mnt/disk/file bs=4k oflag=direct conv=notrunc status=none; done; }
rm -f $dir/enough
serve_begin
monitor_begin
# They are made by rdma_create_qp().
owner=rdma_cm far_owner=rdma_cm pid=0 posts='SEND|LOCAL_INV|REG_MR' packets=0..5,13..17 losses="6 every 4"
writing & writer=$!
tools_beside disk
touch $dir/enough
wait $writer
check "disk: the file has its bytes" cmp /tmp/sent /mnt/disk/file
check "disk: unmounted" umount /mnt/disk
check "disk: nobody writes, and serve says so" serve_idle
check "disk: the same bytes behind that" wait_for 60 write_and_read 16384
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
# Each rank has a report, in which nothing is found but what UCX does: its datagram interface deregisters the memory of receives that are posted.
reported() {
	tr -d '\0' <$dir/job | grep '^{"findings"' >$dir/report
	jq -s -e 'length == 2 and all(.seen and .unheard == 0 and ([.findings[].manner] - ["dereg-busy"]) == [])' $dir/report >/dev/null || { jq -c 'del(.findings[].explanation)' $dir/report; return 1; }
}
check "MPI: the program" built
check "MPI: under manners, unchanged" job pibctl -j manners
check "MPI: a report" reported
check "MPI: trace" traced_job
check "MPI: its verbs are in it" said '[.[] | select(.event == "verb") | .verb] | index("create_qp") and index("reg_mr")'
# A job that goes on: its rank here is process $pid.
begin_job() {
	openmpi_run 3000 2 -x UCX_TLS=rc_v,self -x UCX_NET_DEVICES=pib0:1 --mca pml ucx /tmp/mpi.openmpi two-sided 1000000 >$dir/job 2>&1 & job=$!
	wait_for 60 pgrep -x mpi.openmpi || cat $dir/job
	pid=$(pgrep -x mpi.openmpi)
}
owner=mpi.openmpi far_owner=mpi.openmpi posts='SEND|RDMA_READ|RDMA_WRITE' packets=0..17 losses="4 every 3"
check "MPI: IPoIB" wait_for 60 ping -c1 -W1 "$(ib_addr 2)"
begin_job
tools_beside MPI
kill $job
for k in 1 2; do h $k pkill -x mpi.openmpi; done
wait $job
check "MPI: ended, and serve says so" serve_idle
beside_end
chance() { local k; for k in 1 2; do h $k pibctl set pib0 behavior random seed 3 || return 1; done; }
check "MPI: behaviors by chance" chance
check "MPI: the same results" job
for k in 1 2; do h $k pibctl set pib0 behavior none; done
gone() { h 2 "$here/nvmet" stop && modules_gone 1 nvme-rdma && modules_gone 2 nvmet-rdma && all_unloaded; }
check "pib can be unloaded on both" gone
ktap_end

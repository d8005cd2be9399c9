#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# NVMe over RDMA between two hosts: host 2 exports a RAM disk, host 1 writes and reads it. The initiator registers
# memory by work requests (FRWR), which the target reads and writes; keys are invalidated by the peer.
#
#	vm/run --hosts 2 --packages e2fsprogs ... consumers/nvme.sh
set -u
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/../lib/disk.sh"
nvme="NVMe over RDMA (nvme-rdma, nvmet-rdma)"

ktap_plan 20
subnet_with_ipoib
modprobe nvme-rdma
alive=$((5 * ${PIB_SLOW:-1}))	# a controller lives that long without a keep-alive, s
connect() { echo "transport=rdma,traddr=$(ib_addr 2),trsvcid=4420,nqn=pib,keep_alive_tmo=$alive" >/dev/nvme-fabrics; }
# Its number may be another one each time.
disks='/dev/nvme[0-9]*n1'
disconnect() {
	local controller
	for controller in /sys/class/nvme/nvme[0-9]*; do
		[ ! -e "$controller" ] || echo 1 >"$controller/delete_controller"
	done
	wait_for 20 disk_gone
}
check "host 2 exports a disk" h 2 "$here/nvmet" start "$(ib_addr 2)"
check "host 1 connects" connect
check "the disk is there" wait_for 20 disk_there

for block in 512 4096 65536 1048576; do
	shown "$nvme" kernel "blocks of $block bytes: the same bytes there and back" write_and_read $block
done

# Several at a time, each a part of the disk of its own.
crowd() {
	local i disk pids=() rc=0
	disk=$(disk_path)
	for i in 0 1 2 3; do
		dd if=/tmp/sent of="$disk" bs=65536 seek=$((i * MiB * 16)) oflag=direct status=none & pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i" || rc=1; done
	for i in 0 1 2 3; do
		dd if="$disk" bs=65536 skip=$((i * MiB * 16)) count=$((MiB * 16)) iflag=direct status=none | cmp - /tmp/sent || rc=1
	done
	return $rc
}
shown "$nvme" kernel "four writers at a time: the same bytes" crowd
shown "$nvme" kernel "ext4: the same files after mounting again" file_system
# The controller does not live that long: the initiator connects again, and what was under way goes again.
shown "$nvme" kernel "the cable out for longer than a keep-alive under a writer" cable_out $((alive + 3))
check "disconnect" disconnect
check "connects again" connect
check "the disk is there again" wait_for 20 disk_there

# The HCA goes while the disk is written to: the writer gets an error, and nothing hangs.
under_writer() {
	local writer disk
	disk=$(disk_path)
	sent=$(port_attr 1 counters/port_xmit_packets)
	while dd if=/dev/zero of="$disk" bs=64k count=1024 oflag=direct conv=nocreat status=none 2>/dev/null; do :; done & writer=$!
	wait_for 10 has_sent || return 1
	timeout 60 pibctl del "$(dev 1)" || return 1
	disconnect || return 1
	wait $writer
	disk_gone
}
shown "$nvme" kernel "HCA deleted under a writer" under_writer
check "host 2 takes the disk back" h 2 "$here/nvmet" stop
ends() {
	modules_gone 1 nvme-rdma && modules_gone 2 nvmet-rdma && hosts_clean && modules_gone 1 pib && modules_gone 2 pib
}
check "nvme-rdma, nvmet-rdma and pib can be unloaded" ends
ktap_end

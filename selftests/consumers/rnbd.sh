#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# RNBD over RTRS between two hosts: host 2 exports a RAM disk, host 1 maps it, writes and reads. The modules are those
# of the kernel's own source, which Debian's kernels are built without (built/rnbd).
#
#	vm/run --hosts 2 --built consumers/built/rnbd --packages e2fsprogs ... consumers/rnbd.sh
set -u
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/../lib/disk.sh"
rnbd="RNBD, RTRS"

ktap_plan 17
subnet_with_ipoib
modules=/usr/local/lib/rnbd/$(uname -r)
# loads K SIDE: what the modules need is loaded by name, they themselves from where they are
loads() {
	local module
	h "$1" modprobe -a ib_core rdma_cm ib_cm || return 1
	for module in rtrs-core "rtrs-$2" "rnbd-$2"; do h "$1" insmod "$modules/$module.ko" || return 1; done
}
exports() { h 2 modprobe brd rd_nr=1 rd_size=$((64 * 1024)) && loads 2 server; }
disks='/dev/rnbd0'
control=/sys/devices/virtual/rnbd-client/ctl/map_device
maps() {
	echo "sessname=disk path=ip:$(ib_addr 1)@ip:$(ib_addr 2) device_path=/dev/ram0 access_mode=rw" >$control && wait_for 20 disk_there
}
unmaps() { echo normal >/sys/block/rnbd0/rnbd/unmap_device && wait_for 20 disk_gone; }

check "host 2 exports a disk" exports
check "host 1 loads the client" loads 1 client
shown "$rnbd" kernel "map" maps
for block in 512 4096 65536 1048576; do
	shown "$rnbd" kernel "blocks of $block bytes: the same bytes there and back" write_and_read $block
done
shown "$rnbd" kernel "ext4: the same files after mounting again" file_system
shown "$rnbd" kernel "the cable out for 5 s under a writer" cable_out 5
shown "$rnbd" kernel "unmap" unmaps
shown "$rnbd" kernel "map again" maps
check "unmap again" unmaps
# modprobe does not know of them.
unloads() {
	local k=$1 module
	for module in "rnbd-$2" "rtrs-$2" rtrs-core; do
		wait_for 20 h "$k" rmmod "$module" || { h "$k" rmmod "$module"; return 1; }
	done
}
ends() { unloads 1 client && unloads 2 server && all_unloaded; }
check "RNBD, RTRS and pib can be unloaded" ends
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# SRP between two hosts: host 2 exports a RAM disk, host 1 logs in, writes and reads. Once by the IB CM, as ibsrpdm
# finds the target, and once by rdma-cm.
#
#	vm/run --hosts 2 --packages srptools,e2fsprogs ... consumers/srp.sh
set -u
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/../lib/disk.sh"
srp="SRP (ib_srp, ib_srpt)"

ktap_plan 26
subnet_with_ipoib
to=$(ib_addr 2)
gid() { echo "0x$(port_attr "$1" gids/0 | tr -d :)"; }
add_target() { echo "$1" >/sys/class/infiniband_srp/srp-pib0-1/add_target; }
# The machine's own disks are virtio's.
disks='/dev/sd?'
# The extension, which is 0, and the GUID.
initiator_id() { gid 1 | sed 's/^0x................/0x0000000000000000/'; }
exports() { h 2 "$here/target" srp "$(gid 2)" "$(initiator_id)" 5000; }

found() {
	modprobe ib_srp && wait_for 10 [ -e /sys/class/infiniband_srp/srp-pib0-1 ] || return 1
	wait_for 20 discovered && add_target "$(cat /tmp/login)"
}
discovered() { ibsrpdm -c -d /dev/infiniband/umad0 >/tmp/login 2>/tmp/login.err && [ -s /tmp/login ]; }
by_address() { add_target "$(sed 's/,dgid=.*//' /tmp/login),dest=$to:5000"; }
logs_out() {
	local port
	for port in /sys/class/srp_remote_ports/*; do [ ! -e "$port" ] || echo 1 >"$port/delete"; done
	wait_for 30 disk_gone
}
# works_by WAY LOGIN: a login, data, a logout
works_by() {
	shown "$srp" srptools "login $1" "$2"
	check "$1: the disk is there" wait_for 30 disk_there
	for block in 512 4096 65536 1048576; do
		shown "$srp" srptools "$1, blocks of $block bytes: the same bytes there and back" write_and_read $block
	done
	shown "$srp" srptools "$1, ext4: the same files after mounting again" file_system
	check "$1: logout" logs_out
}
check "host 2 exports a disk" exports
works_by "by the IB CM" found
works_by "by rdma-cm" by_address
check "logs in again" by_address
check "the disk is there again" wait_for 30 disk_there
shown "$srp" srptools "the cable out for 5 s under a writer" cable_out 5
check "logout" logs_out
ends() {
	h 2 "$here/target" stop && modules_gone 1 ib_srp && modules_gone 2 ib_srpt && hosts_clean &&
		modules_gone 1 pib && modules_gone 2 pib
}
check "ib_srp, ib_srpt and pib can be unloaded" ends
ktap_end

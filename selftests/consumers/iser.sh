#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# iSER between two hosts: host 2 exports a RAM disk, host 1 logs in, writes and reads.
#
#	vm/run --hosts 2 --packages open-iscsi,e2fsprogs ... consumers/iser.sh
set -u
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/../lib/disk.sh"
iqn=iqn.2013-04.pib:disk

ktap_plan 17
subnet_with_ipoib
to=$(ib_addr 2)
session() { iscsiadm -m node -T $iqn -p "$to" "$@"; }
disks="/dev/disk/by-path/*iscsi-$iqn-lun-0"
logs_in() {
	mkdir -p /run/lock/iscsi /etc/iscsi
	echo "InitiatorName=iqn.2013-04.pib:host1" >/etc/iscsi/initiatorname.iscsi
	modprobe ib_iser
	pgrep -x iscsid >/dev/null || iscsid
	iscsiadm -m discovery -t st -I iser -p "$to" && session --login
}
check "host 2 exports a disk" h 2 "$here/target" iser "$to"
shown "iSER (ib_iser, ib_isert)" open-iscsi "discovery and login" logs_in
check "the disk is there" wait_for 30 disk_there
check "the session is iSER's" sh -c 'iscsiadm -m session | grep "^iser:"'
for block in 512 4096 65536 1048576; do
	shown "iSER (ib_iser, ib_isert)" open-iscsi "blocks of $block bytes: the same bytes there and back" write_and_read $block
done
shown "iSER (ib_iser, ib_isert)" open-iscsi "ext4: the same files after mounting again" file_system
shown "iSER (ib_iser, ib_isert)" open-iscsi "the cable out for 5 s under a writer" cable_out 5
logs_out() {
	session --logout && wait_for 20 disk_gone && pkill -x iscsid
}
check "logout" logs_out
check "host 2 takes the disk back" h 2 "$here/target" stop
ends() {
	modules_gone 1 ib_iser && modules_gone 2 ib_isert && hosts_clean && modules_gone 1 pib && modules_gone 2 pib
}
check "ib_iser, ib_isert and pib can be unloaded" ends
ktap_end

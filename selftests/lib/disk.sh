# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A disk of another host: data there and back, a file system on it, a cable pulled under it. To be sourced after
# hosts.sh, by who has a function disk_path that prints the disk's path. On host 2 the disk is /dev/ram0.

MiB=8

on_target() { h 2 dd if=/dev/ram0 bs=1M count=$MiB iflag=direct status=none | sha256sum; }
random_file() { head -c ${MiB}M /dev/urandom >/tmp/sent; }

# write_and_read BLOCK: what is written is on the target's disk, and what is read is the same
write_and_read() {
	local want disk count=$((MiB * 1024 * 1024 / $1))
	disk=$(disk_path)
	random_file
	want=$(sha256sum </tmp/sent)
	# Of the smallest blocks the first ones: each is an operation of its own.
	[ $count -le 2048 ] || count=2048
	dd if=/tmp/sent of="$disk" bs=1M oflag=direct conv=nocreat status=none || return 1
	dd if=/tmp/sent of="$disk" bs="$1" count=$count oflag=direct conv=nocreat status=none || return 1
	[ "$(on_target)" = "$want" ] || { echo "other bytes on the target's disk"; return 1; }
	dd if="$disk" of=/tmp/got bs="$1" count=$count iflag=direct status=none || return 1
	cmp -n $((count * $1)) /tmp/sent /tmp/got
}

# file_system: made, filled, unmounted; mounted again it has the same contents
file_system() {
	local dir=/mnt/disk
	mkdir -p $dir /tmp/files
	mke2fs -q -F -t ext4 "$(disk_path)" || return 1
	mount "$(disk_path)" $dir || return 1
	for name in $(seq 50); do head -c $((name * 3333)) /dev/urandom >"/tmp/files/$name"; done
	cp -r /tmp/files $dir/ && umount $dir && mount "$(disk_path)" $dir || return 1
	diff -r /tmp/files $dir/files && umount $dir
}

# cable_out SECONDS: pulled under a writer and put back; the writer ends without an error, and its bytes are there
cable_out() {
	local writer rc=0 want
	random_file
	want=$(sha256sum </tmp/sent)
	dd if=/tmp/sent of="$(disk_path)" bs=16k oflag=direct conv=nocreat status=none & writer=$!
	sleep 0.3
	ip link set eth0 down
	sleep "$1"
	ip link set eth0 up
	wait $writer || rc=1
	[ $rc = 0 ] || { echo "the writer failed"; return 1; }
	[ "$(on_target)" = "$want" ]
}

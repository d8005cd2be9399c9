# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154  # $disks is that of the suite
# A disk of another host: data there and back, a file system on it, a cable pulled under it. To be sourced after
# hosts.sh. $disks is the pattern that the disk's path has on host 1; on host 2 the disk is /dev/ram0.

MiB=8

# disk_path: the one path that matches; two would mean that a test may write to the wrong one
disk_path() {
	local paths
	mapfile -t paths < <(compgen -G "$disks")
	[ ${#paths[@]} = 1 ] && echo "${paths[0]}"
}
disk_there() { [ -b "$(disk_path)" ]; }
disk_gone() { ! compgen -G "$disks"; }

on_target() { h 2 dd if=/dev/ram0 bs=1M count=$MiB iflag=direct status=none | sha256sum; }
# The disk is filled with other bytes before those that count: a write that is lost is seen.
random_files() {
	head -c ${MiB}M /dev/urandom >/tmp/before
	head -c ${MiB}M /dev/urandom >/tmp/sent
}
# to_disk FILE BLOCK [OPTION]...
to_disk() { dd if="$1" of="$(disk_path)" bs="$2" oflag=direct conv=nocreat status=none "${@:3}"; }

# write_and_read BLOCK: what is written is on the target's disk, and what is read is the same
write_and_read() {
	local want disk count=$((MiB * 1024 * 1024 / $1))
	disk=$(disk_path) || return 1
	random_files
	# Of the smallest blocks the first ones: each is an operation of its own.
	[ $count -le 2048 ] || count=2048
	want=$({ head -c $((count * $1)) /tmp/sent; tail -c +$((count * $1 + 1)) /tmp/before; } | sha256sum)
	to_disk /tmp/before 1M && to_disk /tmp/sent "$1" count=$count || return 1
	[ "$(on_target)" = "$want" ] || { echo "other bytes on the target's disk"; return 1; }
	dd if="$disk" of=/tmp/got bs="$1" count=$count iflag=direct status=none || return 1
	cmp -n $((count * $1)) /tmp/sent /tmp/got
}

# file_system: made, filled, unmounted; mounted again it has the same contents
file_system() {
	local name disk dir=/mnt/disk
	disk=$(disk_path) || return 1
	mkdir -p $dir /tmp/files
	mke2fs -q -F -t ext4 "$disk" || return 1
	mount "$disk" $dir || return 1
	for name in $(seq 50); do head -c $((name * 3333)) /dev/urandom >"/tmp/files/$name"; done
	cp -r /tmp/files $dir/ && umount $dir && mount "$disk" $dir || return 1
	diff -r /tmp/files $dir/files && umount $dir
}

# keep_writing: until /tmp/enough is there; then the disk has the bytes of /tmp/sent
keep_writing() {
	until [ -e /tmp/enough ]; do
		to_disk /tmp/before 16k && to_disk /tmp/sent 16k || return 1
	done
}

has_sent() { [ "$(port_attr 1 counters/port_xmit_packets)" -gt $((sent + 100)) ]; }

# cable_out SECONDS: pulled under a writer that has begun, and put back; the link is down meanwhile, the writer ends without
# an error, and its bytes are there
cable_out() {
	local writer rc=0 want sent # has_sent() sees it
	random_files
	want=$(sha256sum </tmp/sent)
	rm -f /tmp/enough
	sent=$(port_attr 1 counters/port_xmit_packets)
	keep_writing & writer=$!
	wait_for 20 has_sent || { echo "nothing is written"; rc=1; }
	ip link set eth0 down || rc=1
	wait_for 10 trunk_is false || { echo "the link is up with the cable out"; rc=1; }
	sleep "$1"
	trunk_is false || { echo "the link came up with the cable out"; rc=1; }
	kill -0 $writer || { echo "the writer has ended while the cable was out"; rc=1; }
	touch /tmp/enough
	ip link set eth0 up || rc=1
	wait $writer || { echo "the writer failed"; rc=1; }
	[ "$(on_target)" = "$want" ] || { echo "other bytes on the target's disk"; rc=1; }
	return $rc
}

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# NFS over RDMA between two hosts, each version: host 2 exports a folder, host 1 mounts it. Client and server move data by
# RDMA in both directions, the client's memory is registered by work requests (FRWR).
#
#	vm/run --hosts 2 --packages nfs-kernel-server ... consumers/nfs.sh
set -u
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/../lib/disk.sh"
dir=/mnt/nfs
trap 'umount -fl $dir 2>/dev/null; hosts_clean' EXIT
MiB=16

ktap_plan 30
subnet_with_ipoib
mkdir -p $dir
there() { h 2 sha256sum "/srv/nfs/$1" | cut -d' ' -f1; }

# mounted VERSION: version 4 has one tree of names, version 3 the server's, and no daemon for locks here
mounted() {
	local path=/ more=
	[ "$1" != 3 ] || path=/srv/nfs more=,nolock
	timeout 60 mount -t nfs -o "vers=$1,rdma,port=20049$more" "$(ib_addr 2):$path" $dir &&
		grep " $dir nfs4\? .*,vers=$1,.*proto=rdma" /proc/mounts
}
unmounted() { timeout 60 umount $dir; }
writes() {
	head -c ${MiB}M /dev/urandom >/tmp/sent
	dd if=/tmp/sent of="$dir/file.$1" bs=1M conv=fsync status=none || return 1
	[ "$(there "file.$1")" = "$(sha256sum </tmp/sent | cut -d' ' -f1)" ]
}
reads() {
	h 2 sh -c "head -c ${MiB}M /dev/urandom >/srv/nfs/other.$1" || return 1
	[ "$(there "other.$1")" = "$(dd if="$dir/other.$1" bs=256k iflag=direct status=none | sha256sum | cut -d' ' -f1)" ]
}
# Small ones travel in the message itself.
contents='find . -type f | sort | xargs cat | sha256sum'
tree() {
	local name
	mkdir -p /tmp/tree
	for name in $(seq 100); do head -c $((name * 37)) /dev/urandom >"/tmp/tree/$name"; done
	cp -r /tmp/tree "$dir/tree.$1" && sync && diff -r /tmp/tree "$dir/tree.$1" || return 1
	h 2 sh -c "cd /srv/nfs/tree.$1 && $contents" >/tmp/tree.there
	(cd /tmp/tree && eval "$contents") | diff - /tmp/tree.there
}

check "host 2 exports a folder" h 2 "$here/nfsd" start
for version in 3 4.0 4.1 4.2; do
	nfs="NFS over RDMA, version $version"
	shown "$nfs" nfs-kernel-server "mount" mounted $version
	shown "$nfs" nfs-kernel-server "write: $MiB MiB, the server has the same checksum" writes $version
	shown "$nfs" nfs-kernel-server "read: $MiB MiB, the same checksum" reads $version
	shown "$nfs" nfs-kernel-server "a folder of 100 small files: the same" tree $version
	check "version $version: unmount" unmounted
done

# The functions of disk.sh that reach a disk reach a file here.
to_disk() { dd if="$1" of="$dir/cable" bs="$2" oflag=direct status=none; }
on_target() { h 2 sha256sum </dev/null /srv/nfs/cable | sed 's: /.*: -:'; }
check "mounted again" mounted 4.2
shown "$nfs" nfs-kernel-server "the cable out for 5 s under a writer" cable_out 5
check "unmounted after that" unmounted
check "the server ends" h 2 "$here/nfsd" stop
ends() {
	modprobe -r nfsv3 nfsv4 nfs 2>/dev/null
	h 2 modprobe -r nfsd 2>/dev/null
	all_unloaded rpcrdma
}
check "rpcrdma and pib can be unloaded on both" ends
ktap_end

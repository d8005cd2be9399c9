#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# NFS over RDMA between two hosts: host 2 exports a folder, host 1 mounts it. Client and server move data by RDMA
# in both directions, the client's memory is registered by work requests (FRWR).
#
#	vm/run --hosts 2 --packages nfs-kernel-server ... consumers/nfs.sh
set -u
here=$(dirname "$0")
. "$here/lib.sh"
dir=/mnt/nfs
trap 'umount -fl $dir 2>/dev/null; hosts_clean' EXIT
MiB=16
nfs="NFS over RDMA, version 4.2"

ktap_plan 13
subnet_with_ipoib
mkdir -p $dir
mounted() { timeout 60 mount -t nfs -o vers=4.2,rdma,port=20049 "$(ib_addr 2):/" $dir; }
by_rdma() { grep " $dir nfs4 " /proc/mounts | grep proto=rdma; }
check "host 2 exports a folder" h 2 "$here/nfsd" start
check "host 1 mounts it" mounted
check "the mount goes over RDMA" by_rdma

there() { h 2 sha256sum "/srv/nfs/$1" | cut -d' ' -f1; }
writes() {
	head -c ${MiB}M /dev/urandom >/tmp/sent
	dd if=/tmp/sent of=$dir/file bs=1M conv=fsync status=none || return 1
	[ "$(there file)" = "$(sha256sum </tmp/sent | cut -d' ' -f1)" ]
}
shown "$nfs" nfs-kernel-server "write: $MiB MiB, the server has the same checksum" writes
reads() {
	h 2 sh -c "head -c ${MiB}M /dev/urandom >/srv/nfs/other" || return 1
	[ "$(there other)" = "$(dd if=$dir/other bs=256k iflag=direct status=none | sha256sum | cut -d' ' -f1)" ]
}
shown "$nfs" nfs-kernel-server "read: $MiB MiB, the same checksum" reads
# Small ones travel in the message itself.
contents='find . -type f | sort | xargs cat | sha256sum'
tree() {
	local name
	mkdir -p /tmp/tree
	for name in $(seq 100); do head -c $((name * 37)) /dev/urandom >"/tmp/tree/$name"; done
	cp -r /tmp/tree $dir/tree && sync && diff -r /tmp/tree $dir/tree || return 1
	h 2 sh -c "cd /srv/nfs/tree && $contents" >/tmp/tree.there
	(cd /tmp/tree && eval "$contents") | diff - /tmp/tree.there
}
shown "$nfs" nfs-kernel-server "a folder of 100 small files: the same" tree
check "unmount" timeout 60 umount $dir
check "the server ends" h 2 "$here/nfsd" stop
rpcrdma_gone() {
	modprobe -r nfsv4 nfs 2>/dev/null
	h 2 modprobe -r nfsd 2>/dev/null
	modules_gone 1 rpcrdma && modules_gone 2 rpcrdma
}
check "rpcrdma can be unloaded on both" rpcrdma_gone
ktap_end

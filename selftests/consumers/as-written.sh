#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# docs/on-top.md as it is written: its commands are taken from the page, which selftests/check copies beside this folder, and run
# between two hosts, in the page's order. Bytes are compared, or counted where a program has no way to compare them. Each
# indented line of the page is run here, or is listed at the end with the suite that runs its like.
#
#	vm/run --hosts 2 --packages nvme-cli,nfs-kernel-server,... ... consumers/as-written.sh
set -u
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/../lib/disk.sh"
. "$here/../lib/mpi.sh"
. "$here/../lib/page.sh"

# Names and addresses of the page are those of the lab: host1, host2, eth0, ib0, 10.78.0.K. In the place of the others:
instead=(
	[PROGRAM]="/tmp/program"		# of mpi.c
	[FILE]=/tmp/partitions.conf
	[NQN]=pib				# nvmet's subsystem
	[--size=1g]=--size=16m			# in less time
)

ktap_plan 91
page_read "$here/../on-top.md"
HOSTS=2
guid() { echo "0x$(port_attr "$1" gids/0 | tr -d : | tail -c 17)"; }
sent() { pibctl -j show counters pib0/1 | jq '.counters[] | select(.port == 1).counters.port_xmit_bytes'; }
# said PATTERN COMMAND...: the command, which may fail, says what the page says that it says
said() {
	local span out
	span=$(written "$1") || return 1
	shift
	out=$("$@" 2>&1)
	echo "$out"
	grep -qF -- "$span" <<<"$out"
}

# ---- hosts ----

for k in 1 2; do
	check "host $k: an HCA" as_written $k "host$k# pibctl add"
done
check "udev has loaded modules for it" wait_for 20 test -e /dev/infiniband/umad0
check "host 1: OpenSM" as_written 1 "host1# opensm -B"
check "both ports ACTIVE" wait_active 60

# ---- MPI, before ib0 has an address ----

# A user who logs in by ssh, and has no more memory to lock than systemd gives. The page says what helps.
user_made() {
	local k limits
	limits=$(written "* ")
	for k in 1 2; do
		h $k bash -s "$limits" <<-'END'
			useradd -m -s /bin/bash someone && cd ~someone && install -d -m 700 .ssh || exit
			cp /etc/ssh/lab_key .ssh/id_ed25519
			cp /etc/ssh/lab_key.pub .ssh/authorized_keys
			printf '%s\n' "IdentityFile ~someone/.ssh/id_ed25519" "StrictHostKeyChecking no" "UserKnownHostsFile /dev/null" "LogLevel ERROR" >.ssh/config
			chmod 600 .ssh/*
			chown -R someone: .ssh
			echo "$1" >>/etc/security/limits.conf
			mkdir -p /run/sshd
			prlimit --memlock=$((8 << 20)):$((8 << 20)) /usr/sbin/sshd -o PidFile=/run/sshd-someone.pid
		END
	done
}
as_user() { ssh -F ~someone/.ssh/config "someone@$1" "$2" </dev/null; }
has_limit() { same "$(as_user "$1" "ulimit -l")" unlimited; }
sshd_ends() { local k; for k in 1 2; do h $k sh -c 'kill "$(cat /run/sshd-someone.pid)"' || return 1; done; }
program() { "mpicc.$1" -O1 -o /tmp/program "$here/mpi.c" && mpi_there /tmp/program; }
# job BYTES COMMAND: the user's; it says that all is right, and has sent so many bytes by the port, at least
job() {
	local before rc=0
	before=$(sent)
	timeout -k 5 100 ssh -F ~someone/.ssh/config someone@host1 "$2" </dev/null >/tmp/raw 2>&1 || rc=$?
	tr -d '\0' </tmp/raw >/tmp/job
	[ $rc = 0 ] && grep -q "all right" /tmp/job || { echo "$2"; echo "status $rc"; tail -n 30 /tmp/job; return 1; }
	moved=$(($(sent) - before))
	echo "the port has sent $moved bytes"
	[ "$moved" -ge "$1" ]
}
much=$((40 << 20))
# mpi BEGIN [WHAT WITH]...: the command that begins so, with something else in it; nothing is one-sided
mpi() {
	local command
	command=$(written "$1") || return 1
	shift
	while [ $# -gt 0 ]; do command=${command/"$1"/"$2"}; shift 2; done
	job $much "$command two-sided"
}
mpi_one_sided() {
	local command more
	command=$(written "mpirun.openmpi --host") && more=$(written "--mca osc ucx") || return 1
	job 1 "${command/" /tmp"/" $more /tmp"}" && ! grep "UCX *ERROR" /tmp/job
}
mpi_libfabric() {
	local command more
	command=$(written "mpirun.openmpi --host") && more=$(written "--mca pml cm") || return 1
	job $much "${command/--mca pml ucx*rc_v,self,sm/"$more"} two-sided"
}
by_tcp() {
	local command
	command=$(written "mpirun.openmpi --host") || return 1
	job 0 "${command/--mca pml ucx*rc_v,self,sm/} two-sided" && [ "$moved" -lt $((1 << 20)) ]
}
check "a user who logs in by ssh" user_made
for k in 1 2; do check "host $k: the user may lock memory" has_limit host$k; done
check "Open MPI's compiler" program openmpi
check "no address on ib0" sh -c '! ip -4 addr show ib0 | grep inet'
check "Open MPI: by the port, without an address on ib0" mpi "mpirun.openmpi --host"
check "Open MPI, ud_v" mpi "mpirun.openmpi --host" rc_v ud_v
check "Open MPI, one-sided" mpi_one_sided
check "Open MPI without --mca pml ucx: by TCP, the port's counter says so" by_tcp
check "MPICH's compiler" program mpich
check "MPICH: by the port" mpi "mpirun.mpich -hosts"

# ---- IPoIB ----

for k in 1 2; do
	check "host $k: ib0 is waited for" as_written $k "until ip link show ib0"
	check "host $k: its address" as_written $k "host$k# ip addr add"
done
pings() { wait_for 60 ping -c 1 -W 1 "$1" || ping -c 1 -W 1 "$1"; }
check "ping" pings "$(ib_addr 2)"
check "Open MPI's compiler once more" program openmpi
check "Open MPI over libfabric, which has need of the addresses" mpi_libfabric
check "the user leaves" sshd_ends

# The page's port GUIDs are of the host with a full member and of that with a limited one.
instead[0x0002c90300000001]=$(guid 1)
instead[0x0002c90300000002]=$(guid 2)
restarted_with_partitions() {
	written "Default=0x7fff, ipoib : ALL" >/tmp/partitions.conf && h 1 pkill -x opensm && wait_for 20 h 1 sh -c '! pgrep -x opensm' &&
		on_host 1 "$(written "opensm -P FILE") -B"
}
partition_added() { written "club=" >>/tmp/partitions.conf && as_written 1 "pkill -HUP opensm"; }
has_key() { h "$1" grep -q "$2" -r /sys/class/infiniband/pib0/ports/1/pkeys; }
child_with_address() { as_written "$1" "ip link add link ib0" && h "$1" ip addr add "10.79.0.$1/24" dev c0 && h "$1" ip link set c0 up; }
children_gone() { local k; for k in 1 2; do h $k ip link del c0 || return 1; done; }
check "OpenSM with a partition file" restarted_with_partitions
check "a partition, while OpenSM runs" partition_added
check "host 1 is a full member" wait_for 60 has_key 1 0x8001
check "host 2 is a limited one" wait_for 60 has_key 2 0x0001
for k in 1 2; do check "host $k: an interface of the partition" child_with_address $k; done
check "ping there" pings 10.79.0.2
check "these interfaces go" children_gone

# ---- NVMe ----

disks='/dev/nvme[0-9]*n1'
not_loaded() { said "Failed to scan" as_written 1 "nvme connect"; }
not_listening() {
	dmesg -C
	said "failed to write to nvme-fabrics" as_written 1 "nvme connect" && said "invalid service ID" dmesg
}
elsewhere() { said "No such device" h 2 "$here/nvmet" port 2 rdma "$(addr4 2)" && h 2 rmdir /sys/kernel/config/nvmet/ports/2; }
disconnect() { as_written 1 "nvme disconnect" && wait_for 20 disk_gone; }
removed() {
	local controller
	for controller in /sys/class/nvme/nvme[0-9]*; do echo 1 >"$controller/delete_controller" || return 1; done
	wait_for 20 disk_gone
}
check "NVMe: what nvme-cli says before nvme-fabrics is loaded" not_loaded
modprobe nvme-fabrics
check "NVMe: what it says without a target" not_listening
check "NVMe: host 2 exports a disk" h 2 "$here/nvmet" start "$(ib_addr 2)"
check "NVMe: what ln says of the address of eth0" elsewhere
check "NVMe: nvme-cli connects" as_written 1 "nvme connect"
check "NVMe: the disk is there" wait_for 20 disk_there
check "NVMe: the same bytes there and back" write_and_read 65536
check "NVMe: nvme-cli disconnects" disconnect
check "NVMe: connected without nvme-cli" as_written 1 "modprobe nvme-rdma" "echo transport="
check "NVMe: that disk is there" wait_for 20 disk_there
check "NVMe: the same bytes by that" write_and_read 4096
check "NVMe: it is taken away" removed
check "NVMe: host 2 takes the disk back" h 2 "$here/nvmet" stop

# ---- NFS ----

# The lab's root cannot be exported, so what is exported is in memory.
nfs_prepared() {
	h 2 bash -s <<-'END'
		mkdir -p /export /var/lib/nfs/v4recovery /run/rpcbind /run/sendsigs.omit.d
		mount -t tmpfs -o size=200M nfs /export && mkdir -p /export/srv/nfs && modprobe nfsd || exit
		mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd || exit
		sed -i 's:^# *rootdir=.*:rootdir=/export:; s/^# *\(grace\|lease\)-time=.*/\1-time=10/' /etc/nfs.conf
		rpcbind && rpc.mountd
	END
}
exported() { h 2 sh -c "echo '/srv/nfs *(rw,no_root_squash,no_subtree_check,fsid=$1)' >/etc/exports && exportfs -ra"; }
# unit WORD...: what Debian's unit of the server does when systemd starts or stops it
unit() {
	h 2 bash -s "$@" <<-'END'
		for word; do
			sed -n "s/^$word=-*//p" /usr/lib/systemd/system/nfs-server.service >/tmp/unit
			bash /tmp/unit || exit
		done
	END
}
nfs_starts() { unit ExecStartPre ExecStart >/tmp/said 2>&1 || { cat /tmp/said; return 1; }; }
nfs_stops() { unit ExecStop ExecStopPost; }
listens() {
	local span
	span=$(written "rdma 20049") && h 2 cat /proc/fs/nfsd/portlist | tee /tmp/said && grep -qx "$span" /tmp/said
}
# configured SETTING: of the page
configured() { h 2 sed -i "/^\[nfsd\]/a $(written "$1")" /etc/nfs.conf; }
port_is_missing() { configured rdma=y && nfs_starts && ! listens && nfs_stops; }
mounted() { as_written 1 "$1" && grep "^$(ib_addr 2):.* /mnt nfs4 .*proto=rdma" /proc/mounts; }
unmounted() { timeout 60 umount /mnt; }
sum() { sha256sum | cut -d' ' -f1; }
# carries: a file to the server, and another one back
carries() {
	local there=/export/srv/nfs
	head -c 16M /dev/urandom >/tmp/sent
	cp /tmp/sent /mnt/sent && sync /mnt/sent && same "$(h 2 cat $there/sent | sum)" "$(sum </tmp/sent)" || return 1
	h 2 sh -c "head -c 16M /dev/urandom >$there/other"
	same "$(dd if=/mnt/other bs=256k iflag=direct status=none | sum)" "$(h 2 cat $there/other | sum)"
}
check "NFS: a folder to export" nfs_prepared
check "NFS: it is exported" exported 1
check "NFS: the server starts, as Debian's unit has it" nfs_starts
check "NFS: it is told to listen" as_written 2 "modprobe rpcrdma" 'echo "rdma 20049"'
check "NFS: it listens for RDMA" listens
check "NFS: mount" mounted "mount -o rdma"
check "NFS: the same bytes there and back" carries
check "NFS: unmount" unmounted
check "NFS: the server stops" nfs_stops
check "NFS: rdma=y alone is not enough for Debian" port_is_missing
check "NFS: rdma-port is set, too" configured rdma-port=
check "NFS: an export with fsid=0" exported 0
check "NFS: the server starts by them" nfs_starts
check "NFS: it listens for RDMA, by nfs.conf" listens
check "NFS: mount with version and port" mounted "mount -t nfs -o vers=4.2"
check "NFS: the same bytes there and back once more" carries
check "NFS: unmount once more" unmounted
check "NFS: the server stops for good" nfs_stops
nfs_ends() {
	h 2 pkill -x rpc.mountd && h 2 pkill -x rpcbind && h 2 umount /export /proc/fs/nfsd || return 1
	modprobe -r nfsv3 nfsv4 nfs
	h 2 modprobe -r nfsd
	modules_gone 1 rpcrdma && modules_gone 2 rpcrdma
}
check "NFS: its modules can be unloaded" nfs_ends

# ---- iSER and SRP ----

iser=("modprobe ib_iser" "mkdir -p /run/lock/iscsi" "echo InitiatorName=" "pgrep -x iscsid ||" "iscsiadm -m discovery" "iscsiadm -m node --login")
disks="/dev/disk/by-path/*iscsi-iqn.2013-04.pib:disk-lun-0"
is_iser() { iscsiadm -m session | grep "^iser:"; }
logs_out() { as_written 1 "iscsiadm -m node --logout" && wait_for 20 disk_gone && pkill -x iscsid; }
check "iSER: host 2 exports a disk" h 2 "$here/target" iser "$(ib_addr 2)"
check "iSER: the initiator logs in" as_written 1 "${iser[@]}"
check "iSER: the disk is there" wait_for 30 disk_there
check "iSER: the session is iSER's" is_iser
check "iSER: the same bytes there and back" write_and_read 65536
check "iSER: logout" logs_out
check "iSER: host 2 takes the disk back" h 2 "$here/target" stop

# The machine's own disks are virtio's.
disks='/dev/sd?'
gid() { echo "0x$(port_attr "$1" gids/0 | tr -d :)"; }
srp_exports() { h 2 "$here/target" srp "$(gid 2)" "0x0000000000000000${instead[0x0002c90300000001]#0x}"; }
srp_found() { ibsrpdm -c -d /dev/infiniband/umad0 | grep -q .; }
srp_logs_out() {
	local port
	for port in /sys/class/srp_remote_ports/*; do echo 1 >"$port/delete" || return 1; done
	wait_for 30 disk_gone
}
check "SRP: host 2 exports a disk" srp_exports
check "SRP: the subnet manager knows of it" wait_for 30 srp_found
check "SRP: the initiator logs in" as_written 1 "modprobe ib_srp" "ibsrpdm -c"
check "SRP: the disk is there" wait_for 30 disk_there
check "SRP: the same bytes there and back" write_and_read 65536
check "SRP: logout" srp_logs_out
check "SRP: host 2 takes the disk back" h 2 "$here/target" stop

# ---- RDS ----

rds_echoes() { both 60 python3 "$here/rds.py" echo "$(ib_addr 2)" -- python3 "$here/rds.py" ask "$(ib_addr 1)" "$(ib_addr 2)"; }
for k in 1 2; do check "RDS: host $k loads the module" as_written $k "modprobe rds_rdma"; done
check "RDS: messages are echoed, the same bytes" rds_echoes

# ---- fio ----

fio_listens() { h 2 rdma resource show cm_id | grep "LISTEN.*comm fio"; }
fio_writes() {
	local before server
	before=$(sent)
	as_written 2 "host2# fio" >/tmp/server & server=$!
	wait_for 30 fio_listens && as_written 1 "host1# fio" && wait $server || { cat /tmp/server; return 1; }
	no_less $(($(sent) - before)) $((16 << 20))
}
check "fio: a server and a client, the port has carried the bytes" fio_writes

# ---- the end ----

# Objects without a process are the kernel's.
only_opensm() { h "$1" pibctl -j show objects pib0 | jq -ce '[.objects[] | select(.pid) | .owner] - ["opensm"] | ., . == []'; }
left_nothing() { wait_for 20 only_opensm "$1" || only_opensm "$1"; }
modules_end() { modules_gone 1 nvme-rdma ib_iser ib_srp rds_rdma rds && modules_gone 2 nvmet-rdma ib_isert ib_srpt rds_rdma rds; }
check "modules of what has run can be unloaded" modules_end
for k in 1 2; do check "host $k: nothing of the programs is left" left_nothing $k; done
for k in 1 2; do check "host $k: OpenSM and the HCA end" as_written $k "pkill -x opensm; while"; done
no_device() { h "$1" sh -c '! ls /sys/class/infiniband/* && ! ip link show ib0' 2>/dev/null; }
for k in 1 2; do check "host $k: neither is left" no_device $k; done
check "pib can be unloaded on both" all_unloaded
# rnbd.sh and valkey.sh run the like of these.
check "each command of the page was run" all_written 'echo "sessname=' "make BUILD_RDMA=module" "make -C tests/rdma" "host2# ./src/valkey-server" \
	"host1# ./tests/rdma/rdma-test"
ktap_end

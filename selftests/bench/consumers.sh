#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Consumers on top, over pib and over TCP: NVMe (nvmet's RAM disk), NFS (a folder in memory) and Open MPI. Between two
# machines, by the same netdev; or in one machine, by one HCA and by lo. Part of `make bench`; alone:
#
#	selftests/vm/run [--hosts 2] --smp 2 --packages fio,nfs-kernel-server,openmpi-bin,libopenmpi-dev \
#		--copy selftests/lib --copy selftests/consumers --copy selftests/bench -- bench/consumers.sh
#
# CONSUMERS="nvme nfs mpi": only these.
set -u
here=$(dirname "$0")
consumers=$here/../consumers
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/ipoib.sh"
. "$here/../lib/disk.sh"
. "$here/../lib/mpi.sh"
. "$here/points.sh"
rounds=${BENCH_ROUNDS:-3}
dir=/mnt/bench
# In one machine it is its own other end: consumers in the kernel live in the initial namespace.
LAYOUT=machines
far=$PIB_HOSTS
path=machines
[ "$far" != 1 ] || path=machine
trap 'umount -fl $dir 2>/dev/null; hosts_clean' EXIT

# Jobs of fio: name here, column of the result, its unit and factor, arguments
io=(
	"read_1m bw_bytes MiB/s 1048576 --rw=read --bs=1m --iodepth=4"
	"write_1m bw_bytes MiB/s 1048576 --rw=write --bs=1m --iodepth=4"
	"read_64k bw_bytes MiB/s 1048576 --rw=randread --bs=64k --iodepth=8"
	"read_4k iops 1/s 1 --rw=randread --bs=4k --iodepth=16"
	"write_4k iops 1/s 1 --rw=randwrite --bs=4k --iodepth=16"
	"read_4k_one iops 1/s 1 --rw=randread --bs=4k --iodepth=1"
)
declare -A got=()

# fio_points NAME FILE: each point once more, into got
fio_points() {
	local point name column factor args kind out
	for point in "${io[@]}"; do
		read -r name column _ factor args <<<"$point"
		kind="read"
		[[ $name != write* ]] || kind="write"
		# shellcheck disable=SC2086
		out=$(fio --name=x --filename="$2" --size=48m --direct=1 --ioengine=libaio --time_based --runtime="$seconds" \
			--output-format=json $args) || die "fio on $2: $out"
		got[$1_$name]+="$(jq ".jobs[0].$kind.$column / $factor" <<<"$out") "
	done
}

# ---- NVMe ----

disks='/dev/nvme[0-9]*n1'
nvme_begin() {
	modprobe -a nvme-rdma nvme-tcp && h "$far" modprobe nvmet-tcp && h "$far" "$consumers/nvmet" start "$(ib_addr "$far")" &&
		h "$far" "$consumers/nvmet" port 2 tcp "$(addr4 "$far")"
}
nvme_over() {
	local address controller
	address=$(addr4 "$far")
	[ "$1" != pib ] || address=$(ib_addr "$far")
	echo "transport=${1/pib/rdma},traddr=$address,trsvcid=4420,nqn=pib" >/dev/nvme-fabrics || die "NVMe over $1: no connection"
	wait_for 20 disk_there || die "NVMe over $1: no disk"
	fio_points "nvme_$1" "$(disk_path)"
	for controller in /sys/class/nvme/nvme[0-9]*; do echo 1 >"$controller/delete_controller"; done
	wait_for 20 disk_gone
}

# ---- NFS ----

nfs_begin() { mkdir -p $dir && h "$far" "$consumers/nfsd" start; }
nfs_over() {
	local address options=proto=tcp
	address=$(addr4 "$far")
	[ "$1" != pib ] || address=$(ib_addr "$far") options=rdma,port=20049
	timeout 60 mount -t nfs -o "vers=4.2,$options" "$address:/" $dir || die "NFS over $1: no mount"
	fio_points "nfs_$1" $dir/bench
	timeout 60 umount $dir
}

# ---- MPI ----

mpi_begin() { mpicc.openmpi -O1 -o /tmp/mpi.openmpi "$consumers/mpi.c" && mpi_there /tmp/mpi.openmpi && mpi_agent; }
mpi_over() {
	local way=(--mca pml ob1 --mca btl tcp,self) out
	[ "$1" != pib ] || way=(--mca pml ucx -x UCX_TLS=rc_v,self -x UCX_NET_DEVICES=pib0:1)
	out=$(openmpi_run 120 2 "${way[@]}" /tmp/mpi.openmpi two-sided 2>&1 | tr -d '\0')
	[[ $out =~ 8\ bytes\ ([0-9]+)\ us,\ 1\ MiB\ ([0-9]+)\ MB/s ]] || die "MPI over $1: $out"
	got[mpi_$1_latency_8]+="${BASH_REMATCH[1]} "
	got[mpi_$1_bandwidth_1m]+="${BASH_REMATCH[2]} "
}

rows=()
# row CONSUMER POINT UNIT BETTER
row() {
	local pib tcp
	pib=$(median "${got[$1_pib_$2]}") tcp=$(median "${got[$1_tcp_$2]}")
	printf '%-8s%-16s%-8s%12.1f%12.1f%8.2f\n' "$1" "$2" "$3" "$pib" "$tcp" "$(echo "$pib $tcp" | awk '{ print $1 / $2 }')"
	rows+=("{\"case\":\"$1_$2\",\"path\":\"$path\",\"unit\":\"$3\",\"better\":\"$4\",\"pib\":$pib,\"tcp\":$tcp}")
}
io_rows() {
	local point name unit
	for point in "${io[@]}"; do
		read -r name _ unit _ <<<"$point"
		row "$1" "$name" "$unit" higher
	done
}
nvme_rows() { io_rows nvme; }
nfs_rows() { io_rows nfs; }
mpi_rows() { row mpi latency_8 us lower; row mpi bandwidth_1m MB/s higher; }

hosts_make "$far"
for ((k = 1; k <= far; k++)); do pib_add $k || die "host $k: no HCA"; done
sm_start 1
wait_active 60 || die "the ports are not ACTIVE"
ipoib_up || die "no IPoIB"
ulimit -l unlimited
printf '%-8s%-16s%-8s%12s%12s%8s\n' program point unit pib TCP ratio
for consumer in ${CONSUMERS:-nvme nfs mpi}; do
	"${consumer}_begin" || die "$consumer: no beginning"
	for ((i = 0; i < rounds; i++)); do
		for way in pib tcp; do "${consumer}_over" $way; done
	done
	"${consumer}_rows"
done
echo "BENCH-JSON [$(IFS=,; echo "${rows[*]}")]"

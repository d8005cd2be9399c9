#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# rdma-core's pyverbs suite on a port whose subnet OpenSM manages, with IPoIB up for the rdmacm cases.
#
#	pyverbs.sh [MODULE|CASE]...	any part of "test_module.Class.test_case"
#
# DEV=rxe0 runs it on Soft-RoCE, PYVERBS_TESTS names another copy of the suite (a folder with test_*.py),
# PYVERBS_SEED the seed of the cases' random numbers, PYVERBS_TIMEOUT the seconds that one case may take.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
DEV=${DEV:-pib0}
: "${PYVERBS_TESTS:=/usr/share/doc/rdma-core/tests}"
work=$(mktemp -d /tmp/pyverbs.XXXXXX)
LAYOUT=machines HOSTS=1	# this host's own namespace

clean() {
	sm_stop 1
	pibctl del pib0 2>/dev/null
	[ "$DEV" != rxe0 ] || rdma link delete rxe0
	rm -rf "$work"
}
trap clean EXIT

# built NAME: what ./build has made, next to this folder
built() {
	readlink -e "$here/../verbs-built/$1"
}

bail() {
	echo "Bail out! $*"
	exit 1
}

suite() {
	cp -r "$PYVERBS_TESTS/." "$work"
	gunzip -f "$work"/*.gz 2>/dev/null
	[ -e "$work/base.py" ]
}

pib_up() {
	pib_add 1 && sm_start 1 && wait_active 60 && wait_for 20 ip link show ib0 || return 1
	ip addr add 10.78.0.1/24 dev ib0 && ip link set ib0 up
	wait_for 20 ping -c 1 -W 1 10.78.0.1
	wait_for 20 joined
}
# The multicast group of IPv4 broadcast is joined: the interface carries traffic.
joined() { ip link show ib0 | grep -q LOWER_UP; }

rxe_up() {
	modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0 && modprobe -a ib_uverbs rdma_ucm
}

# A GPU for the dma-buf cases; see vgem_gpu.c.
gpu() {
	local so
	modprobe vgem 2>/dev/null && so=$(built vgem-gpu.so) && export PYVERBS_PRELOAD=$so
}

modprobe -a ib_umad ib_uverbs rdma_ucm ib_ipoib
suite || bail "no pyverbs suite in $PYVERBS_TESTS"
case $DEV in
rxe*) rxe_up || bail "no rxe0" ;;
*) pib_up || bail "the port does not become ready: $(pibctl show 2>&1)" ;;
esac
echo 24 >/proc/sys/vm/nr_hugepages
gpu
skips=()
[ "$DEV" = rxe0 ] || skips=(--skips "$here/pyverbs.skips")
python3 "$here/pyverbs_run.py" --tests "$work" --dev "$DEV" --seed "${PYVERBS_SEED:-1}" \
	--timeout "${PYVERBS_TIMEOUT:-$((90 * ${PIB_SLOW:-1}))}" "${skips[@]}" "$@"

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every opcode, error and event by libibverbs (ops/), in two layouts: both ends on one device, and on two devices
# joined by a veth pair, where the NAKs are looked for on the wire.
#
#	ops.sh [PART OF A CASE'S NAME]...
#
# LAYOUTS="one two" says which; DEV=rxe0 runs the first on Soft-RoCE.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
DEV=${DEV:-pib0}
LAYOUTS=${LAYOUTS:-one two}
[ "$DEV" = pib0 ] || LAYOUTS=one
trap 'hosts_clean; [ $DEV != rxe0 ] || rdma link delete rxe0' EXIT
LAYOUT=netns
options=(--timeout $((60 * ${PIB_SLOW:-1})))

program() {
	ops=$(readlink -e "$here/../verbs-built/pib-ops") || {
		make -s -C "$here/ops" O=/tmp/verbs-ops /tmp/verbs-ops/pib-ops && ops=/tmp/verbs-ops/pib-ops
	}
}

bail() {
	echo "Bail out! $*"
	exit 1
}

# As KTAP of its own, nested: its lines indented, its result one line of ours.
nested() {
	local name=$1
	shift
	if "$@" | sed -u 's/^/    /'; [ "${PIPESTATUS[0]}" = 0 ]; then ok "$name"; else nok "$name"; fi
}

one() {
	if [ "$DEV" = rxe0 ]; then
		modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0 && modprobe ib_uverbs || bail "no rxe0"
		nested "one device" "$ops" "${options[@]}" --dev "$DEV" "$@"
		return
	fi
	pib_add 1 standalone && wait_for 5 port_is 1 ACTIVE || bail "no port"
	nested "one device" h 1 "$ops" "${options[@]}" --dev "$DEV" "$@"
	h 1 pibctl del pib0
}

two() {
	pib_add 1 standalone && pib_add 2 standalone && wait_active 5 || bail "no ports"
	nested "two devices, over veth" "$ops" "${options[@]}" --dev pib0 --peer pib1 --capture h1:eth0 "$@"
}

program || bail "pib-ops cannot be built"
echo 24 >/proc/sys/vm/nr_hugepages
modprobe vgem 2>/dev/null	# for the dma-buf cases
modprobe fuse 2>/dev/null	# for pages that do not come
ktap_plan "$(wc -w <<<"$LAYOUTS")"
hosts_make 2
for layout in $LAYOUTS; do "$layout" "$@"; done
ktap_end

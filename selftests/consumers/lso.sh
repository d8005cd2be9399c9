#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Large sends of a consumer in the kernel: nonsense is refused when it is posted, and the packets of a good one arrive as they should.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/compat.sh"
build=$(mktemp -d)
trap 'rmmod lso; pibctl del pib0; rm -rf "$build"' EXIT

make_module() {
	cp "$here"/lso/* "$build" && make -s -C "/lib/modules/$(uname -r)/build" "M=$build" modules
}
active() { grep -q ACTIVE /sys/class/infiniband/pib0/ports/1/state; }
sends() {
	dmesg -C
	insmod "$build/lso.ko" || { dmesg | grep lso; return 1; }
}

ktap_plan 4
modprobe -a ib_core ib_uverbs
check "the module is built" make_module
check "an HCA without a subnet manager" pibctl add pib0 netdev eth0 standalone
check "ACTIVE" wait_for 20 active
shown "Large sends of a consumer in the kernel (IB_WR_LSO)" kernel "nonsense is refused, sense is sent" sends
ktap_end

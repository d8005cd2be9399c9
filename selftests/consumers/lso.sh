#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Consumers in the kernel of our own. Large sends: nonsense is refused when it is posted, and the packets of a good one arrive as
# they should. A CQ that goes while the call of its last completion is on its way is not polled any more.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/compat.sh"
build=$(mktemp -d)
trap 'rmmod lso late; pibctl del pib0; rm -rf "$build"' EXIT

make_module() {
	cp "$here"/modules/* "$build" && make -s -C "/lib/modules/$(uname -r)/build" "M=$build" modules
}
active() { grep -q ACTIVE /sys/class/infiniband/pib0/ports/1/state; }
# loads MODULE: it does what it does when it is loaded
loads() {
	dmesg -C
	insmod "$build/$1.ko" || { dmesg | grep "$1"; return 1; }
}

ktap_plan 5
modprobe -a ib_core ib_uverbs
check "the modules are built" make_module
check "an HCA without a subnet manager" pibctl add pib0 netdev eth0 standalone
check "ACTIVE" wait_for 20 active
shown "Large sends of a consumer in the kernel (IB_WR_LSO)" kernel "nonsense is refused, sense is sent" loads lso
check "a CQ goes while a call is late" loads late
ktap_end

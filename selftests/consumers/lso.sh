#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Consumers in the kernel of our own. Large sends: nonsense is refused when it is posted, and the packets of a good one arrive as
# they should. A CQ that goes while the call of its last completion is on its way is not polled any more. Calls of verbs that only the
# kernel makes are traced. Nothing is sent from pages that a consumer has taken back after a drain. A LOCAL_INV does not wait for a slow
# cable. A peer does not invalidate an L_Key. A region that is mapped again keeps its pages until it is registered again. Each behavior
# meets the large sends.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/compat.sh"
. "$here/../lib/traces.sh"
build=$(mktemp -d)
tracer=''
trap 'kill $tracer 2>/dev/null; rmmod lso late asks drain inval lkey remap; pibctl del pib1; pibctl del pib0; rm -rf "$build"' EXIT

# The modules that vm/compiled has made, if check has brought them
make_modules() {
	cp "$here/../modules-$(uname -r)"/*.ko "$build" 2>/dev/null && return
	cp "$here"/modules/* "$build" && make -s -C "/lib/modules/$(uname -r)/build" "M=$build" modules
}
active() { grep -q ACTIVE /sys/class/infiniband/pib0/ports/1/state; }
# loads MODULE [PARAMETER]...: it does what it does when it is loaded
loads() {
	dmesg -C
	insmod "$build/$1.ko" "${@:2}" || { dmesg | grep "$1"; return 1; }
}
taken_back() { dmesg | grep -q "drain: taken back"; }
pushed_back() { [ "$(cat /sys/class/infiniband/pib0/ports/1/hw_counters/tx_pushed_back)" -gt "$1" ]; }
# drain_stalled: a send that waits in its QP for a cable that is full when the QP is drained
drain_stalled() {
	local module before rc=0
	rmmod drain
	before=$(cat /sys/class/infiniband/pib0/ports/1/hw_counters/tx_pushed_back)
	pibctl link set pib0/1 healthy rate 8k buffer 4352 || return 1
	loads drain stalled=1 & module=$!
	wait_for 20 taken_back && pushed_back "$before" && pibctl link set pib0/1 healthy || rc=1
	echo 1 >/sys/module/drain/parameters/go
	wait $module && [ $rc = 0 ]
}
invalidated() { dmesg | grep -q "inval: result"; }
# invalidates: a region, from which the answer to a READ waits for a cable that is slow
invalidates() {
	local module rc=0
	pibctl link set pib0/1 healthy rate 8k || return 1
	loads inval & module=$!
	wait_for 30 invalidated || rc=1
	pibctl link set pib0/1 healthy
	echo 1 >/sys/module/inval/parameters/go
	wait $module && [ $rc = 0 ]
}

saw_it() { jq -n "first(inputs | select($1))" "$build/trace" 2>/dev/null | grep -q .; }
# saw VERB EXPRESSION: a call that has succeeded, of which that is true
saw() { wait_for 20 saw_it ".verb == \"$1\" and .device == \"pib0\" and .result == \"OK\" and .number > 0 and $2" || { cat "$build/trace"; return 1; }; }

# behaves NAME: with that behavior large sends are as they were, but where an AH of another PD is refused
behaves() {
	local refuses=0 late=0 rc
	[ "$1" != ah-pd-at-post ] || refuses=1
	[ "$1" != late-completions ] || late=1
	pibctl set pib0 behavior "$1" seed 7 || return 1
	rmmod lso
	loads lso refuses_ah=$refuses completes_late=$late
	rc=$?
	pibctl set pib0 behavior none
	return $rc
}

names=$(pibctl set pib0 behavior no-such 2>&1 | sed -n 's/.*accepted are \(.*\), none and random.*/\1/p' | tr -d ,)
ktap_plan $((20 + $(wc -w <<<"$names")))
modprobe -a ib_core ib_uverbs
mountpoint -q /sys/kernel/tracing || mount -t tracefs nodev /sys/kernel/tracing
check "the modules are built" make_modules
check "an HCA without a subnet manager" pibctl add pib0 netdev eth0 standalone
check "ACTIVE" wait_for 20 active
shown "Large sends of a consumer in the kernel (IB_WR_LSO)" kernel "nonsense is refused, sense is sent" loads lso
check "there are behaviors" test -n "$names"
for name in $names; do check "large sends: $name" behaves "$name"; done
check "a CQ goes while a call is late" loads late
pibctl -j trace event verb >"$build/trace" &
tracer=$!
check "a trace of verbs" wait_for 30 trace_runs "$tracer"
check "calls that only the kernel makes" loads asks
check "get_dma_mr" saw get_dma_mr '.object == "mr" and .access == "0x6"'
check "alloc_mr" saw alloc_mr '.object == "mr" and .max_sge == 8 and .type == 0'
check "modify_ah" saw modify_ah '.object == "ah" and .sl == 3 and .dlid > 0 and .ah_port == 1 and .grh == 0'
check "query_ah" saw query_ah '.object == "ah" and .sl == 3 and .dlid > 0 and .ah_port == 1 and .grh == 0'
check "a peer does not invalidate an L_Key" loads lkey
check "an R_Key leads to its pages while the region is mapped again" loads remap
check "another HCA" pibctl add pib1 netdev eth0 standalone
check "ACTIVE, too" wait_for 20 grep -q ACTIVE /sys/class/infiniband/pib1/ports/1/state
check "a cable that is long" pibctl link set pib0/1 latency 2s
check "nothing is sent from pages that were taken back after a drain" loads drain
check "nor what has not left the queue pair" drain_stalled
check "a LOCAL_INV does not wait for what waits for a cable" invalidates
ktap_end

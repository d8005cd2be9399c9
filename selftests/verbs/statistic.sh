#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Counters of QPs (`rdma statistic qp`): bound by rule and by hand, and that the port's totals neither lose nor
# double what bound QPs have counted.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap 'pkill -x ib_read_bw; hosts_clean' EXIT
LINK=pib0/1
COUNTER=rx_read_requests

stat() { h 1 rdma -j statistic "$@"; }
# Of one counter, or of all: the QPs' and the port's.
bound() { stat qp show link $LINK | jq -r "[.[] | select(.cntn != null) | .$COUNTER] | add // 0"; }
total() { stat show link $LINK | jq -r ".[0].$COUNTER"; }
counters() { stat qp show link $LINK | jq -r '.[].cntn // empty'; }
mode_is() { h 1 rdma statistic qp mode link $LINK | grep -Eq "$1"; }
lqpn() { h 1 rdma resource show qp link $LINK | sed -n '/ib_read_bw/s/.* lqpn \([0-9]*\) .*state RT[RS].*/\1/p' | head -n 1; }
has_lqpn() { [ -n "$(lqpn)" ]; }
more_than() { [ "$("$1")" -gt "$2" ]; }
none_bound() { [ -z "$(counters)" ]; }

# Host 2 reads from host 1 until told to stop.
read_on() {
	h 1 ib_read_bw -d pib0 -F -s 512 -D 600 >/tmp/reader.1 2>&1 &
	wait_for 10 h 1 sh -c 'ss -ltn | grep -q :18515' || return 1
	h 2 ib_read_bw -d pib1 -F -s 512 -D 600 "$(addr4 1)" >/tmp/reader.2 2>&1 &
	wait_for 20 has_lqpn || { h 1 rdma resource show qp; return 1; }
}
read_off() {
	pkill -x ib_read_bw
	wait_for 10 eval '! pgrep -x ib_read_bw'
	wait_for 10 none_bound
}

# A device has its counters in the sysfs of one namespace: its own, or the first.
sysfs() { port_attr 1 hw_counters/$COUNTER 2>/dev/null || cat "/sys/class/infiniband/pib0/ports/1/hw_counters/$COUNTER"; }

# The sum at the port does not grow and does not shrink while nobody reads.
total_is_steady() {
	local before
	before=$(total)
	[ "$before" -ge "$1" ] && [ "$(total)" = "$before" ] &&
		[ "$(sysfs)" = "$before" ]
}

bind_by_hand() { h 1 rdma statistic qp bind link $LINK lqpn "$(lqpn)"; }
unbind_by_hand() { h 1 rdma statistic qp unbind link $LINK cntn "$(counters)" lqpn "$(lqpn)"; }

ktap_plan 14
hosts_make 2
pib_add 1 standalone && pib_add 2 standalone && wait_active 10 || { echo "Bail out! no ports"; exit 1; }

check "rule: by type" h 1 rdma statistic qp set link $LINK auto type on
check "the mode is shown" mode_is "auto type on"
check "reads begin" read_on
check "a counter counts what its QPs do" wait_for 20 more_than bound 0
seen=$(bound)
check "it goes on" wait_for 20 more_than bound "$seen"
seen=$(bound)
check "the port's total contains it" more_than total "$((seen - 1))"
check "the QPs go, and so does the counter" read_off
check "the port keeps what it has counted" total_is_steady "$seen"
check "no rule" h 1 rdma statistic qp set link $LINK auto off

read_on >/dev/null || { echo "Bail out! no reader"; exit 1; }
refuse "no such QP to bind" "no such|invalid|argument|fail" h 1 rdma statistic qp bind link $LINK lqpn 16000000
check "a QP bound by hand" bind_by_hand
check "its counter counts" wait_for 20 more_than bound 0
before=$(total)
check "unbound, it counts into the port's" eval 'unbind_by_hand && none_bound && wait_for 20 more_than total $before'
read_off
check "in the end the port has it all" total_is_steady "$before"
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Packets that wait for ever, in a lane without a weight, do not keep memory from who wants it back, nor MADs from their end.
# (vl.sh has processes that are killed.)
#
#	pib0 ==1ms== s-0 --- pib1	what pib0 sends by SL 1 stays in the lane of its cable
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/topology.sh"
trap 'kill $(jobs -p) 2>/dev/null; topology_clean' EXIT

ktap_plan 20
topology_init
for name in wanted flows mads; do check "$name compiles" program $name /tmp/$name; done

port() { cat "/sys/class/infiniband/pib0/ports/1/$1"; }
discards() { port counters/port_xmit_discards; }
says() { same "$(/tmp/wanted pib0 pib1 1 "$2" 2>&1)" "$1"; }
gone() { ! pgrep -x "$1"; }
killed() {
	pkill -KILL -x "$1"
	wait_for 20 gone "$1"
}
cable() { pibctl -j show links | jq -r '.links[] | select([.a.node, .b.node] | index("pib0")) | "\(.a.node)/\(.a.port)"'; }

cat >/tmp/lanes.conf <<-END
	qos TRUE
	qos_max_vls 8
	qos_high_limit 0
	qos_vlarb_high 0:0
	qos_vlarb_low 0:16
	qos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7
END
check "load" pibctl fabric load "$(net mesh 1 2)"
fabric_sm -Q -F /tmp/lanes.conf
check "SUBNET UP" subnet_up
check "ACTIVE" wait_for 30 all_active
check "a cable with lanes" pibctl link set "$(cable)" latency 1ms

# A packet whose memory nobody wants back waits on.
/tmp/flows -n 3 -s 65536 pib0:pib1:1 >/tmp/flows.out 2>&1 &
WAIT=$(port counters/port_xmit_wait)
waits() { more "$(port counters/port_xmit_wait)" $((WAIT + 2000000)); }
check "packets wait for two seconds" wait_for 60 waits
check "none is discarded" same "$(discards)" 0
check "who has sent them is killed, and gone" killed flows
check "his are discarded" more "$(discards)" 0

check "in SQE" says "success, local protection error, Work Request Flushed Error" sqe
check "a window is bound anew" says "done" bind
check "LOCAL_INV of a window" says "done" invalidate
check "a UC queue pair goes to RESET" says "done" reset

# Short ones are copied: they stay.
pushed() { more "$(port hw_counters/tx_pushed_back)" "$1"; }
BEFORE=$(port hw_counters/tx_pushed_back)
/tmp/flows -n 6000 -s 64 pib0:pib1:1 >/tmp/flows.out 2>&1 &
check "the lane is full" wait_for 60 pushed "$BEFORE"
LOST=$(discards)
/tmp/mads pib0 "$(lid_of pib1)" 1 20 >/tmp/mads.out 2>&1 &
check "MADs for it are sent" wait_for 20 grep -q sent /tmp/mads.out
lost() { more "$(discards)" "$LOST"; }
check "they are discarded" wait_for 20 lost
check "others pass" timeout 20 perfquery -C pib0 "$(lid_of pib1)" 1
check "who has sent them is killed, and gone" killed mads
ktap_end

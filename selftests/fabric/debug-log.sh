#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# With dynamic debug the module says why a verb was refused, and what became of queue pairs, ports and links.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/programs.sh"
control=/sys/kernel/debug/dynamic_debug/control
trap 'echo "module pib -p" >$control; hosts_clean' EXIT

# mark, log: the log from the last "mark" on.
mark() { marker="debug-log: $((++marks))" && echo "$marker" >/dev/kmsg; }
log() { dmesg | sed "1,/$marker/d"; }
says() { log | grep -E -- "$1" || { log | grep pib; return 1; }; }
quiet() { dmesg | grep -q "$marker" && ! log | grep -E 'pib.*: (qp |.*port )'; }
marks=0

[ -w $control ] || { echo "1..0 # SKIP the kernel has no dynamic debug"; exit 4; }
ktap_plan 26
hosts_make 2
modprobe pib	# the control file knows modules that are there
mark
check "it is switched on" sh -c "echo 'module pib +p' >$control"
pib_add 1 && pib_add 2 && sm_start 1
check "subnet up" wait_active 60
check "a link is made" says 'pib: .*, port [0-9]+: link made, found by discovery'
check "a session begins" says 'pib: .*, port [0-9]+: session with '
check "a link comes up" says 'pib: .*, port [0-9]+: link up'
check "the SM has a port go from state to state" says 'pib: .* pib0, port 1: ACTIVE \(LINK_UP\), was ARMED'
check "the SM gives a port a LID" says "pib: .* pib1, port 1: .*, LID [1-9][0-9]*, SM's LID [1-9]"

mark
refuse "a QP of 100000 receives is refused" "create QP" h 1 ibv_rc_pingpong -d "$(dev 1)" -r 100000
check "the log says why" says 'pib0: create_qp: 1 and 100000 work requests'
mark
check "leap compiles" program leap /tmp/leap
refuse "a QP cannot go from RESET to RTS" "Invalid argument" h 1 /tmp/leap "$(dev 1)"
check "the log says why" says 'pib0: qp [0-9]+: modify_qp: RESET to RTS with mask 0x1$'
mark
refuse "service level 16 is refused" "modify QP to RTR" pair 1 2 20 ibv_rc_pingpong -l 16
check "the log says why, and of which QP" says 'pib0: qp [0-9]+: modify_qp: address'

# The first process has more than half of the device memory, and waits for a client.
mark
h 1 ibv_rc_pingpong -d "$(dev 1)" -j -s 10000000 >/dev/null 2>&1 &
holder=$!
listens() { h 1 ss -Hltn | grep -q :18515; }
check "a process has device memory" wait_for 20 listens
refuse "the next gets none" "mem" h 1 ibv_rc_pingpong -d "$(dev 1)" -p 18516 -j -s 10000000
check "the log says of what there was not enough, and how much is used" \
	says 'pib0: 2442 more pages of device memory: 2442 of 4096 are used'
pkill -x ibv_rc_pingpong
wait $holder
mark
refuse "no user gets more than half" "mem" h 1 setpriv --reuid 65534 --regid 65534 --clear-groups \
	ibv_rc_pingpong -d "$(dev 1)" -j -s 10000000
check "the log says whose share it is" says 'pib0: 2442 more pages of device memory: user 65534 has 0 of 2048'

mark
check "traffic" pair 1 2 20 ibv_rc_pingpong -n 10
states() { says 'qp [0-9]+: modify_qp: RESET to INIT' && says 'INIT to RTR' && says 'RTR to RTS'; }
check "states of its QPs" states

# The server is killed, so the client's writes get no answers any more.
mark
# The view of a namespace has no counters on every kernel.
sent() { cat "/sys/class/infiniband/$(dev 2)/ports/1/counters/port_xmit_data"; }
before=$(sent)
(pair 1 2 60 ib_write_bw -F -D 30) >/dev/null 2>&1 &
running=$!
busy() { [ "$(sent)" -gt $((before + 1000000)) ]; }
wait_for 20 busy
h 1 pkill -o -KILL -x ib_write_bw
wait $running
lost() { says 'pib1: qp [0-9]+: a send work request has failed: transport retry' && says 'pib1: qp [0-9]+: ERR, was RTS'; }
check "the log says why a QP is in ERR" wait_for 60 lost

mark
h 2 ip link set eth0 down
check "a link goes down" wait_for 10 says 'pib: .*, port [0-9]+: link down'
check "at its other end, too" wait_for 20 trunk_is false

echo "module pib -p" >$control
mark
h 2 ip link set eth0 up
check "it comes up again" wait_for 60 trunk_is true
check "nothing is said when it is off" quiet
ktap_end

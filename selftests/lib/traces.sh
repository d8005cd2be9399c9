# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash

# trace_runs [PID]: a "pibctl trace" (that process) misses nothing from now on. A new instance of tracefs is on before it has events, and off
# while it gets them, so these are looked at first.
trace_runs() {
	local instance
	for instance in /sys/kernel/tracing/instances/pibctl-${1:-*}; do
		[[ "$(cat "$instance/events/pib/enable" 2>/dev/null)" == [1X] && "$(cat "$instance/tracing_on" 2>/dev/null)" == 1 ]] && return
	done
	return 1
}

# keep_traced HOST: from now on no trace of pibctl's has the kernel patch code that runs: two instances have all events, and record none. QEMU
# before 8.1 without KVM may run the breakpoint of such a change after the change is done, and the kernel dies: "Oops: int3".
keep_traced() {
	# shellcheck disable=SC2016  # of the shell there
	h "$1" sh -c 't=/sys/kernel/tracing; mountpoint -q $t || mount -t tracefs nodev $t
		for i in $t/instances/kept-1 $t/instances/kept-2; do mkdir $i && echo 0 >$i/tracing_on && echo 1 >$i/events/pib/enable || exit 1; done'
}
# keep_no_more HOST: the opposite
keep_no_more() { h "$1" rmdir /sys/kernel/tracing/instances/kept-1 /sys/kernel/tracing/instances/kept-2; }

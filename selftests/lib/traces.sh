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

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Hostile processes on both hosts' devices, as nobody: random commands, rings that are written to, strange memory.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
trap 'kill $(jobs -p) 2>/dev/null; hosts_clean' EXIT

ktap_plan $((2 + AFTER))
hosts_make 2
two_ports
before
for k in 1 2; do hostile $k process --seconds "$seconds" >/tmp/process.$k 2>&1 & pids[k]=$!; done
for k in 1 2; do
	wait "${pids[k]}"
	status=$?
	sed "s/^/# $(dev $k): /" /tmp/process.$k
	check "host $k: hostile processes get somewhere, and end" [ $status = 0 ]
done
after
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Hostile processes on both hosts' devices, as nobody: random commands, rings that are written to, strange memory.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
trap 'kill $(jobs -p) 2>/dev/null; hosts_clean' EXIT

ktap_plan $((3 + AFTER))
modprobe fuse 2>/dev/null	# for memory whose pages come late
hosts_make 2
two_ports
before
# Processes have it mapped, registered and named in work requests, but may only read it (world.cc).
bash=$(sha256sum /usr/bin/bash)
for k in 1 2; do hostile $k process --seconds "$seconds" >/tmp/process.$k 2>&1 & pids[k]=$!; done
for k in 1 2; do
	wait "${pids[k]}"
	status=$?
	sed "s/^/# $(dev $k): /" /tmp/process.$k
	check "host $k: hostile processes get somewhere, and end" [ $status = 0 ]
done
check "a file that they may only read is what it was" [ "$(sha256sum /usr/bin/bash)" = "$bash" ]
after
ktap_end

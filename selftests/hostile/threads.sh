#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Control calls of one thread against the traffic of others: objects are registered again, resized, moved, destroyed.
#
#	threads.sh [PART OF A CONTEST'S NAME]
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
trap 'kill $(jobs -p) 2>/dev/null; hosts_clean' EXIT

contests() { hostile 1 threads --seconds "$seconds" ${1:+--what "$1"} >/tmp/threads 2>&1; }

ktap_plan $((1 + AFTER))
hosts_make 2
two_ports
before
check "control against data path" contests "${1:-}"
sed 's/^/# /' /tmp/threads
after
ktap_end

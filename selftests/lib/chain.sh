# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Two HCAs of one host with a chain of two switches between them; to be sourced after hosts.sh.
#
#	pib0/1 -- sa/1 [sa] sa/4 -- sb/4 [sb] sb/1 -- pib1/1

chain() {
	h 1 pibctl add pib0 && h 1 pibctl add pib1 && h 1 pibctl switch add sa ports 4 && h 1 pibctl switch add sb ports 4 &&
		h 1 pibctl link add pib0/1 sa/1 && h 1 pibctl link add sa/4 sb/4 && h 1 pibctl link add sb/1 pib1/1
}
both_active() { grep -q ACTIVE /sys/class/infiniband/pib0/ports/1/state && grep -q ACTIVE /sys/class/infiniband/pib1/ports/1/state; }

# run PROGRAM ARGS...: from pib1 to pib0; PORT is its TCP port.
PORT=18515
run() {
	h 1 timeout 100 "$1" -d pib0 "${@:2}" >/tmp/pair.server 2>&1 &
	local server=$!
	wait_for 20 sh -c "ip netns exec h1 ss -Hltn | grep -q :$PORT" &&
		h 1 timeout 100 "$1" -d pib1 "${@:2}" 127.0.0.1 >/tmp/pair.client 2>&1 && wait $server && return 0
	kill $server 2>/dev/null
	wait $server
	tail -n 5 /tmp/pair.client /tmp/pair.server
	return 1
}

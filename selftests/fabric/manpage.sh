#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The examples of pibctl(8), in the order in which they stand there, on a host with eth0; then the first session of pib(7) on two
# hosts, and in it the commands of the first table of docs/debugging.md, which selftests/check copies beside this folder.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap hosts_clean EXIT

# commands_of PAGE: the lines of it that are typed
commands_of() {
	local page
	page=$(man -w "$1" 2>/dev/null || ls /usr/share/man/man[0-9]/"$1".[0-9]*)
	(if [[ $page == *.gz ]]; then zcat "$page"; else cat "$page"; fi) | sed -n 's/^\.Dl # //p'
}
mapfile -t examples < <(commands_of pibctl)
mapfile -t session < <(commands_of pib)
mapfile -t questions < <(sed -n '/^| question/,/^$/p' "$here/../debugging.md" | grep -o '`[^`]*`' | tr -d '`')

ktap_plan $((${#examples[@]} + ${#session[@]} + ${#questions[@]} + 10))
hosts_make 2
mountpoint -q /sys/kernel/tracing || mount -t tracefs nodev /sys/kernel/tracing
check "there are examples" test ${#examples[@]} -gt 5
# Each page of ours leads to the others.
leads() { grep -q "^\.Xr ${2%.*} ${2#*.}" "/usr/share/man/man${1#*.}/$1" || { echo "$1 does not name $2"; return 1; }; }
lead_on() {
	local name other
	for name in pib.7 pibctl.8 pibnetd.8 pibping.8; do
		for other in pib.7 pibctl.8 pibnetd.8 pibping.8; do [ "$name" = "$other" ] || leads $name $other || return 1; done
	done
	leads pib.7 pib_inject.3 && leads pibctl.8 pib_inject.3 && leads pib_inject.3 pibctl.8
}
check "the pages lead to one another" lead_on
socket_named() {
	local socket
	socket=$(sed -n 's/^ExecStart=.*--control //p' /usr/lib/systemd/system/pibnetd.service) && [ -n "$socket" ] &&
		grep -q "^\.Pa $socket\b" /usr/share/man/man8/pibnetd.8
}
check "pibnetd(8) names the service's socket" socket_named
for example in "${examples[@]}"; do
	check "$example" h 1 sh -c "${example//\\-/-}"
done
for name in $(h 1 pibctl -j show | jq -r '.hcas[].name, .switches[].name'); do
	h 1 pibctl del "$name" 2>/dev/null
done

check "pib(7) has a first session, debugging.md has questions" test ${#session[@]} -ge 2 -a ${#questions[@]} -ge 8
check "the second host" pib_add 2
for command in "${session[@]}"; do check "pib(7): $command" h 1 sh -c "$command"; done
check "an Active port on each" wait_active 60
# A trace goes on until it is interrupted.
answers() { if [[ $1 == *trace* ]]; then h 1 sh -c "timeout --preserve-status 2 $1"; else h 1 sh -c "$1"; fi; }
for command in "${questions[@]}"; do check "debugging.md: $command" answers "$command"; done
sees_both() { [ "$(h 1 ibnetdiscover | grep -c '^Ca')" = 2 ]; }
check "ibnetdiscover finds both" sees_both
check "ibv_rc_pingpong" pair 1 2 60 ibv_rc_pingpong
hosts_clean_now() { sm_stop 1; h 1 pibctl del pib0; }
check "the HCA goes" hosts_clean_now
check "the same by rdma" h 1 sh -c "rdma link add pib0 type pib netdev eth0 && rdma link delete pib0"
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The examples of pibctl(8), in the order in which they stand there, on a host with eth0; then the first session of pib(7) on two
# hosts, and in it all commands of docs/debugging.md, which selftests/check copies beside this folder.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
work=$(mktemp -d)
control=/sys/kernel/debug/dynamic_debug/control
trap 'hosts_clean; rm -rf "$work"' EXIT

# commands_of PAGE: the lines of it that are typed
commands_of() {
	local page
	page=$(man -w "$1" 2>/dev/null || ls /usr/share/man/man[0-9]/"$1".[0-9]*)
	(if [[ $page == *.gz ]]; then zcat "$page"; else cat "$page"; fi) | sed -n 's/^\.Dl # //p'
}
mapfile -t examples < <(commands_of pibctl)
mapfile -t session < <(commands_of pib)
# The code in debugging.md, a line for each: between backquotes, but for lines of the log and messages of programs, and in blocks.
code() {
	sed '/^| \(line\|message\)/,/^$/d' "$here/../debugging.md" | grep -o '`[^`]*`' | tr -d '`'
	sed -n 's/^    \(\$ \)\{0,1\}//p' "$here/../debugging.md" | sed 's/\t#.*//'
}
# It is a command if it begins with a program, or a line for dynamic debug.
questions() {
	local line
	code | while read -r line; do
		if type -P "${line%% *}" >/dev/null || [[ $line == "module "* ]]; then echo "$line"; fi
	done | awk '!seen[$0]++'
}
mapfile -t questions < <(questions)

ktap_plan $((${#examples[@]} + ${#session[@]} + ${#questions[@]} + 12))
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

check "pib(7) has a first session, debugging.md has questions" test ${#session[@]} -ge 2 -a ${#questions[@]} -ge 30
check "the second host" pib_add 2
for command in "${session[@]}"; do check "pib(7): $command" h 1 sh -c "$command"; done
check "an Active port on each" wait_active 60
# for_a_while COMMAND: what goes on until it is interrupted
for_a_while() { (cd "$work" && h 1 timeout --preserve-status -s TERM 2 bash -c "exec $1"); }
# on_a_bridge COMMAND: makes an HCA where there is a bridge br0.
on_a_bridge() {
	local rc=0
	h 1 ip link add br0 type bridge && h 1 ip link set br0 up || return 1
	h 1 sh -c "${1/pib0/pib9} && pibctl del pib9" || rc=1
	h 1 ip link del br0
	return $rc
}
# answers COMMAND: with the names that things have here. A command that the page only mentions, without arguments, is asked
# for its help. Logs and settings are the first namespace's.
answers() {
	local command=${1/qp 17/qp 1}
	command=${command/route replace .../route replace 10.77.0.0/24 dev eth0}
	case $command in
	"pibctl trace" | tcpdump*) for_a_while "$command" ;;
	"pibctl capture") for_a_while "$command pib0 -w pib0.pcapng" ;;
	"pibctl set" | "pibctl inject") $command --help ;;
	*"netdev br0") on_a_bridge "$command" ;;
	ibqueryerrors) h 1 ibqueryerrors | grep "Summary: .* nodes checked" ;;	# it fails if a port has counted anything
	pibping) h 1 pibping "$(addr4 2)" ;;
	"opensm -B") [[ " ${session[*]} " == *" $command "* ]] ;;
	"man "*) bash -o pipefail -c "$command | grep NAME" ;;
	"dmesg -w"*) timeout 2 bash -c "$command"; dmesg | grep pib ;;
	module*) echo "$command" >$control && echo "${command/+/-}" >$control ;;
	echo* | modprobe* | sysctl*) bash -c "$command" ;;
	*) h 1 sh -c "$command" ;;
	esac
}
for command in "${questions[@]}"; do
	if [[ $command == module* || $command == *dynamic_debug* ]] && ! [ -w $control ]; then
		skip "debugging.md: $command" "the kernel has no dynamic debug"
	else
		check "debugging.md: $command" answers "$command"
	fi
done
check "dynamic debug is off again" sh -c "! [ -w $control ] || echo 'module pib -p' >$control"
check "the route, too" h 1 ip route replace 10.77.0.0/24 dev eth0
sees_both() { [ "$(h 1 ibnetdiscover | grep -c '^Ca')" = 2 ]; }
check "ibnetdiscover finds both" sees_both
check "ibv_rc_pingpong" pair 1 2 60 ibv_rc_pingpong
hosts_clean_now() { sm_stop 1; h 1 pibctl del pib0; }
check "the HCA goes" hosts_clean_now
check "the same by rdma" h 1 sh -c "rdma link add pib0 type pib netdev eth0 && rdma link delete pib0"
ktap_end

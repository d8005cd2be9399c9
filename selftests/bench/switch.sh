#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The cost of a switch in the kernel: two HCAs with a cable from one to the other, and with a chain of switches
# between them. "ns/switch" is what one switch adds to the time of a message, its acknowledgements included. 64 KiB
# travel as bursts, the others are a packet each.
# Part of `make bench`; alone:
#
#	selftests/vm/run --copy selftests/lib --copy selftests/bench -- bench/switch.sh
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/chain.sh"
. "$here/points.sh"
LAYOUT=netns
switches=8
trap 'for ((i = 1; i <= switches; i++)); do h 1 pibctl del s$i; done 2>/dev/null; h 1 pibctl del pib1 2>/dev/null; hosts_clean' EXIT

link() { h 1 pibctl link add "$1" "$2" || die "no cable from $1 to $2"; }
active() { wait_for 60 both_active || die "the ports are not ACTIVE"; }

hosts_make 2
for dev in pib0 pib1; do
	h 1 pibctl add $dev netdev eth0 || die "no HCA"
	h 1 pibctl link del $dev/1
done
link pib0/1 pib1/1
sm_start 1
active
declare -A direct through
for point in "${points[@]}"; do direct[${point%% *}]=$(measure "$point" run) || exit 1; done

h 1 pibctl link del pib0/1
for ((i = 1; i <= switches; i++)); do h 1 pibctl switch add s$i ports 2 || die "no switch"; done
link pib0/1 s1/1
for ((i = 1; i < switches; i++)); do link s$i/2 s$((i + 1))/1; done
link s$switches/2 pib1/1
active
for point in "${points[@]}"; do through[${point%% *}]=$(measure "$point" run) || exit 1; done

rows=()
printf '%-10s%-20s%-10s%12s%12s%8s%12s\n' path case unit "$switches switches" cable ratio ns/switch
for point in "${points[@]}"; do
	read -r name unit _ <<<"$point"
	scale=1
	[ "$unit" = msg/s ] || scale=16		# messages of 64 KiB in a MiB
	read -r ratio cost < <(echo "${through[$name]} ${direct[$name]} $scale $switches" |
		awk '{ printf "%.2f %.0f\n", $1 / $2, (1e9 / $1 - 1e9 / $2) / $3 / $4 }')
	printf '%-10s%-20s%-10s%12.0f%12.0f%8s%12s\n' switches "$name" "$unit" "${through[$name]}" "${direct[$name]}" "$ratio" "$cost"
	rows+=("{\"case\":\"$name\",\"path\":\"switches\",\"unit\":\"$unit\",\"better\":\"higher\",\"pib\":${through[$name]},\"cable\":${direct[$name]}}"
		"{\"case\":\"${name}_cost\",\"path\":\"switches\",\"unit\":\"ns/switch\",\"better\":\"lower\",\"pib\":$cost}")
done
echo "BENCH-JSON [$(IFS=,; echo "${rows[*]}")]"

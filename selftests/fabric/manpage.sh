#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The examples of pibctl(8), in the order in which they stand there, on a host with eth0.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap hosts_clean EXIT

page=$(man -w pibctl 2>/dev/null || ls /usr/share/man/man8/pibctl.8*)
mapfile -t examples < <(if [[ $page == *.gz ]]; then zcat "$page"; else cat "$page"; fi | sed -n 's/^\.Dl # //p')

ktap_plan $((${#examples[@]} + 2))
hosts_make 2
check "there are examples" test ${#examples[@]} -gt 5
# Each page of ours leads to the others.
lead_on() {
	local name other
	for name in pib.7 pibctl.8 pibnetd.8 pibping.8; do
		for other in pib.7 pibctl.8 pibnetd.8 pibping.8; do
			[ "$name" = "$other" ] || grep -q "^\.Xr ${other%.*} ${other#*.}" "/usr/share/man/man${name#*.}/$name" || {
				echo "$name does not name $other"
				return 1
			}
		done
	done
}
check "the pages lead to one another" lead_on
for example in "${examples[@]}"; do
	check "$example" h 1 sh -c "${example//\\-/-}"
done
for name in $(h 1 pibctl -j show | jq -r '.hcas[].name, .switches[].name'); do
	h 1 pibctl del "$name" 2>/dev/null
done
ktap_end

# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The marks that a flood from outside leaves behind, for hostile.sh and hostile-pibnetd.sh: the counters of the uplinks that
# stand in /tmp/hostile.before and /tmp/hostile.after. Needs ktap.sh.

# Why a datagram is dropped. The rare ones need not happen in every flood.
drop_reasons=(rx_short rx_version rx_unknown_link rx_wrong_address rx_bad_hello rx_bad_authentication rx_malformed)
rare_drop_reasons=(rx_bad_icrc rx_other_fabric rx_stranger rx_no_port)

counter() { jq "[.. | objects | .$2? // empty] | add // 0" "/tmp/hostile.$1"; }
growth() { echo $(($(counter after "$1") - $(counter before "$1"))); }
grew() { [ "$(growth "$1")" -gt 0 ]; }

# accounted FEW: every datagram that came in has a reason why it was dropped, but for the FEW that belong here.
accounted() {
	local sum=0 name all
	for name in "${drop_reasons[@]}" "${rare_drop_reasons[@]}"; do sum=$((sum + $(growth "$name"))); done
	all=$(growth rx_datagrams)
	echo "$all datagrams, $sum dropped with a reason"
	[ "$all" -gt 1000 ] && [ $sum -ge $((all - $1)) ] && [ $sum -le "$all" ]
}

# flood_checks FEW: a check for each reason that must have been met, and one for the sum.
flood_checks() {
	local name
	for name in "${drop_reasons[@]}"; do check "dropped and counted: $name" grew "$name"; done
	check "all are accounted for" accounted "$1"
}

# SPDX-License-Identifier: GPL-2.0
# The signs for the network in datagrams that come to h2 (fabric/underlay.py). Sourced after hosts.sh, which knows h2; $here
# is fabric/.

sniffed=$(mktemp -d)

# sniff COMMAND...: what comes to h2 meanwhile
sniff() {
	local pid rc=0
	rm -f "$sniffed"/*
	h 2 python3 "$here/underlay.py" eth0 "$sniffed/ready" "$sniffed/stop" >"$sniffed/seen" & pid=$!
	wait_for 20 test -e "$sniffed/ready" && "$@" || rc=1
	touch "$sniffed/stop"
	wait $pid && return $rc
}
# and_keepalives COMMAND...: the same, until links' own datagrams have come behind its data
and_keepalives() { "$@" && wait_for 20 came_since "$(uplink_counter 2 rx_datagrams)"; }
came_since() { [ "$(uplink_counter 2 rx_datagrams)" -gt $(($1 + 2)) ]; }
# saw FILTER: true of what came
saw() { jq -e "$1" "$sniffed/seen" || { cat "$sniffed/seen"; return 1; }; }

# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Whole fabrics in this namespace, made by "pibctl fabric load". Needs ktap.sh. The subnet manager
# sits at pib0 and keeps its files in $SM_DIR.

. "$(dirname "${BASH_SOURCE[0]}")/programs.sh"
. "$(dirname "${BASH_SOURCE[0]}")/opensm.sh"
SM_DIR=${SM_DIR:-/tmp/opensm.fabric}
nets=$(cd "$(dirname "${BASH_SOURCE[0]}")/../topologies" && pwd)

topology_init() {
	modprobe -a ib_umad ib_uverbs rdma_ucm "$@"
}

# net KIND ARGUMENTS...: a topology made by make-net; its file is printed
net() {
	local file
	file=$(mktemp "/tmp/$1.XXXXXX.net")
	"$nets/make-net" "$@" >"$file" && echo "$file"
}

port_guid() { echo "0x$(tr -d : <"/sys/class/infiniband/$1/ports/1/gids/0" | tail -c 17)"; }
lid_of() { echo $(($(cat "/sys/class/infiniband/$1/ports/${2:-1}/lid"))); }
switch_lid() { pibctl -j show "$1" | jq '.switches[0].ports[0].lid'; }

# fabric_sm [ARGUMENT...]: opensm in the background
fabric_sm() {
	rm -rf "$SM_DIR"
	mkdir -p "$SM_DIR"
	OSM_TMP_DIR=$SM_DIR OSM_CACHE_DIR=$SM_DIR opensm -g "$(port_guid pib0)" -f "$SM_DIR/opensm.log" \
		--pidfile "$SM_DIR/pid" -d 2 -B "$@" >"$SM_DIR/out" 2>&1
}

subnet_up() { wait_for "${1:-60}" grep -q "SUBNET UP" "$SM_DIR/opensm.log"; }

# Every port of an HCA with a cable, and every port of a switch with one, is ACTIVE.
all_active() {
	pibctl -j show | jq -e '[.hcas[].ports[], (.switches[].ports[] | select(.port != 0))]
		| map(select(.physical_state == "LINK_UP"))
		| length > 0 and all(.state == "ACTIVE")' >/dev/null
}

# As many nodes and cables as the file's, by what ibnetdiscover finds.
discovers() {
	ibnetdiscover -C pib0 >/tmp/discovered || return 1
	"$nets/net-graph" --no-guids "$1" >/tmp/graph.file
	"$nets/net-graph" --no-guids /tmp/discovered >/tmp/graph.discovered
	diff /tmp/graph.file /tmp/graph.discovered
}

allpairs_build() { program allpairs /tmp/allpairs; }

# loses COMMAND...: a call of talk whose message is lost, and not for want of something else: it says so
loses() {
	local out status=0
	out=$("$@" 2>&1) || status=$?
	echo "$out"
	[ "$status $out" = "1 lost" ]
}

# traffic_start [OPTION]... DEVICE...: allpairs between these devices, until it is asked for what has become of it. Not to
# be called by check, whose subshell would keep the pid.
traffic_pid='' traffic_status=0
traffic_start() {
	/tmp/allpairs -f "$@" >/tmp/traffic 2>&1 &
	traffic_pid=$!
}
traffic_runs() { wait_for 60 grep -q running /tmp/traffic || { cat /tmp/traffic; return 1; }; }
traffic_end() {
	kill "$traffic_pid"
	wait "$traffic_pid"
	traffic_status=$?
	traffic_pid=
}
traffic_clean() { [ -z "$traffic_pid" ] || kill -9 "$traffic_pid" 2>/dev/null; }
traffic_whole() { cat /tmp/traffic; return $traffic_status; }

topology_clean() {
	pkill -x opensm
	pibctl fabric clear
} 2>/dev/null

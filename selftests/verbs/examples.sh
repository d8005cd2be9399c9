#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# libibverbs' examples between two hosts under OpenSM, with each of their options.
#
#	examples.sh [PART OF A CASE'S NAME]...
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/cases.sh"
trap hosts_clean EXIT
N=${N:-200}

# PROGRAM | OPTIONS | what it needs
cases() {
	local p
	for p in rc uc ud srq; do
		echo "ibv_${p}_pingpong | -n $N"
		echo "ibv_${p}_pingpong | -n $N -e"
		echo "ibv_${p}_pingpong | -n $N -c"
		echo "ibv_${p}_pingpong | -n $N -e -c -g 0"
		echo "ibv_${p}_pingpong | -n $N -s 1 -c"
	done
	for p in rc uc srq; do
		echo "ibv_${p}_pingpong | -n 20 -s 1000000 -c"
		echo "ibv_${p}_pingpong | -n $N -m 256 -c"
		echo "ibv_${p}_pingpong | -n $N -m 4096 -s 10000 -c"
	done
	echo "ibv_ud_pingpong | -n $N -s 4096 -c"
	echo "ibv_srq_pingpong | -n $N -q 1"
	echo "ibv_srq_pingpong | -n 50 -q 64 -c"
	echo "ibv_rc_pingpong | -n $N -t"
	# Not -t with -e: with these the example takes an event without a completion for an error.
	echo "ibv_rc_pingpong | -n $N -N -c"
	echo "ibv_rc_pingpong | -n $N -N -t -c"
	echo "ibv_rc_pingpong | -n $N -o -c | odp"
	echo "ibv_rc_pingpong | -n $N -o -P -c | odp"
	echo "ibv_rc_pingpong | -n $N -O -c | odp"
	echo "ibv_srq_pingpong | -n $N -o -c | odp"
	echo "ibv_rc_pingpong | -n $N -j | dm"
	echo "ibv_xsrq_pingpong | -n 50"
	echo "ibv_xsrq_pingpong | -n 50 -e"
	echo "ibv_xsrq_pingpong | -n 50 -s 20000 -m 512"
	echo "ibv_xsrq_pingpong | -n 50 -o | odp"
}

has() { h 1 ibv_devinfo -v -d "$(dev 1)" | tr -d '\n' | grep -Eq "$1"; }
have() {
	case $1 in
	odp) has "general_odp_caps:[[:space:]]*ODP_SUPPORT" ;;
	dm) has "maximum available device memory:[[:space:]]*[1-9]" ;;
	'') ;;
	esac
}

# With -c a server looks at the first byte of each page, which is 0 at both ends. It prints what it sees, but does not fail.
# Behind so many addresses the last lines say nothing of a failure.
runs() {
	pair 1 2 60 "$@" || { grep -v "address:" /tmp/pair.server /tmp/pair.client; return 1; }
	! grep -h "invalid data" /tmp/pair.server /tmp/pair.client
}

one() {
	local program options need
	IFS='|' read -r program options need <<<"$1"
	read -r program <<<"$program"
	read -r need <<<"$need"
	have "$need" || { skip "$program$options" "the device offers no $need"; return; }
	# shellcheck disable=SC2086
	check "$program$options" runs "$program" $options
}

# The events of a port that a subnet manager brings up.
watch() {
	h 1 stdbuf -oL ibv_asyncwatch -d "$(dev 1)" >/tmp/asyncwatch 2>&1 &
	wait_for 10 grep -q "async event FD" /tmp/asyncwatch
}
saw() { wait_for 30 grep -Eqi "$1" /tmp/asyncwatch || { cat /tmp/asyncwatch; return 1; }; }

mapfile -t list < <(cases | chosen "$@")
ktap_plan $((${#list[@]} + 3))
hosts_make 2
pib_add 1 && pib_add 2
check "ibv_asyncwatch starts" watch
sm_start 1
wait_active 60 || { echo "Bail out! no subnet"; exit 1; }
check "ibv_asyncwatch: port active" saw "port.active"
check "ibv_asyncwatch: LID or SM change, or reregistration" saw "lid.change|sm.change|reregister"
for c in "${list[@]}"; do one "$c"; done
ktap_end

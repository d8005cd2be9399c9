#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# perftest's programs between two hosts under OpenSM: each program, connection type and option. They measure nothing
# here; they have to finish.
#
#	perftest.sh [PART OF A CASE'S NAME]...
#
# By default each program runs with each connection type and, over RC, with each option. FULL=1: every option with
# every type, and all sizes (-a). QUICK=1: each program with each type, and each option with one program.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/cases.sh"
trap hosts_clean EXIT
FULL=${FULL:-}
QUICK=${QUICK:-}
N=${N:-100}

types() {
	case $1 in
	ib_send_*) echo RC UC UD XRC ;;
	ib_write_*) echo RC UC XRC ;;
	*) echo RC XRC ;;
	esac
}

# options PROGRAM TYPE: one set a line
options() {
	local size="-s 4096"
	[ "$2" != UD ] || size="-s 2048"
	case $1 in ib_atomic_*) size= ;; esac
	echo "-n $N $size"
	[ -z "$FULL" ] || case $1-$2 in ib_atomic_*) ;; *) echo "-n 20 -a" ;; esac
	[ "$2" = RC ] || [ -n "$FULL" ] || return
	echo "-D 1 $size"
	case $2 in RC | UD) echo "-n $N $size -R" ;; esac	# perftest refuses it with others
	case $1 in
	ib_atomic_*)
		echo "-n $N -A CMP_AND_SWAP"
		echo "-n $N -A FETCH_AND_ADD -o 1"
		;;
	ib_read_*) echo "-n $N -s 100000 -o 1" ;;
	*) echo "-n $N -s 64 -I 64" ;;
	esac
	case $1 in ib_write_lat) ;; ib_write_bw) ;; *) echo "-n $N $size -e" ;; esac
	case $1 in
	*_bw)
		echo "-n $N $size -b"
		[ "$2" = UD ] || echo "-n $N $size -q 64"
		echo "-n $N $size -Q 10 -t 50"
		echo "-n $N $size -l 10"
		;;
	esac
	case $1 in
	ib_write_bw)
		echo "-n $N $size --write_with_imm"
		echo "-n 10 -s 8388608"
		;;
	ib_send_*) [ "$2" = XRC ] || echo "-n $N $size --use-srq" ;;
	esac
	# ib_send_lat (25.01) no longer knows its device's name when it leaves the group, and fails after a good run.
	case $1-$2 in ib_send_bw-UD) echo "-n $N $size -g" ;; esac
	echo "-n $N $size --use_old_post_send"
}

# The first program that takes it stands for every option.
quick() {
	awk '{
		option = $0
		sub(/^[^ ]* -c [^ ]* /, "", option)
		gsub(/-[ns] [0-9]+| /, "", option)
		if (option == "" || !seen[option]++) print
	}'
}

cases() {
	if [ -n "$QUICK" ]; then all_cases | quick; else all_cases; fi
}

all_cases() {
	local program type
	for program in ib_{send,write,read,atomic}_{bw,lat}; do
		for type in $(types "$program"); do
			options "$program" "$type" | sed "s/^/$program -c $type /"
		done
	done
}

# Over rdma_cm the server is known by the address of its IPoIB interface.
ipoib_up() {
	local k
	for k in 1 2; do
		wait_for 20 ip link show "$(ipoib "$k")" || h "$k" ip link show "$(ipoib "$k")" || return 1
		[ $LAYOUT = machines ] || ip link set "$(ipoib "$k")" netns "h$k" || return 1
		h "$k" ip addr add "10.78.0.$k/24" dev "$(ipoib "$k")" && h "$k" ip link set "$(ipoib "$k")" up || return 1
	done
	wait_for 30 h 1 ping -c 1 -W 1 10.78.0.2
}

run() (
	case " $* " in *" -R "*) addr4() { echo "10.78.0.$1"; } ;; esac
	pair 1 2 "${SECONDS_EACH:-120}" "$@"
)

mapfile -t list < <(cases | chosen "$@")
ktap_plan $((${#list[@]} + 1))
hosts_make 2
pib_add 1 && pib_add 2 && sm_start 1
wait_active 60 || { echo "Bail out! no subnet"; exit 1; }
check "IPoIB for rdma_cm" ipoib_up
for c in "${list[@]}"; do
	read -r -a words <<<"$c"
	check "$c" run "${words[@]}" -F
done
ktap_end

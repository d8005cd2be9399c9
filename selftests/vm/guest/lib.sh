# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For the lab machine's own scripts.

# port NAME: the device of that virtio-serial port.
port() {
	local dir
	for dir in /sys/class/virtio-ports/*; do
		[ "$(cat "$dir/name" 2>/dev/null)" = "$1" ] && echo "/dev/${dir##*/}" && return
	done
	echo /dev/null
}

# tell_leaks FOUND LOG: what kmemleak has found goes to the kernel log, line by line: /dev/kmsg takes no more at a time.
tell_leaks() {
	local line first=1
	while IFS= read -r line; do
		[ $first = 0 ] || echo "kmemleak: report:" >>"$2"
		first=0
		echo "kmemleak> $line" >>"$2"
	done <"$1"
}

leaks() {
	local known=/sys/kernel/debug/kmemleak
	[ -w $known ] || return 0
	# An object is reported once it is 5 s old and has not changed between two scans.
	echo scan >$known
	sleep 6
	echo scan >$known
	tell_leaks $known /dev/kmsg
}

# finish STATUS: the last words of this machine, and of those it leads.
finish() {
	local k others=()
	leaks
	if [ "$PIB_HOST" = 1 ]; then
		for ((k = 2; k <= PIB_HOSTS; k++)); do timeout $((30 * PIB_SLOW)) on "$k" /lab/guest/end 2>/dev/null & others+=($!); done
		[ ${#others[@]} = 0 ] || wait "${others[@]}"
	fi
	printf 'taint %s\nstatus %s\n' "$(</proc/sys/kernel/tainted)" "$1" >"$(port ctl)"
	busybox poweroff -f
}

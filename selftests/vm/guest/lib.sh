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

# finish STATUS: the last words of this machine, and of those it leads.
finish() {
	local k others=()
	if [ -w /sys/kernel/debug/kmemleak ]; then
		echo scan >/sys/kernel/debug/kmemleak
		sleep 6
		echo scan >/sys/kernel/debug/kmemleak
		if [ -s /sys/kernel/debug/kmemleak ]; then
			{ echo "kmemleak: report:"; cat /sys/kernel/debug/kmemleak; } >/dev/kmsg
		fi
	fi
	if [ "$PIB_HOST" = 1 ]; then
		for ((k = 2; k <= PIB_HOSTS; k++)); do timeout 15 on "$k" /lab/guest/end 2>/dev/null & others+=($!); done
		[ ${#others[@]} = 0 ] || wait "${others[@]}"
	fi
	printf 'taint %s\nstatus %s\n' "$(</proc/sys/kernel/tainted)" "$1" >"$(port ctl)"
	busybox poweroff -f
}

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

# kill_all [SPARE]: whatever a command left running, but for the lab's own.
kill_all() {
	local pid words
	for pid in /proc/[0-9]*; do
		pid=${pid#/proc/}
		case " 1 $$ ${watchdog:-} ${1:-} " in *" $pid "*) continue ;; esac
		# Kernel threads have no command line.
		{ IFS= read -rd '' words <"/proc/$pid/cmdline"; } 2>/dev/null
		[ -z "$words" ] || kill -9 "$pid" 2>/dev/null
	done
}

# finish STATUS: the last words of this machine.
finish() {
	if [ -w /sys/kernel/debug/kmemleak ]; then
		echo scan >/sys/kernel/debug/kmemleak
		sleep 6
		echo scan >/sys/kernel/debug/kmemleak
		if [ -s /sys/kernel/debug/kmemleak ]; then
			{ echo "kmemleak: report:"; cat /sys/kernel/debug/kmemleak; } >/dev/kmsg
		fi
	fi
	printf 'taint %s\nstatus %s\n' "$(</proc/sys/kernel/tainted)" "$1" >"$(port ctl)"
	busybox poweroff -f
}

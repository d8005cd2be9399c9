# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154  # $here is that of the suite
# The suites of hostile/ have this in common: two hosts, and afterwards all as it was.
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
LAYOUT=netns
seconds=$((${MINUTES:-1} * 60))
seed=${SEED:-$((RANDOM << 30 | RANDOM << 15 | RANDOM))}
echo "# SEED=$seed MINUTES=$((seconds / 60))"
ulimit -c 0
# UVERBS_METHOD_GET_CONTEXT frees a context that it refuses without its restrack entry, which has taken the task: kmemleak
# tells of that leak of Linux' own.
if [ -w /sys/kernel/debug/kmemleak ]; then
	echo "# kmemleak looks: no context is asked for by ioctl() that may be refused"
	WITHOUT=${WITHOUT:+$WITHOUT,}contexts
fi

bail() {
	echo "Bail out! $*"
	exit 1
}

two_ports() {
	pib_add 1 standalone && pib_add 2 standalone && wait_active 60 || bail "no ports"
}

# hostile K PART [OPTION]...: pib-hostile on host K's device.
hostile() {
	local k=$1
	shift
	# shellcheck disable=SC2086
	h "$k" pib-hostile "$@" --dev "$(dev "$k")" --seed "$seed" ${WITHOUT:+--without "$WITHOUT"}
}

# The processes that are left over, and in what the kernel keeps them.
leftovers() {
	local pid
	for pid in $(pgrep -x pib-hostile); do
		grep -E "^(Name|State|Uid)" "/proc/$pid/status"
		cat "/proc/$pid/stack"
	done 2>/dev/null
}
none_left() {
	wait_for 60 sh -c '! pgrep -x pib-hostile' && return 0
	leftovers
	return 1
}

# How many objects of each kind there are.
objects() { rdma res show 2>/dev/null | sed 's/^[0-9]*: //'; }
same_objects() {
	diff <(echo "$objects_before") <(objects)
}

# Kernel memory that nothing can have back, in kB, once the deferred work has run.
kernel_memory() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	sleep 1
	awk '/^(SUnreclaim|Percpu|KernelStack|VmallocUsed):/ { s += $2 } END { print s }' /proc/meminfo
}
# KASAN keeps what was freed for a while, and kmemleak looks for what has leaked.
memory_limit=32768
[ ! -e /sys/kernel/debug/kmemleak ] || memory_limit=262144
memory_small() {
	local now=$(($(kernel_memory) - memory_before))
	echo "grown by $now kB"
	[ "$now" -lt $memory_limit ]
}

# before, then whatever it is, then after: as many checks as $AFTER says.
# shellcheck disable=SC2034  # for the plans of the suites
AFTER=6
before() {
	objects_before=$(objects)
	memory_before=$(kernel_memory)
}
after() {
	check "no process is left" none_left
	check "no object is left" wait_for 30 same_objects
	check "kernel memory has not grown by $((memory_limit / 1024)) MiB" wait_for 30 memory_small
	check "traffic as before" pair 1 2 120 ibv_rc_pingpong
	hosts_clean
	check "the module can be removed" wait_for 30 modprobe -r pib
	check "and loaded" modprobe pib
}

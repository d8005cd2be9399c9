# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Shared by the lab's scripts; to be sourced.

# Without it a failure inside $(...) goes unseen.
shopt -s inherit_errexit

vm=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$vm/../.." && pwd)
lab=${PIB_LAB:-$top/build/lab}
kernels=(6.1 6.12 7.2)
# shellcheck disable=SC2034  # of accel, machines and run
qemu=${PIB_QEMU:-$vm/qemu}
mkdir -p "$lab"
lab=$(cd "$lab" && pwd)

say() { printf '%s\n' "$*" >&2; }
die() { say "${0##*/}: $*"; exit 1; }

need_root() {
	[ "$(id -u)" = 0 ] || die "the lab makes chroots and mounts: run it as root"
}

# step TEXT COMMAND...: one line of progress with the elapsed time; output goes
# to a log that is shown only when COMMAND fails.
step() {
	local text=$1 log start rc=0 pid
	shift
	log=$(mktemp "$lab/step.XXXXXX")
	start=$SECONDS
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	while [ -t 2 ] && kill -0 $pid 2>/dev/null; do
		printf '\r%s ... %ds' "$text" $((SECONDS - start)) >&2
		sleep 0.2
	done
	wait $pid || rc=$?
	[ -t 2 ] && printf '\r\033[K' >&2
	if [ $rc != 0 ]; then
		say "$text: failed after $((SECONDS - start)) s:"
		tail -n 40 "$log" >&2
		mv "$log" "$lab/failed-step.log"
		say "(whole log: $lab/failed-step.log)"
		return $rc
	fi
	rm -f "$log"
	say "$text: $((SECONDS - start)) s"
}

# digest PATH...: one hash over names and contents of all files below.
digest() {
	(cd "$top" && { find "$@" -type f ! -name '*.o' ! -name '*.ko' ! -name '*.cmd' \
		! -name '*.mod' ! -name '*.mod.c' ! -path '*/__pycache__/*' -print0 2>/dev/null || true; } |
		LC_ALL=C sort -z | xargs -0r sha256sum | sha256sum | cut -c1-16)
}

# root-inside decides what is in the root; a change of it makes a new root.
root_key() { digest selftests/vm/root-inside; }

# Without the lock, where the root is there already.
need_lab() {
	need_root
	[ -e "$(root_dir).img" ] || "$vm/root"
}

# debug_dir KIND: where the debug kernel of that kind is or will be (see kernel). Comments of the script that builds it make no
# new kernel.
debug_dir() {
	local recipe=$vm/kernels
	echo "$lab/kernel-$1-$({ sed '/^[[:space:]]*#/d' "$recipe/build-inside"; cat "$recipe/"{machine.config,"$1.config"}; root_key; } |
		sha256sum | cut -c1-16)"
}

root_dir() { echo "$lab/root-$(root_key)"; }

# tree_id: of this tree, for its objects: make goes by times, which of the files of two trees say nothing. ccache knows both.
tree_id() { printf %s "$top" | sha256sum | cut -c1-8; }

# Where the root compiles the provider and the tools, by its own name for it: whoever comes later finds them compiled.
build_dir() { echo "/mnt/cache/$(basename "$(root_dir)")-$(tree_id)"; }

# is_debug KERNEL: one that ./kernel makes
is_debug() { [ -e "$vm/kernels/$1.config" ] && [ "$1" != machine ]; }

# kernel_release 6.1 -> 6.1.0-40-amd64
kernel_release() {
	local dir
	if is_debug "$1"; then
		cat "$(debug_dir "$1")/release"
		return
	fi
	for dir in "$(root_dir)"/usr/lib/modules/"$1".*; do
		[ -d "$dir/kernel" ] && { basename "$dir"; return; }
	done
	die "the root has no kernel $1 (known: ${kernels[*]})"
}

# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
# Commands inside the root, whose writes go to an overlay: the root never changes.
# To be sourced after lib.sh.

# in_overlay UPPER COMMAND...: COMMAND in the root, in a mount namespace of its own. With $kernel_dir: that is
# /mnt/kernel, the source that it is made from /mnt/linux, and what it has in root/ lies on the root (see kernel).
# Where ccache takes what a file depends on from the compiler (-MD), it has no need to preprocess what it does not know
# yet, which a quarter of the time would go to.
in_overlay() {
	local upper=$1 rc=0
	shift
	mkdir -p "$upper" "$upper.work" "$upper.mnt" "$lab/cache"
	unshare --mount --pid --fork --kill-child --propagation private \
		bash -euo pipefail -c '
		root=$1 upper=$2 top=$3 cache=$4 kernel=$5 linux=$6; shift 6
		m=$upper.mnt
		[ -z "$kernel" ] || [ ! -e "$kernel/modules.img" ] || root=$kernel/root:$root
		mount -t overlay overlay -o "lowerdir=$root,upperdir=$upper,workdir=$upper.work" "$m"
		mount -t proc proc "$m/proc"
		mount --rbind /dev "$m/dev"
		mount -t sysfs -o ro sysfs "$m/sys" || mount --rbind /sys "$m/sys"
		mount -t tmpfs tmpfs "$m/tmp"
		mount -t tmpfs tmpfs "$m/mnt"
		mkdir "$m/mnt/src" "$m/mnt/cache"
		mount --bind -o ro "$top" "$m/mnt/src"
		mount --bind "$cache" "$m/mnt/cache"
		if [ -n "$kernel" ]; then
			mkdir "$m/mnt/kernel" "$m/mnt/linux"
			mount --bind "$kernel" "$m/mnt/kernel"
			[ ! -e "$linux" ] || mount --bind -o ro "$linux" "$m/mnt/linux"
		fi
		if [ -e /etc/resolv.conf ]; then cat /etc/resolv.conf >"$m/tmp/resolv.conf"; fi
		# Not as the first process of the namespace, which no signal would end. W=1 without kernel-doc: that is looked at once, by
		# tree/kernel-doc.
		rc=0
		chroot "$m" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
			DEBIAN_FRONTEND=noninteractive INITRD=No DEBIAN_KERNEL_USE_CCACHE=1 KBUILD_EXTRA_WARN=1 MAKEFLAGS=cmd_checkdoc=: \
			CCACHE_DIR=/mnt/cache/ccache CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 "$@" || rc=$?
		exit $rc
		' bash "$(root_dir)" "$upper" "$top" "$lab/cache" "${kernel_dir:-}" "${kernel_dir:+$lab/linux-source-6.12}" "$@" || rc=$?
	rm -rf --one-file-system "$upper.work" "$upper.mnt"
	return $rc
}

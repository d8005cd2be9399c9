# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# For the scripts of this folder, which run in the lab's root (vm/run --built): to be sourced.

cp /tmp/resolv.conf /etc/resolv.conf 2>/dev/null || :

# source_of PACKAGE: Debian's source of it, without Debian's changes; the current directory is there then
source_of() {
	mkdir -p "/tmp/$1"
	cd "/tmp/$1" || return
	apt-get source -q --download-only --tar-only "$1"
	tar -xf ./*.orig.tar.* --strip-components 1
}

# is_version NAME VERSION: what lib/compat.sh finds
is_version() {
	mkdir -p /usr/local/share/built
	echo "$2" >"/usr/local/share/built/$1"
}

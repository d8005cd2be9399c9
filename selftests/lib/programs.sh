# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Programs of this folder; to be sourced.

# program NAME FILE: NAME.c, compiled, as FILE. Without KVM the machine's compiler takes ten seconds for it. So check brings what
# ../vm/compiled has made in the lab's root; where that is not, the program is compiled here.
program() {
	local lib=${BASH_SOURCE[0]%/*}
	[ -x "$lib/../programs/$1" ] || make -s -C "$lib" O=../programs "../programs/$1" || return
	cp "$lib/../programs/$1" "$2"
}

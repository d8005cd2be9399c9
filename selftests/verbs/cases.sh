# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Lists of cases, one a line.

# chosen [PART]...: those lines of standard input that contain one of the parts; all, without a part.
chosen() {
	[ $# -gt 0 ] || { cat; return; }
	local args=() part
	for part; do args+=(-e "$part"); done
	grep -F "${args[@]}"
}

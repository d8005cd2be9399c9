# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The commands of a page of docs/: its indented lines, and its `spans`. A test names each by its first words, and runs what the
# page says. To be sourced after ktap.sh and hosts.sh.
#
#	page_read FILE
#	instead[WORD]=WHAT	stands in the place of a word of the page

declare -A instead=()

page_read() {
	mapfile -t page_lines < <(sed -n 's/^    //p' "$1")
	mapfile -t page_spans < <(tr '\n' ' ' <"$1" | grep -o '`[^`]*`' | tr -d '`')
	page_used=$(mktemp)
}

# begins TEXT WORDS: the text begins so
begins() { [ "${1:0:${#2}}" = "$2" ]; }

# written BEGIN: the one command that begins so, as a test can run it. "host1# " is no part of it, but tells of two alike.
written() {
	local text word found=
	for text in "${page_lines[@]}" "${page_spans[@]}"; do
		begins "$text" "$1" && [ "$text" != "$found" ] || continue
		[ -z "$found" ] || { echo "several commands of the page begin with: $1"; return 1; } >&2
		found=$text
	done
	[ -n "$found" ] || { echo "no command of the page begins with: $1"; return 1; } >&2
	echo "$found" >>"$page_used"
	text=${found#host[0-9]# }
	for word in "${!instead[@]}"; do text=${text//"$word"/"${instead[$word]}"}; done
	echo "$text"
}

# as_written K BEGIN...: on host K, one after the other in one shell
as_written() {
	local k=$1 begin command commands=
	shift
	for begin; do
		command=$(written "$begin") || return 1
		commands+=$command$'\n'
	done
	on_host "$k" "$commands"
}

# on_host K COMMANDS: a daemon does not keep the test waiting
on_host() {
	local said
	said=$(mktemp)
	h "$1" timeout 100 bash -c "$2" </dev/null >"$said" 2>&1 && return
	echo "$2"
	cat "$said"
	return 1
}

# all_written BEGIN...: each indented line has been run, but for those that begin so, and there are such
all_written() {
	local text begin left rc=0
	left=$(printf '%s\n' "${page_lines[@]}" | grep -vxF -f "$page_used" | sed '/^$/d')
	for begin; do
		grep -q "^$(printf %s "$begin" | sed 's/[][\.*^$]/\\&/g')" <<<"$left" || { echo "no line begins with: $begin"; rc=1; }
		left=$(while IFS= read -r text; do begins "$text" "$begin" || echo "$text"; done <<<"$left")
	done
	[ -z "$left" ] || { printf 'not run:\n%s\n' "$left"; rc=1; }
	return $rc
}

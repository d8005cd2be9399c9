# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Rows of build/compatibility.md (see consumers/table). To be sourced after ktap.sh.

# version PACKAGE: what is installed, or was built (consumers/built); - for what comes with the kernel
version() { dpkg-query -W -f '${Version}' "$1" 2>/dev/null || cat "/usr/local/share/built/$1" 2>/dev/null || echo -; }

# shown PROGRAM PACKAGE WHAT COMMAND...: a check, and its row. The command may leave a figure in /tmp/figure.
shown() {
	local program=$1 package=$2 what=$3 result=works failed=$KTAP_FAILED
	shift 3
	rm -f /tmp/figure
	check "$program: $what" "$@"
	[ "$failed" = "$KTAP_FAILED" ] || result=fails
	printf '# compat\t%s\t%s\t%s\t%s\t%s\t%s\n' "$program" "$(version "$package")" "$(uname -r)" "$what" "$result" \
		"$(tr "\t" " " 2>/dev/null </tmp/figure || echo -)"
}

# both SECONDS SERVER... -- CLIENT...: the server on host 2; the client here, when the server has had time to listen.
# Both must succeed. A server that goes on for ever: forever=1, and the client counts.
both() {
	local seconds=$(($1 * ${PIB_SLOW:-1})) server=() pid rc=0
	shift
	while [ "$1" != -- ]; do server+=("$1"); shift; done
	shift
	h 2 timeout -k 5 $seconds "${server[@]}" >/tmp/server 2>&1 & pid=$!
	sleep $((2 * ${PIB_SLOW:-1}))
	timeout -k 5 $seconds "$@" >/tmp/client 2>&1 || rc=$?
	if [ $rc != 0 ] || [ -n "${forever:-}" ]; then h 2 pkill -x "${server[0]:0:15}"; fi
	wait $pid || [ -n "${forever:-}" ] || { [ $rc != 0 ] || rc=1; }
	[ $rc = 0 ] || { echo "status $rc; client:"; tail -n 15 /tmp/client; echo "server:"; tail -n 15 /tmp/server; }
	return $rc
}

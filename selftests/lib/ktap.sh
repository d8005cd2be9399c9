# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# KTAP for shell selftests: plan N; then one line per behaviour by ok/nok/check/skip; ktap_end at the end.

KTAP_N=0
KTAP_FAILED=0
KTAP_PLAN=0

ktap_plan() {
	KTAP_PLAN=$1
	echo "KTAP version 1"
	echo "1..$1"
}

ok() {
	KTAP_N=$((KTAP_N + 1))
	echo "ok $KTAP_N $1"
}

nok() {
	KTAP_N=$((KTAP_N + 1))
	KTAP_FAILED=$((KTAP_FAILED + 1))
	echo "not ok $KTAP_N $1"
}

skip() {
	KTAP_N=$((KTAP_N + 1))
	echo "ok $KTAP_N $1 # SKIP $2"
}

# check NAME COMMAND...: ok if the command succeeds; its output is shown as a diagnostic if it does not.
check() {
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then
		ok "$name"
	else
		nok "$name"
		echo "${out:-(no output) $*}" | tail -n 40 | sed 's/^/# /'
	fi
}

# refuse NAME PATTERN COMMAND...: ok if the command fails and says something that matches PATTERN.
refuse() {
	local name=$1 pattern=$2 out
	shift 2
	if out=$("$@" 2>&1); then
		nok "$name"
		echo "# succeeded: $*"
	elif grep -Eqi -- "$pattern" <<<"$out"; then
		ok "$name"
	else
		nok "$name"
		sed 's/^/# /' <<<"$out"
	fi
}

# same A B, more A B (than B), no_less A B: for check, which shows both where it is not so. It is not so where either is missing.
same() { echo "$1 $2"; [ -n "$1" ] && [ "$1" = "$2" ]; }
more() { echo "$1 $2"; [ -n "$1" ] && [ "$1" -gt "$2" ]; }
no_less() { echo "$1 $2"; [ -n "$1" ] && [ "$1" -ge "$2" ]; }

# wait_for SECONDS COMMAND...: poll until the command succeeds. PIB_SLOW times as long on a kernel that is as slow (see vm/run).
# Without KVM the asking itself is what a long wait costs, so it grows rarer.
wait_for() {
	local end=$((SECONDS + $1 * ${PIB_SLOW:-1})) pause=1
	shift
	until "$@" >/dev/null 2>&1; do
		((SECONDS < end)) || return 1
		sleep 0.$pause
		pause=$((pause < 4 ? pause + 1 : 4))
	done
}

ktap_end() {
	echo "# Totals: pass:$((KTAP_N - KTAP_FAILED)) fail:$KTAP_FAILED"
	[ "$KTAP_N" = "$KTAP_PLAN" ] || { echo "# planned $KTAP_PLAN, ran $KTAP_N"; exit 1; }
	[ "$KTAP_FAILED" = 0 ]
}

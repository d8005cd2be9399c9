# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The points that the benchmarks of fabrics measure; to be sourced.

seconds=${BENCH_SECONDS:-2}
pair_out=${pair_out:-/tmp/pair}

# name, unit, column of perftest's result (4: MiB/s, 5: million messages/s), its factor, program and arguments
# shellcheck disable=SC2034
points=(
	"write_bw_64k MiB/s 4 1 ib_write_bw -s 65536"
	"write_rate_64 msg/s 5 1000000 ib_write_bw -s 64"
	"ud_send_rate_1k msg/s 5 1000000 ib_send_bw -c UD -s 1024"
)

die() { echo "bench: $*" >&2; exit 1; }

# standalone_hosts [ARGUMENT...]: makes an HCA with these arguments on each of two hosts, and waits until they talk
standalone_hosts() {
	local k
	for k in 1 2; do
		h $k pibctl del "$(dev $k)" 2>/dev/null
		pib_add $k standalone "$@" || die "host $k: no HCA"
	done
	wait_active 60 || die "the ports are not ACTIVE"
	wait_for 60 pair 1 2 30 ibv_rc_pingpong -n 10 || die "no traffic"
}

# measure POINT COMMAND...: prints the number that COMMAND with the point's program and arguments leaves in
# $pair_out.client. It is asked again, twice, where perftest could not tell the clock's rate and writes 0 or inf.
measure() {
	local column factor program
	read -r _ _ column factor program <<<"$1"
	shift
	for _ in 1 2 3; do
		# shellcheck disable=SC2086
		"$@" $program -F -D "$seconds" >&2 || die "$program failed"
		awk -v c="$column" -v f="$factor" '/^[0-9. \t]+$/ && NF >= 4 { v = $c } END { if (!v) exit 1; print v * f }' \
			"$pair_out.client" && return
	done
	cat "$pair_out.client" >&2
	die "$program: no result"
}

listening() { h 2 ss -Hltn 'sport = :5201' | grep -q .; }
# tcp ADDRESS: MiB/s from host 1 to host 2 at ADDRESS, as the receiver counts them
tcp() {
	local server out
	h 2 timeout 100 iperf3 -s -1 >/dev/null 2>&1 & server=$!
	wait_for 20 listening || die "iperf3 does not listen"
	out=$(h 1 timeout 100 iperf3 -c "$1" -t "$seconds" -J) || die "iperf3 to $1 failed: $out"
	wait $server
	jq '.end.sum_received.bits_per_second / 8 / 1048576' <<<"$out"
}

# median "NUMBER NUMBER..."
median() { tr ' ' '\n' <<<"${1% }" | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

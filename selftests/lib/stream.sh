# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# A TCP stream that goes on while something is done to the fabric (stream.py). To be sourced after hosts.sh; the hosts are
# namespaces, and so share /tmp. stream_start is not to be called by check, whose subshell would keep the pids.

stream_py=$(dirname "${BASH_SOURCE[0]}")/stream.py
stream_server='' stream_client=''

stream_count() { cat /tmp/stream.progress 2>/dev/null || echo 0; }
stream_listens() { h "$1" ss -Hltn 'sport = :7100' | grep -q .; }

# stream_start FROM TO ADDRESS: from host FROM to ADDRESS, which is host TO's
stream_start() {
	stream_kill
	rm -f /tmp/stream.*
	ip netns exec "h$2" python3 "$stream_py" serve "$3" /tmp/stream.progress >/tmp/stream.received 2>&1 & stream_server=$!
	wait_for 20 stream_listens "$2" || return 1
	ip netns exec "h$1" python3 "$stream_py" send "$3" /tmp/stream.stop >/tmp/stream.sent 2>&1 & stream_client=$!
}

stream_at() { [ "$(stream_count)" -ge "$1" ]; }
# stream_moves [SECONDS]: another 256 KiB arrive
stream_moves() {
	local before
	before=$(stream_count)
	wait_for "${1:-60}" stream_at $((before + 262144)) && return
	echo "$before bytes, then $(stream_count)"
	cat /tmp/stream.sent /tmp/stream.received
	return 1
}

stream_ended() { ! kill -0 "$stream_client" 2>/dev/null && ! kill -0 "$stream_server" 2>/dev/null; }
# stream_whole: it ends, and what was sent has come
stream_whole() {
	touch /tmp/stream.stop
	wait_for 90 stream_ended || { echo "it does not end"; return 1; }
	cat /tmp/stream.sent /tmp/stream.received
	grep -Eq '^[1-9][0-9]* [0-9a-f]{64}$' /tmp/stream.sent && cmp /tmp/stream.sent /tmp/stream.received
}
stream_kill() { kill "$stream_client" "$stream_server" && wait "$stream_client" "$stream_server"; } 2>/dev/null
# For a trap: what is left of the stream, and the hosts
stream_clean() {
	stream_kill
	hosts_clean
}

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fio's engine rdma between two hosts: host 2 is the server, host 1 writes, reads and sends. fio compares what was sent. Of what
# RDMA has written and read the bytes are counted, since fio cannot compare it.
#
#	vm/run --hosts 2 --packages fio ... consumers/fio.sh
set -u
here=$(dirname "$0")
. "$here/lib.sh"

ktap_plan 12
subnet_with_ipoib
ulimit -l unlimited
to=$(ib_addr 2)
MB=16
fio="fio, ioengine=rdma"

# One message at a time is sent to a server with 16 receives: fio's connections have no retry of a send that finds none, and both
# ends wait for ever after that.
declare -A depth=([write]=8 [read]=8 [send]=1)
# between VERB BLOCK "SERVER'S OPTIONS" "CLIENT'S OPTIONS": a job; its result is in /tmp/client
between() {
	local job="--name=job --ioengine=rdma --port=8888 --size=${MB}m"
	# shellcheck disable=SC2086  # words
	both "${patience:-120}" fio $job --bs="$2" --rw=read --iodepth=16 $3 -- \
		fio $job --hostname="$to" --verb="$1" --bs="$2" --rw=write --iodepth=${depth[$1]} --iodepth_batch_complete_min=1 --output-format=json $4
}
# moves VERB BLOCK DIRECTION [OPTIONS]...: the port of host 1 has moved the bytes in that direction
bytes() { echo $(($(port_attr 1 "counters/port_$1_data") * 4)); }
moves() {
	local before
	before=$(bytes "$3")
	between "$1" "$2" "${4:-}" "${5:-}" || return 1
	jq -e --argjson bytes $((MB << 20)) '.jobs[0] | .error == 0 and .write.io_bytes == $bytes' /tmp/client || { cat /tmp/client; return 1; }
	jq -r '.jobs[0].write.bw_bytes / 1e6 | round | "\(.) MB/s"' /tmp/client >/tmp/figure
	[ $(($(bytes "$3") - before)) -ge $((MB << 20)) ] || { echo "by the port's counter fewer bytes"; return 1; }
}
has_engine() { fio --enghelp | grep -qw rdma; }
check "fio has the engine" has_engine
shown "$fio" fio "verb=write, 64 KiB" moves write 64k xmit
shown "$fio" fio "verb=write, 1 MiB" moves write 1m xmit
shown "$fio" fio "verb=read, 64 KiB" moves read 64k rcv
shown "$fio" fio "verb=send, 64 KiB, verify=crc32c" moves send 64k xmit --verify=crc32c "--verify=crc32c --do_verify=0"
# The comparison compares: blocks without what it wants are found. The client waits for ever then, see above, in a session of its
# own, where timeout does not find it.
nothing_to_verify() {
	local k rc=0
	! patience=20 between send 64k --verify=crc32c "" && grep -q "verify: bad" /tmp/server || rc=1
	for k in 1 2; do h $k pkill -KILL -x fio; done
	return $rc
}
check "$fio: other blocks are found to be others" nothing_to_verify
left_nothing() { ! h "$1" pibctl -j show objects pib0 | jq -e 'any(.objects[]; .owner == "fio")'; }
both_left_nothing() { wait_for 20 left_nothing 1 && wait_for 20 left_nothing 2; }
check "nothing of fio is left" both_left_nothing
check "pib can be unloaded on both" all_unloaded
ktap_end

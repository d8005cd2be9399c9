#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Valkey over RDMA between two hosts: the server with its RDMA module on host 2, on host 1 the client of Valkey's own tests,
# which sets keys, gets them and compares, and valkey-cli by TCP, on the netdev below pib. Both are of Debian's source
# (built/valkey).
#
#	vm/run --hosts 2 --built consumers/built/valkey ... consumers/valkey.sh
set -u
here=$(dirname "$0")
. "$here/lib.sh"
bin=/usr/local/lib/valkey
store=/tmp/store
valkey="Valkey, RDMA module"

ktap_plan 14
subnet_with_ipoib
ulimit -l unlimited
to=$(ib_addr 2)

cli() { timeout $((20 * ${PIB_SLOW:-1})) $bin/valkey-cli -h "$(addr4 2)" --raw "$@"; }
# info FIELD: of the server
info() { cli info | tr -d '\r' | sed -n "s/^$1://p"; }
info_is() { [ "$(info "$1")" = "$2" ]; }
answers() { [ "$(cli ping)" = PONG ]; }
config() {
	cat <<-END
	protected-mode no
	daemonize yes
	dir $store
	logfile $store/log
	save ""
	bind $(addr4 2)
	port 6379
	loadmodule $bin/valkey-rdma.so
	rdma-bind $to
	rdma-port 6379
	END
}
starts() {
	config | h 2 sh -c "mkdir -p $store; cat >$store/conf"
	h 2 sh -c "ulimit -l unlimited; $bin/valkey-server $store/conf" && wait_for 30 answers || { h 2 cat $store/log; return 1; }
}
listens() { h 2 rdma resource show cm_id | grep "LISTEN.*comm valkey-server"; }
# owned K PROGRAM [KIND...]: objects that it has there
owned() { h "$1" pibctl -j show objects pib0 "${@:3}" | jq --arg owner "$2" '[.objects[] | select(.owner == $owner)] | length'; }
none_owned() { [ "$(owned "$@")" = 0 ]; }

check "host 2: the server starts" starts
shown "$valkey" valkey "the server listens by rdma-cm" wait_for 20 listens

# keys of THREADS connections, as many of each; values of 1 KiB
keys=1000 threads=4
client() { timeout $((120 * ${PIB_SLOW:-1})) $bin/rdma-test -h "$to" -m "$keys" -M $((keys + 1)) "$@"; }
bytes() { echo $(($(port_attr 1 "counters/port_$1_data") * 4)); }
sets_and_gets() {
	local sent got
	sent=$(bytes xmit) got=$(bytes rcv)
	client -t $threads >/tmp/client 2>&1 && grep -q "Valkey Over RDMA test \[OK\]" /tmp/client || { tail -n 20 /tmp/client; h 2 tail -n 20 $store/log; return 1; }
	sent=$(($(bytes xmit) - sent)) got=$(($(bytes rcv) - got))
	echo "the port has sent $sent bytes and received $got"
	[ $sent -ge $((threads * keys * 1024)) ] && [ $got -ge $((threads * keys * 1024)) ]
}
shown "$valkey" valkey "4 connections: PING, SET, BGSAVE, GET of 4000 keys, values compared; the port has carried them" sets_and_gets
well_formed='local n = 0
for _, key in ipairs(redis.call("keys", "THREAD*")) do
	local value = redis.call("get", key)
	if #value == 1024 and value:match("^%u+$") then n = n + 1 end
end
return n'
by_tcp() { [ "$(cli dbsize)" = $((threads * keys)) ] && [ "$(cli eval "$well_formed" 0)" = $((threads * keys)) ]; }
shown "$valkey" valkey "the same keys by TCP" by_tcp
saved() {
	wait_for 30 info_is rdb_bgsave_in_progress 0 && info_is rdb_last_bgsave_status ok &&
		h 2 $bin/valkey-check-rdb $store/dump.rdb
}
shown "$valkey" valkey "what BGSAVE has written meanwhile is whole" saved
check "the connections are closed, none of their queue pairs is left" wait_for 20 none_owned 2 valkey-server kind qp

# A client in the middle of its work, by the keys that the server has of it
works() { [ "$(cli dbsize)" -ge "$1" ] && [ "$(owned 2 valkey-server kind qp)" -ge 1 ]; }
begins() {
	cli flushall
	keys=$1
	client >/tmp/client 2>&1 & working=$!
	wait_for 30 works 100
}
client_killed() {
	begins 100000 && pkill -KILL -x rdma-test || return 1
	wait $working
	wait_for 30 none_owned 2 valkey-server kind qp && answers
}
shown "$valkey" valkey "a client is killed: the server drops its connection and goes on" client_killed
stops() {
	cli shutdown nosave
	wait_for 20 h 2 sh -c '! pgrep -x valkey-server' && none_owned 2 valkey-server && none_owned 1 rdma-test
}
shown "$valkey" valkey "the server ends, nothing of it is left" stops
refused() { ! client; }
check "without a server no client" refused
check "pib can be unloaded on both" all_unloaded
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A subnet through pibnetd: two hosts join it, traffic, the daemon's end and return, what it refuses.
#
#	 h1 ------- bridge0 ------- h2
#	 pib0         |             pib1		h1 joins by "peer 10.77.0.9", h2 by "peer fd77::9"
#	            eth0 10.77.0.9, fd77::9
#	          sw: pibnetd, as nobody
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/netd.sh"
. "$here/../lib/sniff.sh"
trap 'rm -rf "$sniffed"; netd_clean' EXIT

# config PORTS [SWITCHES [CABLES [SETTINGS]]]
config() {
	cat >$netd/config.json <<-END
	{ ${4:-} "listen": ["0.0.0.0", "::"], "threads": 3, "switches": [ { "name": "net0", "ports": ${1:-4} }${2:-} ], "cables": [ ${3:-} ] }
	END
}

ktap_plan 86
netd_init
bridge bridge0
cable h1 eth0 bridge0 10.77.0.1/24
cable h2 eth0 bridge0 10.77.0.2/24
cable sw eth0 bridge0 10.77.0.9/24
ip -n h2 addr add fd77::2/64 dev eth0 nodad
ip -n sw addr add fd77::9/64 dev eth0 nodad
HOSTS=2
config 4
netd_start
check "the daemon starts without privileges" netd_answers
check "its control socket is for its owner and its group" test "$(stat -c %a $netd/control)" = 660

exits() { # STATUS COMMAND...
	local status=0
	"${@:2}" || status=$?
	echo "ended with $status"
	[ $status = "$1" ]
}
in_sw=(ip netns exec sw timeout 20)
check "wrong usage ends pibnetd with 2" exits 2 "${in_sw[@]}" pibnetd --ports many
check "and pibping" exits 2 "${in_sw[@]}" pibping --count many 127.0.0.1
check "pibnetd that cannot start ends with 1" exits 1 "${in_sw[@]}" pibnetd
check "and pibping" exits 1 "${in_sw[@]}" pibping -s

# The messages that systemd gets, of a daemon of its own.
notified() {
	python3 - <<-'END'
	import os, signal, socket, subprocess
	path = "/tmp/pibnetd/notify"
	manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
	manager.bind(path)
	manager.settimeout(30)
	daemon = subprocess.Popen(["pibnetd", "--listen", "127.0.0.1:20000"],
	                          env=os.environ | {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000"})
	def heard(word):
	    while True:
	        said = manager.recv(1000).decode()
	        print(said)
	        if word in said:
	            return
	heard("READY=1")
	heard("WATCHDOG=1")
	daemon.send_signal(signal.SIGHUP)
	heard("RELOADING=1")
	heard("READY=1")
	daemon.terminate()
	heard("STOPPING=1")
	raise SystemExit(daemon.wait())
	END
}
check "a service manager is told what the daemon does" notified

# With the capability that the unit gives it.
privileged() {
	local pid log=$netd/privileged
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps +net_admin --ambient-caps +net_admin \
		pibnetd --listen 127.0.0.1:20001 2>$log &
	pid=$!
	wait_for 10 grep -q ready $log
	cat $log
	grep -E 'receive_buffer=[0-9]{8}' $log && grep -E 'Cap(Prm|Eff|Amb)' /proc/$pid/status | awk '$2 !~ /^0+$/ { exit 1 }'
	set -- $?
	kill $pid
	return "$1"
}
check "with CAP_NET_ADMIN its buffer is as large as it wants, and then it has no capability" privileged

ping_json() { h 1 pibping -j 10.77.0.9 | jq -e "$1"; }
check "pibping, before any module is loaded: reachable, MTU, nothing lost" \
	ping_json '.reachable and .mtu == 1500 and .answered == .sent and .fragments and .fabric_served and .key == "none"'
check "pibping names the switch" sh -c "ip netns exec h1 pibping 10.77.0.9 | grep -q 'hello: .*net0'"
refuse "pibping tells of a fabric that is not served" "NOT SERVED" h 1 pibping -f 9 10.77.0.9
check "pibping over IPv6" sh -c "ip netns exec h2 pibping -j fd77::9 | jq -e '.reachable and .answered == .sent'"
refuse "pibping tells that nobody listens" "nobody listens" h 1 pibping -c 2 10.77.0.2
served() {
	local pid status=0
	ip netns exec h2 pibping -s 2>$netd/served &
	pid=$!
	wait_for 10 grep answering $netd/served
	h 1 pibping 10.77.0.2 >$netd/pinged || status=$?
	kill $pid
	cat $netd/served $netd/pinged
	[ $status = 0 ] && grep -q '^answers: *pibping ' $netd/pinged
}
check "pibping -s answers pibping of another host" served

# There is no subnet manager yet. Back to back such HCAs have a connection (cables.sh).
check "standalone host 1 joins" pib_add 1 standalone peer 10.77.0.9
check "standalone host 2 joins" pib_add 2 standalone peer fd77::9
check "their ports are ACTIVE" wait_active 30
refuse "between standalone HCAs there is no connection" "retry counter exceeded" pair 1 2 30 ibv_rc_pingpong -n 10
for k in 1 2; do h $k pibctl del "$(dev $k)"; done

check "host 1 joins" pib_add 1 peer 10.77.0.9
check "host 2 joins, over IPv6" pib_add 2 peer fd77::9
both_init() { port_is 1 INIT && port_is 2 INIT; }
check "the ports leave Down" wait_for 10 both_init
kernel_answers() { ip netns exec sw pibping -j -c 2 10.77.0.1 | jq -e '.reachable and .node_guid and .key == "none"'; }
check "pib in the kernel answers pibping, too" kernel_answers
sm_start 1
check "SUBNET UP" wait_for 60 sm_log_has 1 "SUBNET UP"
check "both ports ACTIVE" wait_active 30
discover() {
	h 1 ibnetdiscover -C "$(dev 1)" >/tmp/discover 2>&1
	cat /tmp/discover
	[ "$(grep -c ^Ca /tmp/discover)" = 2 ] && [ "$(grep -c ^Switch /tmp/discover)" = 1 ]
}
check "ibnetdiscover: two HCAs at one switch" discover
check "ibv_rc_pingpong" pair 1 2 60 ibv_rc_pingpong
check "ibv_ud_pingpong" pair 1 2 60 ibv_ud_pingpong
check "ib_write_bw, 64 KiB" pair 1 2 100 ib_write_bw -F -n 200
counted() { ctl -j show counters | jq -e '[.counters[] | select(.counters.port_xmit_bytes > 200 * 65536)] | length >= 1'; }
check "the daemon's ports have counted it" counted
perf() {
	local lid
	lid=$(ctl -j show | jq '.switches[0].ports[0].lid')
	h 2 perfquery -C "$(dev 2)" -x -a "$lid" | grep PortXmitData
}
check "perfquery of all the switch's ports" perf

ipoib_up() {
	local k dev
	for k in 1 2; do
		dev=$(ipoib "$k")
		wait_for 10 ip link show "$dev" || return 1
		ip link set "$dev" netns "h$k" || return 1
		h "$k" ip addr add "10.78.0.$k/24" dev "$dev" && h "$k" ip link set "$dev" up || return 1
	done
	wait_for 60 h 1 ping -c1 -W1 10.78.0.2
}
check "IPoIB comes up" ipoib_up
check "ping over IPoIB, 2000 bytes, no loss" h 1 sh -c "ping -c 10 -i 0.1 -s 2000 10.78.0.2 | grep ' 0% packet loss'"
mcast() { h 1 ping -c 3 -W 2 -I "$(ipoib 1)" 224.0.0.1 | grep -q "from 10.78.0.2"; }
h 2 sysctl -qw net.ipv4.icmp_echo_ignore_broadcasts=0
check "IPoIB multicast" wait_for 30 mcast

# The daemon dies while traffic waits: a cable pulled and replugged.
h 1 ping -i 0.2 10.78.0.2 >/tmp/ping.long 2>&1 &
ping_pid=$!
hosts_ports() { ctl -j show links | jq -c '[.links[] | select(.up) | [.peer_node_guid, .a.port]] | sort'; }
ports_before=$(hosts_ports)
netd_kill
down() { port_is 1 DOWN && port_is 2 DOWN; }
check "the daemon is killed: the ports go Down" wait_for 10 down
netd_start
check "the daemon starts again" netd_answers
check "both ports ACTIVE again" wait_active 60
check "the waiting traffic goes on" wait_for 60 h 1 ping -c1 -W1 10.78.0.2
check "RC after it" pair 1 2 60 ibv_rc_pingpong
same_ports() { [ "$(hosts_ports)" = "$ports_before" ]; }
check "the hosts have the ports that they had" same_ports
kill $ping_pid

# Garbage, counted by its reason; nothing changes.
garbage() {
	h 2 python3 -c "
import os, socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(200):
    s.sendto(os.urandom(1 + i * 7), ('10.77.0.9', 18514))
    s.sendto(bytes([0x20 + i % 16]) + os.urandom(175), ('10.77.0.9', 18514))
" || return 1
	ctl -j show uplinks | jq -e '.uplinks[0].counters | .rx_version > 0 and .rx_unknown_link > 0 and .rx_bad_hello > 0'
}
check "garbage is counted by its reason" garbage
check "and changes no port" wait_active 1

# More switches, by SIGHUP; the hosts stay.
config 4 ', { "name": "net1", "ports": 2 }' '["net0/4", "net1/1"]'
kill -HUP "$netd_pid"
cabled() { ctl -j show | jq -e '.switches[] | select(.name == "net1") | .ports[1].state == "ACTIVE"'; }
check "a second switch is cabled by a reload, and OpenSM takes it in" wait_for 60 cabled
check "the hosts' ports have not moved" wait_active 1

# The class of data, as it comes to h2. DSCP 34 is 136 in the byte, ECT(0) is 2.
config 4 ', { "name": "net1", "ports": 2 }' '["net0/4", "net1/1"]' '"dscp": "0=34", "ecn": true,'
kill -HUP "$netd_pid"
shown() { ctl -j show uplinks | jq -e '.uplinks[0] | .dscp == "0=34" and .ecn'; }
check "DSCP and ECN by a reload" wait_for 10 shown
check "traffic with them" sniff and_keepalives pair 1 2 60 ibv_rc_pingpong
check "data has the DSCP, and may be marked where its sender hears of that" \
	saw '.data.v6.tos | .["138"] > 0 and .["136"] > 0 and (keys - ["136", "138"] == [])'
check "control datagrams have neither" saw '.control.v6.tos | keys == ["0"]'

refuse "an unplugged port: a bad name is refused" "there is no switch" ctl link set net7/1 down
port=$(ctl -j show links | jq -r '[.links[] | select(.up)][0].a | "\(.node)/\(.port)"')
ctl link set "$port" down
unplugged() { port_is 1 DOWN || port_is 2 DOWN; }
check "a cable is pulled by pibctl" wait_for 10 unplugged
ctl link set "$port" up
check "and put back" wait_active 60

# A bad cable, both ways.
pings() { h 1 ping -c 3 -i 0.2 -W 1 10.78.0.2; }
check "traffic over a cable that is good" wait_for 60 pings
ctl link set "$port" loss 100% seed 7
refuse "and over one that loses everything" "100% packet loss" pings
lost() { ctl -j show links "$port" | jq -e '.links[0].faults.seed == 7 and ([.links[0].arrivals[].lost] | add) > 0'; }
check "what was lost is counted" lost
ctl link set "$port" healthy latency 50ms
slow() { pings >/tmp/pings; cat /tmp/pings; grep -q 'time=[1-9][0-9][0-9]' /tmp/pings && ! grep -q 'time=[0-9]\{1,2\}[. ]' /tmp/pings; }
check "50 ms each way" wait_for 30 slow
ctl link set "$port" healthy
check "good again" wait_for 60 pings

# The fabric as ibnetdiscover has printed it.
guid=$(ctl -j show | jq -r '.switches[0].node_guid')
h 1 ibnetdiscover -C "$(dev 1)" >$netd/fabric.topo
netd_stop
rm -f $netd/state
echo '{ "listen": ["0.0.0.0", "::"], "topology": { "file": "'$netd/fabric.topo'" } }' >$netd/config.json
netd_start
check "what ibnetdiscover has printed is a configuration" netd_answers
same_switch() { ctl -j show | jq -e ".switches | length == 2 and any(.node_guid == \"$guid\")"; }
check "of the same switches" same_switch
check "both ports ACTIVE" wait_active 60
check "the hosts are where they were" same_ports

# No room.
netd_stop
rm -f $netd/state
config 1
netd_start
netd_answers
refused() { dmesg | grep -q "pib.*every port is taken"; }
check "one too many is told why" wait_for 20 refused
# The reasons that the hosts' users see.
reasons() { for k in 1 2; do h $k pibctl -j show peers; done | jq -sc '[.[].peers[].refusal // empty]'; }
reasons_are() { [ "$(reasons)" = "$1" ]; }
check "its user sees it" wait_for 20 reasons_are '["every port is taken"]'
config 4
kill -HUP "$netd_pid"
check "with more ports it is no longer so" wait_for 20 reasons_are '[]'
netd_stop
head -c 32 /dev/urandom >$netd/key
head -c 32 /dev/urandom >$netd/key.other
chmod 600 $netd/key $netd/key.other
chown 65534 $netd/key
echo '{ "listen": ["0.0.0.0", "::"], "switches": [ { "name": "net0", "ports": 4, "key_file": "'$netd/key'" } ] }' >$netd/config.json
netd_start
key_reason="the fabric's key is another one"
check "who has no key sees that it lacks" wait_for 20 reasons_are "[\"$key_reason\",\"$key_reason\"]"
for k in 1 2; do h $k pibctl del "$(dev $k)"; done
pib_add 1 peer 10.77.0.9 key-file $netd/key.other
check "who has another key, too" wait_for 20 reasons_are "[\"$key_reason\"]"

# Keys by reload, of a daemon of its own whose control socket its file names. A file that is refused changes nothing.
netd_stop
keys_file() { # KEY-SETTINGS CONTROL
	echo '{ "listen": ["127.0.0.1:20002"], "control": "'"$netd/$2"'", "switches": [ { "name": "net0", "ports": 4'"$1"' } ] }' >$netd/keys.json
}
keys() { # FIRST [SECOND]
	echo ', "key_file": "'"$netd/$1"'"'"${2:+, \"second_key_file\": \"$netd/$2\"}"
}
ask() { # CONTROL REQUEST
	python3 -c '
import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(sys.argv[2].encode() + b"\n")
answer = s.makefile().readline()
print(answer)
sys.exit(not json.loads(answer)["ok"])' "$netd/$1" "$2"
}
reload() { ask control.a '{"command":"reload"}'; }
in_memory() { # FILE
	python3 -c '
import sys
key = open(sys.argv[2], "rb").read()
memory = open(f"/proc/{sys.argv[1]}/mem", "rb", 0)
found = 0
for line in open(f"/proc/{sys.argv[1]}/maps"):
    where, mode = line.split()[:2]
    start, end = (int(x, 16) for x in where.split("-"))
    if mode.startswith("rw"):
        data = bytearray()
        while start < end:
            # A read ends early where a page is not there, or fails.
            try:
                memory.seek(start)
                piece = memory.read(end - start)
            except OSError:
                piece = b""
            data += piece or bytes(4096)
            start += len(piece) or 4096
        found += data.count(key)
print("found", found)
sys.exit(not found)' "$keys_pid" "$netd/$1"
}
not_in_memory() { in_memory "$1" | grep -qx 'found 0'; }
pinged_by() { ip netns exec sw pibping -j -c 2 -k "$netd/$1" 127.0.0.1:20002 | jq -r .key | grep -qx same; }
head -c 32 /dev/urandom >$netd/key.new
: >$netd/key.empty
echo short >$netd/key.short
chmod 600 $netd/key.*
chown 65534 $netd/key.*
keys_file "$(keys key)" control.a
ip netns exec sw setpriv --reuid 65534 --regid 65534 --clear-groups pibnetd --config $netd/keys.json 2>>$netd/log &
keys_pid=$!
check "a daemon whose control socket is in its file" wait_for 10 ask control.a '{"command":"show"}'
keys_file "$(keys key.new)" control.b
refuse "a key that was not its second one before, with another control socket" "was not its second key before" reload
as_before() { ask control.a '{"command":"show"}' && [ ! -e $netd/control.b ] && pinged_by key; }
check "changes neither the socket nor the key" as_before
keys_file "" control.b
refuse "a reload does not open the switch" "only a restart opens it" reload
for bad in "missing:cannot read key file" "empty:holds 0 bytes" "short:holds 5 bytes"; do
	keys_file "$(keys key key."${bad%%:*}")" control.b
	refuse "a second key file, ${bad%%:*}" "${bad#*:}" reload
done
check "and all is as it was" as_before
keys_file "$(keys key key.new)" control.a
check "the new key as second" reload
keys_file "$(keys key.new key)" control.a
check "both change places" reload
check "the daemon speaks by the new key" pinged_by key.new
check "the old one is in its memory" in_memory key
keys_file "$(keys key.new)" control.a
check "the old key is dropped" ask control.a '{"command":"reload","force":true}'
check "and nowhere in its memory" not_in_memory key
check "where the new one is" in_memory key.new
kill $keys_pid
check "--second-key-file" pibnetd --test --key-file $netd/key --second-key-file $netd/key.new
refuse "alone" "a second key needs a first one" pibnetd --test --second-key-file $netd/key
refuse "twice the same" "the second key is the fabric's key already" pibnetd --test --key-file $netd/key --second-key-file $netd/key
refuse "too short" "holds 5 bytes" pibnetd --test --key-file $netd/key --second-key-file $netd/key.short
check "--dscp and --ecn" pibnetd --test --dscp 3=46,4=34 --ecn on
refuse "a DSCP that there is not" "64" pibnetd --test --dscp 3=64
refuse "with switches in a file" "are for the switch" pibnetd --test --config $netd/keys.json --second-key-file $netd/key
ktap_end

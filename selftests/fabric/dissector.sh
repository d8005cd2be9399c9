#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Wireshark's dissector of pib's datagrams: what it says of captures is what another reader of docs/wire-format.md finds there
# (dissector.py), and nothing that is damaged gives an error of Lua.
#
#	h1 pib0 --- pib1 h2		eth0 of h1 is captured
#
#	vm/run --packages tshark,python3-cryptography --copy docs/capture.md ... fabric/dissector.sh
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
LAYOUT=netns
lua=/usr/share/pib/pib.lua
dir=$(mktemp -d /tmp/dissector.XXXXXX)
chmod 755 "$dir"	# tshark runs as nobody
clean() {
	pkill -x tcpdump
	hosts_clean
	rm -rf "$dir"
}
trap clean EXIT

# The commands of docs/capture.md, which selftests/check copies beside this folder.
mapfile -t commands < <(sed -n 's/^    \(tshark [^#]*[^# ]\) *\(#.*\)\{0,1\}$/\1/p' "$here/../capture.md")
tcpdump=$(sed -n 's/^    \(tcpdump .*\)$/\1/p' "$here/../capture.md")
ktap_plan $((56 + ${#commands[@]}))

# dissector WHAT NAME [ARGUMENT]: dissector.py of a capture
dissector() { python3 "$here/dissector.py" "$1" "$lua" "$dir/$2.pcap" "${@:3}"; }
# reads NAME [KEYFILE]...
reads() { dissector read "$1" "${@:2}" >"$dir/$1.sums"; }
# found NAME JQ: in what was read
found() { jq -e "$2" "$dir/$1.sums" || { jq -c . "$dir/$1.sums"; return 1; }; }
# Started by root, Wireshark loads no script but those of its own folder.
as_nobody() { timeout 200 setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent "$@" 2>/dev/null; }
# shows NAME FILTER [OPTION]...: in so many packets
shows() {
	as_nobody tshark -X "lua_script:$lua" --disable-protocol rpcordma -r "$dir/$1.pcap" -2 -Y "$2" -T fields -e frame.number "${@:3}" \
		>"$dir/shown" || { echo "tshark has failed"; return; }
	grep -c . "$dir/shown"
}
is() { echo "$1, wanted $2 $3"; test "$1" "$2" "$3"; }
has() { is "$(shows "$@")" -ge 1; }
has_not() { is "$(shows "$@")" = 0; }
# Nothing is lost or cut either; begin and end see to it.
well_formed() {
	has_not "$1" '_ws.malformed || _ws.expert.severity >= "Error" || !pib || pib.trailing || pib.no_checksum || pib.lost || pib.cut'
}

# begin NAME, end NAME: a capture of what passes eth0 of h1. It is empty no more when tcpdump hears, and has all when it has a
# last datagram, which is not pib's.
begin() {
	h 1 tcpdump -i eth0 -Z root -B 32768 -s 0 -U -w "$dir/$1.pcap" udp port 18514 2>"$dir/tcpdump.err" &
	wait_for 30 test -s "$dir/$1.pcap"
}
end() {
	h 1 bash -c "printf '\020%s' 'the end of $1' >/dev/udp/$(addr4 2)/18514"
	wait_for 30 grep -aq "the end of $1" "$dir/$1.pcap" || return
	pkill -INT -x tcpdump
	wait_for 30 grep -q 'dropped by kernel' "$dir/tcpdump.err"
	cat "$dir/tcpdump.err"
	grep -q '^0 packets dropped by kernel' "$dir/tcpdump.err"
}

# talk NAME PROGRAM ARGUMENT...: what the client says is in $dir/NAME.client
talk() {
	local pair_out=$dir/$1
	pair 1 2 $((60 * ${PIB_SLOW:-1})) "${@:2}"
}
# end_of NAME WHICH: LID, QPN and PSN of an end as the client has said
end_of() { sed -n "s/^ *$2 address: *LID \(0x[0-9a-f]*\), QPN \(0x[0-9a-f]*\), PSN \(0x[0-9a-f]*\).*/\1 \2 \3/p" "$dir/$1.client"; }
# first_packet CAPTURE NAME OPCODE [OPTION]...: the client's first one, from its LID to the server's QP, with the client's PSN
first_packet() {
	local slid dlid qpn psn _
	read -r slid _ psn < <(end_of "$2" local)
	read -r dlid qpn _ < <(end_of "$2" remote)
	has "$1" "infiniband.lrh.slid == $slid && infiniband.lrh.dlid == $dlid && infiniband.bth.destqp == $qpn &&
		infiniband.bth.psn == $psn && infiniband.bth.opcode == $3" "${@:4}"
}

# ---- datagrams made by hand ----

check "datagrams of each kind" python3 "$here/dissector.py" make "$dir/made.pcap"
check "they are read" reads made
check "those that are wrong, and no others, are marked" dissector marks made
check "damaged, they give no error of Lua" dissector harm made 1

# ---- seals made by hand ----

# That script is run by tshark's own Lua.
vectors() {
	cp "$here/seal_test.lua" "$dir"
	as_nobody tshark -X "lua_script:$dir/seal_test.lua" -X "lua_script1:${lua%/*}/pib_seal.lua" -r "$dir/made.pcap" -c 1 >"$dir/vectors"
	cat "$dir/vectors"
	grep -qx "the vectors are right" "$dir/vectors"
}
# tshark runs as nobody.
keys() { make_keys "$dir/key" "$dir/other" && chmod 644 "$dir/key" "$dir/other"; }
check "the vectors of the RFCs" vectors
check "two keys" keys
check "what is sealed by both" python3 "$here/dissector.py" keyed "$dir/seals.pcap" "$dir/key" "$dir/other"
check "it is read without a key" reads seals
check "nothing is opened" found seals '."infiniband.bth.psn" == 0 and ."pib.seal.status" > 50'
check "it is read by the other key, and that opens what is its" reads seals "$dir/other"
check "it is read by both keys" reads seals "$dir/key" "$dir/other"
check "both open packets" found seals '."infiniband.bth.psn" > 40'
check "damaged, they give no error of Lua" dissector harm seals 4 "$dir/key" "$dir/other"

# ---- an open fabric ----

linked() { pair 1 2 20 ibv_rc_pingpong -n 1; }
# hosts_begin [OPTION]...
hosts_begin() { pib_add 1 standalone "$@" && pib_add 2 standalone "$@" && wait_active 60 && wait_for 60 linked; }
guids() { for k in 1 2; do h $k pibctl -j show; done | jq -r '.switches[].node_guid'; }
both_guids() {
	local guid
	[ "$(guids | wc -l)" = 2 ] || { guids; return 1; }
	for guid in $(guids); do has open "pib.hello.node_guid == $guid" || return; done
	has_not open "pib.hello.session && !($(guids | sed 's/^/pib.hello.node_guid == /' | paste -sd'|' | sed 's/|/ || /'))"
}

hosts_make 2
begin open
check "two hosts are linked" hosts_begin
check "large messages" talk large ibv_rc_pingpong -m 2048 -s 65536 -n 10
check "datagrams" talk datagrams ibv_ud_pingpong -s 1024 -n 10
check "all of it is captured" end open
check "it is read" reads open
check "there are segments, and packets of both kinds" found open \
	'."pib.segment.index" > 0 and ."infiniband.bth.psn" > 100 and ."infiniband.deth.srcqp" > 0 and ."pib.hello.session" > 0'
check "nothing is malformed" well_formed open
check "the host switches' GUIDs, and no others" both_guids
check "the first packet of the large messages" first_packet open large 0
check "that of the datagrams" first_packet open datagrams 0x64
check "what echoes a cookie" has open pib.hello.cookie_in
check "another port is another protocol's" has_not open pib -o pib.port:9
check "damaged, it gives no error of Lua" dissector harm open 2

# ---- one by one, as a wire has them ----

plain() { for k in 1 2; do h $k ethtool -K eth0 gso off tx-udp-segmentation off gro off || return; done; }
check "no super-packets" plain
begin wire
check "large messages" talk wire ibv_rc_pingpong -m 2048 -s 65536 -n 10
check "all of it is captured" end wire
check "it is read" reads wire
check "frames are put together" found wire '."pib.segment.index" > 100 and ."infiniband.bth.psn" > 100'
check "nothing is malformed" well_formed wire
check "the first packet" first_packet wire wire 0
check "frames that are not put together if nobody wants that" has_not wire "pib.segment.index && infiniband" -o pib.reassemble:FALSE

# ---- a larger MTU ----

larger() { for k in 1 2; do h $k ip link set eth0 mtu 9000 || return; done; }
check "an MTU of 9000" larger
begin jumbo
check "large messages" talk jumbo ibv_rc_pingpong -m 4096 -s 65536 -n 10
check "all of it is captured" end jumbo
check "it is read" reads jumbo
check "packets of 4096 bytes and their headers" has jumbo 'pib.type == 0 && pib.packet.length > 4096'
check "nothing is malformed" well_formed jumbo
check "the first packet" first_packet jumbo jumbo 0

# ---- a fabric with a key ----

offloads() { h "$1" ip link set eth0 mtu 1500 && h "$1" ethtool -K eth0 gso on tx-udp-segmentation on; }
gone() { for k in 1 2; do h $k pibctl del "$(dev $k)" && offloads $k || return; done; }
check "the hosts go" gone
begin keyed
check "two hosts with a key" hosts_begin key-file "$dir/key"
check "large messages" talk keyed ibv_rc_pingpong -m 2048 -s 65536 -n 10
check "all of it is captured" end keyed
check "it is read, and no counter is missing" reads keyed
check "control datagrams are in the clear, data is sealed" found keyed \
	'."pib.seal.counter" > 100 and ."pib.hello.session" > 0 and ."infiniband.bth.psn" == 0'
check "nothing is malformed" well_formed keyed
check "it is read by the key" reads keyed "$dir/key"
check "all that is sealed is opened" has_not keyed "pib.seal.status == 0 || pib.seal.status == 2" -o "pib.key_file:$dir/key"
check "the first packet" first_packet keyed keyed 0 -o "pib.key_file:$dir/key"
check "another key opens nothing" has_not keyed infiniband -o "pib.key_file:$dir/other"
check "a key file that is not there is told" has keyed pib.bad_key -o "pib.key_file:$dir/none"
check "damaged, it gives no error of Lua" dissector harm keyed 3 "$dir/key"

# Where tshark comes by a layer of packages, its new folders hide those of the layer that has pib (overlayfs).
for plugins in /usr/lib/*/wireshark/plugins; do
	[ -e "$plugins/pib.lua" ] || echo "dofile(\"$lua\")" >"$plugins/pib.lua"
done

# tcpdump does not see what passes in the second before its end. It writes a buffer at a time: what is in the file it has seen.
captures() {
	local pid rc
	mkdir "$dir/by-hand" && chmod 777 "$dir/by-hand"
	(cd "$dir/by-hand" && exec ip netns exec h1 bash -c "exec $tcpdump") 2>"$dir/err" &
	pid=$!
	wait_for 30 grep -q 'listening on' "$dir/err" && wait_for 60 test -s "$dir/by-hand/pib.pcap"
	rc=$?
	pkill -INT -x tcpdump
	wait $pid
	[ $rc = 0 ] && cp "$dir/by-hand/pib.pcap" "$dir/by_hand.pcap" && has by_hand pib.hello.session && return
	cat "$dir/err"
	return 1
}
check "${tcpdump:-tcpdump}" captures
check "docs/capture.md has commands" test ${#commands[@]} -gt 2
cp "$dir/open.pcap" "$dir/pib.pcap"
cp "$dir/key" "$dir/fabric.key"
chmod 644 "$dir/fabric.key"
for command in "${commands[@]}"; do
	said() { (cd "$dir" && timeout 200 sh -c "$command" 2>"$dir/err" | tee "$dir/said" | head -n 5) && [ -s "$dir/said" ]; }
	check "$command" said
done
ktap_end

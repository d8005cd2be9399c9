#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# pibctl's tools beside rdma-core's examples and perftest: each tool sees the queue pair of a program that runs, and the
# program goes on. Then programs from their start to their end: pibctl manners says of both ends what is truly wrong there,
# and nothing else; and with all behaviors at once they end well.
#
#	vm/run --hosts 2 --packages openmpi-bin,libopenmpi-dev,tshark ... consumers/tools-programs.sh
set -u
here=$(dirname "$0")
. "$here/lib.sh"
. "$here/../lib/beside.sh"

# Programs that run for ever: what each posts | opcodes of what it sends | as the server | as the client. TO is host 2, IBTO
# its IPoIB. They send four bytes or more: tshark says of fewer that they are malformed.
running=(
	"SEND|0..5,17|ibv_rc_pingpong -d pib0 -n 1000000000|ibv_rc_pingpong -d pib0 -n 1000000000 TO"
	"SEND|0..5,13..17|rping -s -a IBTO -C 1000000000|rping -c -a IBTO -C 1000000000"
	"RDMA_WRITE|6..11|ib_write_bw -d pib0 -F -Q 1 -s 4096 -D 10000|ib_write_bw -d pib0 -F -Q 1 -s 4096 -D 10000 TO"
	"SEND|0..5,17|ib_send_lat -d pib0 -F -s 64 -D 10000|ib_send_lat -d pib0 -F -s 64 -D 10000 TO"
)
# Programs that end: kinds of bad manners that are truly there, "-": none | whether it runs with all behaviors, too | as the
# server | as the client. Each kind has to be found at one end at least, but with "?": it is
# there by chance. FROM is IPoIB of host 1. A server that is in $endless is ended
# when its client has ended.
ending=(
	"-|yes|ibv_rc_pingpong -d pib0 -n 100 -c|ibv_rc_pingpong -d pib0 -n 100 -c TO"
	"-|no|ibv_rc_pingpong -d pib0 -n 50 -e|ibv_rc_pingpong -d pib0 -n 50 -e TO"
	"-|no|ibv_uc_pingpong -d pib0 -n 50|ibv_uc_pingpong -d pib0 -n 50 TO"
	"-|yes|ibv_ud_pingpong -d pib0 -s 1024 -n 50|ibv_ud_pingpong -d pib0 -s 1024 -n 50 TO"
	"unpolled destroyed-busy?|yes|ibv_srq_pingpong -d pib0 -n 200|ibv_srq_pingpong -d pib0 -n 200 TO"
	"-|no|ibv_xsrq_pingpong -d pib0 -n 50|ibv_xsrq_pingpong -d pib0 -n 50 TO"
	"-|yes|rping -s -a IBTO -C 20 -V|rping -c -a IBTO -C 20 -V"
	"unpolled|yes|ucmatose -c 4 -C 20 -S 4096|ucmatose -c 4 -C 20 -S 4096 -s IBTO"
	"-|no|udaddy -c 4 -C 20|udaddy -c 4 -C 20 -s IBTO"
	"-|no|rdma_server|rdma_client -s IBTO"
	"-|no|rdma_xserver -c r|rdma_xclient -c r -s IBTO"
	"left-behind|no|rdma_xserver -c x|rdma_xclient -c x -s IBTO"
	"-|no|mckey -b IBTO -m 239.1.2.3 -C 10|mckey -b FROM -m 239.1.2.3 -s -C 100"
	"-|no|mckey -b IBTO -M ff15::77 -C 10|mckey -b FROM -M ff15::77 -s -C 100"
	"dereg-busy left-behind|no|udpong -b IBTO|udpong -b FROM -s IBTO -C 100 -S 1000 -T e"
	"-|no|rcopy|rcopy /bin/bash IBTO:/tmp/got"
	"-|no|ibv_asyncwatch -d pib0|ibv_devinfo -d pib0 -v"
	"left-behind|no|cmtime -c 20 -b IBTO|cmtime -c 20 -s IBTO"
	"unpolled?|no|rstream -I 20 -C 20 -S 4096 -T b|rstream -I 20 -C 20 -S 4096 -T b -s IBTO"
	"unpolled?|yes|riostream -I 20 -C 4 -S 4096 -T v|riostream -I 20 -C 4 -S 4096 -T v -s IBTO"
	"-|no|ib_write_bw -d pib0 -F -n 500|ib_write_bw -d pib0 -F -n 500 TO"
	"-|yes|ib_write_lat -d pib0 -F -n 200|ib_write_lat -d pib0 -F -n 200 TO"
	"-|yes|ib_read_bw -d pib0 -F -n 300|ib_read_bw -d pib0 -F -n 300 TO"
	"-|no|ib_read_lat -d pib0 -F -n 200|ib_read_lat -d pib0 -F -n 200 TO"
	"-|yes|ib_send_bw -d pib0 -F -n 500 -q 2|ib_send_bw -d pib0 -F -n 500 -q 2 TO"
	"-|no|ib_send_bw -d pib0 -F -n 300 -c UD|ib_send_bw -d pib0 -F -n 300 -c UD TO"
	"-|no|ib_send_lat -d pib0 -F -n 200|ib_send_lat -d pib0 -F -n 200 TO"
	"-|yes|ib_atomic_bw -d pib0 -F -n 300|ib_atomic_bw -d pib0 -F -n 300 TO"
	"-|no|ib_atomic_lat -d pib0 -F -n 200|ib_atomic_lat -d pib0 -F -n 200 TO"
	"left-behind|no|ib_write_bw -d pib0 -F -R -n 300|ib_write_bw -d pib0 -F -R -n 300 IBTO"
)
endless=" udpong rcopy ibv_asyncwatch "
ktap_plan $((4 + 13 * ${#running[@]} + ${#ending[@]} + $(printf '%s\n' "${ending[@]}" | grep -c '|yes|') + 2))
subnet_with_ipoib
ulimit -l unlimited
to=$(addr4 2) ib_to=$(ib_addr 2) from=$(ib_addr 1)

# words COMMAND: with the addresses in it
words() {
	local text=${1/IBTO/$ib_to}
	text=${text/FROM/$from}
	echo "${text/TO/$to}"
}
# listens PROGRAM: it waits for its client, by TCP or by the CM
listens() { h 2 sh -c "ss -Hltnp | grep -q '\"$1\"' || rdma resource show cm_id | grep -q 'LISTEN.* comm $1'"; }

# The CM does not tell of all that listens for any address: what has begun gets a moment.
ready() { wait_for 30 h 2 pgrep -x "$1" && { wait_for 3 listens "$1" || :; }; }

# ---- what runs ----

# begin SERVER CLIENT: both run
begin() {
	h 2 sh -c "ulimit -l unlimited; exec $(words "$1")" >$dir/server 2>&1 & serving=$!
	ready "$owner" || cat $dir/server
	# shellcheck disable=SC2046  # words
	env $(words "$2") >$dir/client 2>&1 & pid=$!
}
# The kernel has taken back the objects of the killed process.
left_nothing() { pibctl -j show objects pib0 | jq -e --argjson pid "$pid" 'all(.objects[]; .pid != $pid)'; }
end() {
	kill "$pid" 2>/dev/null
	h 2 pkill -x "$owner"
	wait "$pid" "$serving" 2>/dev/null
}
serve_begin
monitor_begin
for row in "${running[@]}"; do
	IFS='|' read -r posts packets there client <<<"$row"
	owner=${client%% *} far_owner=${there%% *}
	check "$owner: IPoIB" wait_for 60 ping -c1 -W1 "$ib_to"
	begin "$there" "$client"
	tools_beside "$owner"
	end
	check "$owner: ended, and serve says so" serve_idle
	check "$owner: nothing of it is left" wait_for 20 left_nothing
done
beside_end

# ---- what ends ----

# pair_of PREFIX SERVER CLIENT: both end well, each behind the prefix. Their output is in $dir/server and $dir/client.
pair_of() {
	local far rc=0 program=${2%% *}
	# shellcheck disable=SC2046,SC2086  # words
	h 2 timeout $patience $1 $(words "$2") >$dir/server 2>$dir/server.err & far=$!
	ready "${program:0:15}" || rc=1
	# shellcheck disable=SC2046,SC2086  # words
	timeout $patience $1 $(words "$3") >$dir/client 2>$dir/client.err || rc=1
	[ $rc = 0 ] && [[ $endless != *" $program "* ]] || h 2 pkill -x "${program:0:15}"
	wait $far || [[ $endless = *" $program "* ]] || rc=1
	[ $rc = 0 ] || tail -n 12 $dir/server.err $dir/client.err
	return $rc
}
# well_mannered KINDS SERVER CLIENT: of each end nothing is said but these, each of them is said, and nothing is missing
well_mannered() {
	local side kind rc=0
	rm -f $dir/server $dir/client
	pair_of "pibctl -j manners" "$2" "$3" || rc=1
	for side in server client; do
		jq -e --arg kinds "$1" '.seen and .lost == 0 and .unheard == 0 and ([.findings[].manner] - ($kinds | split(" ") | map(rtrimstr("?")))) == []' $dir/$side >/dev/null && continue
		jq -c 'del(.findings[].explanation)' $dir/$side
		rc=1
	done
	for kind in $1; do
		[[ $kind = - || $kind = *"?" ]] && continue
		jq -se --arg kind "$kind" 'any(.[].findings[]; .manner == $kind)' $dir/server $dir/client >/dev/null || { echo "no $kind is found"; rc=1; }
	done
	return $rc
}
all_behaviors() {
	local k names
	names=$(pibctl set pib0 behavior no-such 2>&1 | sed -n 's/.*accepted are \(.*\), none and random.*/\1/p' | tr -d ' ')
	for k in 1 2; do h $k pibctl set pib0 behavior "$names" && [ "$(h $k pibctl -j show pib0 | jq -r '.hcas[0].behavior')" = "$names" ] || return 1; done
}
for row in "${ending[@]}"; do
	IFS='|' read -r kinds shaken there client <<<"$row"
	check "manners: $client" well_mannered "$kinds" "$there" "$client"
done
check "all behaviors at once" all_behaviors
for row in "${ending[@]}"; do
	IFS='|' read -r kinds shaken there client <<<"$row"
	[ "$shaken" = no ] || check "behaviors: $client" pair_of env "$there" "$client"
done
for k in 1 2; do h $k pibctl set pib0 behavior none; done
check "pib can be unloaded on both" all_unloaded
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Bad cables: what gets through is right, what does not is counted where hardware counts it, and the same seed
# does the same again.
#
#	pib0 --- sa/4 === sb/4 --- pib1, all in h1; then h1 ===UDP=== h2
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/topology.sh"
. "$here/../lib/chain.sh"
trap 'traffic_clean; for s in sa sb; do h 1 pibctl del $s; done 2>/dev/null; h 1 pibctl del pib1 2>/dev/null; hosts_clean' EXIT

ktap_plan 62
LAYOUT=netns
hosts_make 2

cable() { h 1 pibctl link set sa/4 "$@"; }
# A fault count, or a property of the faults, of the cable; a counter of a port.
arrived() { h 1 pibctl -j show links sa/4 | jq ".links[0].arrivals[] | select(.node == \"$1\") | .$2"; }
fault() { h 1 pibctl -j show links sa/4 | jq ".links[0].faults.$1"; }
counter() { h 1 pibctl -j show counters "$1" | jq "[.. | objects | .$2? // empty][0]"; }

# whole ROUNDS BYTES: messages in both directions, of which every byte is compared. One process has both ends, so none of them
# leaves before the other one is acknowledged.
whole() { timeout $((120 * ${PIB_SLOW:-1})) /tmp/allpairs -n "$1" -s "$2" pib0 pib1; }
verified() { whole "${1:-50}" 8192; }
usec() { sed -n 's/.*= *\([0-9]*\)[.0-9]* usec\/iter.*/\1/p' /tmp/pair.client; }
at_least() { echo "$1"; [ "${1:-0}" -ge "$2" ]; }

check "traffic generator compiles" allpairs_build
check "a chain of two switches" chain
sm_start 1
check "ACTIVE" wait_for 60 both_active

# The comparison can fail: a bit that is changed where no checksum tells is noticed.
change_bit() {
	local qp
	qp=$(rdma -j resource show qp link pib0/1 | jq '[.[] | select(.comm == "allpairs" and .state == "RTS")][0].lqpn')
	h 1 pibctl inject pib0 qp "$qp" corrupt 1 seed 5
}
noticed() { wait_for 20 grep -q "pib1 got damaged data from pib0" /tmp/traffic || { cat /tmp/traffic; return 1; }; }
traffic_start -s 8192 pib0 pib1
check "traffic whose data are compared" traffic_runs
check "a bit is changed" change_bit
check "that is noticed" noticed
traffic_end 2>/dev/null
check "and is a failure" same $traffic_status 1

refuse "nothing to set" "missing" cable
refuse "more than all packets" "share" cable loss 101%
refuse "too many bit errors" "share" cable bit-errors 2%
refuse "no such time" "time" cable latency 5
refuse "a port without a cable" "no cable" h 1 pibctl link set sa/3 loss 1%
refuse "a flap that never ends" "1ms" cable flap 0/1s

discards() { echo "$(counter sa/4 port_xmit_discards) $(counter sb/4 port_xmit_discards)"; }

# Loss.
err_a=$(counter sa/4 port_rcv_errors) err_b=$(counter sb/4 port_rcv_errors)
check "1 % loss" cable loss 1% seed 7
check "the seed is shown" same "$(fault seed)" 7
check "loss: data is right" verified
check "loss: some were lost" at_least "$(arrived sa lost)" 1
check "loss: receive errors at one end" same "$(arrived sa lost)" $(($(counter sa/4 port_rcv_errors) - err_a))
check "loss: receive errors at the other" same "$(arrived sb lost)" $(($(counter sb/4 port_rcv_errors) - err_b))
check "loss: symbol errors" same "$(counter sb/4 symbol_error)" "$(counter sb/4 port_rcv_errors)"
check "loss: the senders discarded nothing" same "$(discards)" "0 0"
pma() { h 1 perfquery -C pib0 "$(h 1 pibctl -j show sb | jq '.switches[0].ports[0].lid')" 4 | sed -n "s/^$1:\.*//p"; }
check "loss: the PMA says so" same "$(pma PortRcvErrors)" "$(counter sb/4 port_rcv_errors)"
ib_errors() { h 1 ibqueryerrors -C pib0 -s PortXmitWait 2>&1 | grep -q "PortRcvErrors == "; }
check "loss: ibqueryerrors reports it" ib_errors

# The same seed, the same losses: UC sends all there is to send and hears nothing back.
uc_lost() {
	cable healthy loss 2% seed "$1" && run ib_write_bw -c UC -n 500 -s 8192 -F -p $PORT >/dev/null && arrived sa lost
}
first=$(uc_lost 7)
check "a seed: packets were lost" at_least "$first" 10
check "the same seed: the same losses" same "$(uc_lost 7)" "$first"
other=$(uc_lost 8)
others() { echo "$other, before $first"; [ -n "$other" ] && [ "$other" != "$first" ]; }
check "another seed: others" others

# Bit errors.
err_a=$(counter sa/4 port_rcv_errors) sym_a=$(counter sa/4 symbol_error)
check "bit errors" cable healthy bit-errors 1e-6 seed 1
check "bit errors: data is right" verified
check "bit errors: some packets were damaged" at_least "$(arrived sa damaged)" 1
check "bit errors: none came through" same "$(arrived sa damaged)" $(($(counter sa/4 port_rcv_errors) - err_a))
check "bit errors: symbol errors" at_least $(($(counter sa/4 symbol_error) - sym_a)) "$(arrived sa damaged)"

# More bad packets than good ones: the link has lost its integrity (7.12.2), and recovers.
check "mostly bit errors" cable healthy bit-errors 3e-4 seed 1
run ib_write_bw -c UC -n 100 -s 65536 -F -p $PORT >/dev/null
check "mostly bit errors: made good" cable healthy
pma_of_a() { h 1 perfquery -C pib0 "$(h 1 pibctl -j show sa | jq '.switches[0].ports[0].lid')" 4 | sed -n "s/^$1:\.*//p"; }
check "mostly bit errors: LocalLinkIntegrityErrors" at_least "$(pma_of_a LocalLinkIntegrityErrors)" 1
check "mostly bit errors: LinkErrorRecovery" at_least "$(pma_of_a LinkErrorRecoveryCounter)" 1
check "mostly bit errors: trap 129" wait_for 60 sm_log_has 1 "num:129"

# Order.
check "duplicates and disorder" cable healthy duplicate 5% reorder 5% seed 1
check "disorder: data is right" verified 100
check "disorder: there were duplicates" at_least "$(arrived sa duplicated)" 1
check "disorder: some were overtaken" at_least "$(arrived sa reordered)" 1

# Time.
check "latency" cable healthy latency 5ms
run ibv_rc_pingpong -n 20 -s 64 >/dev/null
check "latency: there and back" at_least "$(usec)" 10000
check "rate" cable healthy rate 20M
# Packets that the cable lost while it was mostly bad are none of these.
before=$(discards)
run ibv_rc_pingpong -n 10 -s 65536 >/dev/null
check "rate: there and back" at_least "$(usec)" 52428
check "rate: nothing is lost" same "$(discards)" "$before"

# Another cable.
check "a better cable" cable healthy width 12x speed xdr
better() { h 1 pibctl -j show sa | jq -e '.switches[0].ports[] | select(.port == 4) | .width == "12X" and .speed == "XDR" and .state == "ACTIVE"'; }
check "12X XDR, and ACTIVE again" wait_for 60 better

# Flapping.
downs=$(counter sa/4 link_downed)
traps=$(h 1 grep -c "num:128" /tmp/opensm.1/opensm.log)
check "flap" cable flap 3s/1s
flapped() { [ "$(counter sa/4 link_downed)" -ge $((downs + 2)) ]; }
check "flap: down twice" wait_for 60 flapped
trapped() { [ "$(h 1 grep -c "num:128" /tmp/opensm.1/opensm.log)" -gt "$traps" ]; }
check "flap: trap 128" wait_for 60 trapped
check "a good cable" cable healthy
recovered() { both_active && verified 20; }
check "traffic again" wait_for 90 recovered
sm_end h 1
for n in pib0 pib1 sa sb; do h 1 pibctl del $n; done

# Over UDP.
pib_add 1 standalone
pib_add 2 standalone
# Without a subnet manager ports are ACTIVE before there is a trunk.
check "UDP: a trunk" wait_for 30 trunk_is true
check "UDP: ACTIVE" wait_active 60
trunk=$(h 1 pibctl -j show links | jq -r '.links[] | select(.up == true) | "\(.a.node)/\(.a.port)"')
refuse "UDP: there are no credits" "only a cable inside" h 1 pibctl link set "$trunk" buffer 8k
h 1 pibctl link set "$trunk" loss 2% bit-errors 1e-7 seed 3
check "UDP: data is right" whole 50 4096
check "UDP: receive errors" at_least "$(counter "$trunk" port_rcv_errors)" 1
for k in 1 2; do h $k pibctl del "$(dev $k)"; done

# No room: more comes by UDP than the cable lets in. With a threshold of 1 each period with an overrun is excessive.
echo "overrun_errors_threshold 1" >/tmp/overrun.conf
pib_add 1
pib_add 2
sm_start 1 -F /tmp/overrun.conf
check "overrun: ACTIVE" wait_active 60
trunk=$(h 2 pibctl -j show links | jq -r '.links[] | select(.up == true) | "\(.a.node)/\(.a.port)"')
check "overrun: a slow cable at the receiver" h 2 pibctl link set "$trunk" rate 20M
check "overrun: UC does not wait" pair 2 1 100 ib_write_bw -c UC -n 400 -s 65536 -F
pma_of_trunk() { h 1 perfquery -C pib0 "$(h 2 pibctl -j show | jq '.switches[0].ports[0].lid')" "${trunk#*/}" | sed -n "s/^$1:\.*//p"; }
check "overrun: ExcessiveBufferOverrunErrors" at_least "$(pma_of_trunk ExcessiveBufferOverrunErrors)" 1
check "overrun: trap 130" wait_for 60 sm_log_has 1 "num:130"
ktap_end

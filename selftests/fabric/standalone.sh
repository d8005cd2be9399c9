#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Ports without a subnet manager: `pibctl add ... standalone`.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap 'h 1 pibctl switch del sa 2>/dev/null; hosts_clean' EXIT

ktap_plan 12
hosts_make 2
refuse "more ports than a hello has room for LIDs" "too many ports" h 1 pibctl add pib9 netdev eth0 standalone ports 9
check "host 1: add standalone" pib_add 1 standalone
check "port is ACTIVE at once" wait_for 1 port_is 1 ACTIVE
refuse "an HCA for a subnet manager beside it" "are standalone" h 1 pibctl add pib9 netdev eth0
check "a switch" h 1 pibctl switch add sa ports 4
refuse "a cable to it" "no further cables" h 1 pibctl link add "$(dev 1)/1" sa/1
check "host 2: add standalone" pib_add 2 standalone
check "host 2: ACTIVE" wait_for 1 port_is 2 ACTIVE
lids_differ() { [ "$(port_attr 1 lid)" != "$(port_attr 2 lid)" ] && [ $(($(port_attr 1 lid))) != 0 ]; }
check "LIDs differ" lids_differ
both_ways() { wait_for 10 pair 1 2 20 ibv_rc_pingpong -n 10; }
check "ibv_rc_pingpong" both_ways
check "ibv_ud_pingpong" pair 2 1 30 ibv_ud_pingpong
check "ib_write_bw" pair 2 1 60 ib_write_bw -F -n 500
ktap_end

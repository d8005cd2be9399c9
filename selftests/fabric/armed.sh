#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An ARMED port sends management of the subnet, and no data (7.2.7), to itself neither.
#
#	pib0/1 -- pib1/1, both in h1; there is no subnet manager
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap 'h 1 pibctl del pib0; h 1 pibctl del pib1; hosts_clean' EXIT

ktap_plan 10
LAYOUT=netns
hosts_make 2
two_hcas() { h 1 pibctl add pib0 && h 1 pibctl add pib1 && h 1 pibctl link add pib0/1 pib1/1; }
check "two HCAs with a cable" two_hcas
check "INIT" wait_for 10 port_is 1 INIT

# set_state STATE: as a subnet manager does
set_state() { h 1 ibportstate -C pib0 -D 0 1 "$@"; }
# A question to QP1 of the port's own LID, and the answer.
ask() { h 1 timeout 60 perfquery -C pib0 -t 500 5 1; }
discards() { cat /sys/class/infiniband/pib0/ports/1/counters/port_xmit_discards; }

check "the port gets LID 5 and goes to ARMED" set_state lid 5 arm
check "ARMED" port_is 1 ARMED
before=$(discards)
refuse "data for the port's own LID is not delivered" "fail|timed" ask
check "it is discarded at the port" more "$(discards)" "$before"
check "an SMP for the port's own LID is" h 1 smpquery -C pib0 -L nodeinfo 5
check "the port goes to ACTIVE" set_state active
check "ACTIVE" port_is 1 ACTIVE
check "now data is delivered" ask
ktap_end

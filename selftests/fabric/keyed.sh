#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Keyed fabrics: who has not the key takes no part.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap 'rm -f /tmp/key.*; hosts_clean' EXIT

ktap_plan 15
LAYOUT=netns
hosts_make 3
make_keys /tmp/key.a /tmp/key.b
has_trunks() { [ "$(h "$1" pibctl -j show links | jq '[.. | objects | select(.up? == true)] | length')" = "$2" ]; }
refused() { h "$1" pibctl -j show uplinks | jq '[.. | objects | .rx_bad_authentication? // empty] | add // 0'; }
refuses_more() { [ "$(refused "$1")" -gt "$2" ]; }

check "host 1: add with a key" pib_add 1 standalone key-file /tmp/key.a
check "host 2: the same key" pib_add 2 standalone key-file /tmp/key.a
check "host 3: another key" pib_add 3 standalone key-file /tmp/key.b
check "hosts 1 and 2 meet" wait_for 60 has_trunks 1 1
check "host 3's hellos are refused" wait_for 60 refuses_more 1 0
check "host 3 refuses as well" wait_for 60 refuses_more 3 0
check "host 3 meets nobody" has_trunks 3 0
check "host 1 has met nobody else" wait_for 60 has_trunks 1 1
check "traffic" pair 1 2 60 ibv_rc_pingpong
refuse "a second HCA without the key" "key" h 1 pibctl add pib9 netdev eth0 standalone
refuse "a second HCA with another key" "key" h 1 pibctl add pib9 netdev eth0 standalone key-file /tmp/key.b
check "a second HCA with the same key" h 1 pibctl add pib9 netdev eth0 standalone key-file /tmp/key.a
h 1 pibctl del pib9
h 3 pibctl del "$(dev 3)"
before=$(refused 1)
check "host 3: add without a key" pib_add 3 standalone
check "its hellos are refused" wait_for 60 refuses_more 1 "$before"
check "it meets nobody" has_trunks 3 0
ktap_end

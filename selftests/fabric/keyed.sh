#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Keyed fabrics: who has not the key takes no part.
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
trap 'rm -f /tmp/key.*; hosts_clean' EXIT

ktap_plan 24
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

# Cables between switches, which bring the key themselves.
h 3 pibctl del "$(dev 3)"
h 1 pibctl del pib0
h 2 pibctl del pib1
switch_to() { h "$1" pibctl switch add "far$1" ports 2 && h "$1" pibctl link add "far$1/1" udp eth0 peer "$(addr4 "$2")" "${@:3}"; }
keys_are() { h "$1" pibctl -j show uplinks | jq -e "[.uplinks[].keys] == [$2]"; }
check "host 1: a cable with a key" switch_to 1 2 key-file /tmp/key.a
check "its fabric has the key" keys_are 1 1
check "host 2: a cable with another key" switch_to 2 1 key-file /tmp/key.b
before=$(refused 1)
check "is refused" wait_for 60 refuses_more 1 "$before"
check "host 2: with the same key" eval 'h 2 pibctl switch del far2 && switch_to 2 1 key-file /tmp/key.a'
check "they meet" wait_for 60 has_trunks 1 1
refuse "a second cable with another key" "another key" h 1 pibctl link add far1/2 udp eth0 peer "$(addr4 3)" key-file /tmp/key.b
check "a second cable, by the key that is there" h 1 pibctl link add far1/2 udp eth0 peer "$(addr4 3)"
refuse "a key of a cable in this kernel" "one second end" h 1 pibctl link add far1/2 far1/1 key-file /tmp/key.a
for k in 1 2; do h $k pibctl switch del far$k; done
ktap_end

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A key that is dropped is wiped from where the module keeps keys, for which all of the kernel's memory is searched; so is one that
# was refused. Requests, which are wiped as well, are not looked for.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/programs.sh"
trap 'rm -f /tmp/key.* /tmp/kernel_keys; hosts_clean' EXIT

ktap_plan 24
LAYOUT=netns
hosts_make 2
modprobe pib
# of 32 characters: the end of a line at the end of a file is no part of its key
for key in a b c d; do od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >/tmp/key.$key && chmod 600 /tmp/key.$key; done

has() { /tmp/kernel_keys "/tmp/key.$1"; }
# forgotten KEY: status 1 alone says that it was looked for, and not found.
forgotten() {
	has "$1"
	[ $? = 1 ]
}
meets() { h "$1" pibctl -j show peers | jq -e '.peers[] | select(.up == true)'; }

check "the program" program kernel_keys /tmp/kernel_keys
check "two hosts with a key" eval 'pib_add 1 key-file /tmp/key.a && pib_add 2 key-file /tmp/key.a && wait_for 60 meets 1'
check "the kernel has it" has a
refuse "a second HCA with another key" "another key" h 1 pibctl add pib9 netdev eth0 key-file /tmp/key.d
check "the kernel does not have that" forgotten d
for k in 1 2; do check "host $k: a second key" h $k pibctl set "$(dev $k)" second-key-file /tmp/key.b; done
check "the kernel has it" has b
for k in 1 2; do check "host $k: which becomes the first" h $k pibctl set "$(dev $k)" key-file /tmp/key.b; done
for k in 1 2; do check "host $k: and the old one is dropped" wait_for 60 h $k pibctl set "$(dev $k)" no-second-key; done
check "the kernel does not have that" forgotten a
check "but the new one" has b
check "both go" eval 'h 1 pibctl del pib0 && h 2 pibctl del pib1'
check "and with them their key" forgotten b

# By a cable
check "a switch" h 1 pibctl switch add sa ports 2
check "its cable brings a key" h 1 pibctl link add sa/1 udp eth0 peer 10.77.0.2 key-file /tmp/key.c
check "the kernel has it" has c
refuse "another cable, with another key" "another key" h 1 pibctl link add sa/2 udp eth0 peer 10.77.0.3 key-file /tmp/key.d
refuse "a cable of a port that is not there" "port" h 1 pibctl link add sa/3 udp eth0 peer 10.77.0.3 key-file /tmp/key.d
check "the kernel does not have that" forgotten d
check "the switch goes" h 1 pibctl switch del sa
check "and with it its key" forgotten c
ktap_end

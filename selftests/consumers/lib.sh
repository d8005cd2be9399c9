# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154  # $here is that of the suite
# The suites of consumers/ begin with this; $here is this folder.
. "$here/../lib/ktap.sh"
. "$here/../lib/hosts.sh"
. "$here/../lib/ipoib.sh"
. "$here/../lib/compat.sh"
trap hosts_clean EXIT

# all_unloaded MODULE...: on both hosts, and pib at last
all_unloaded() {
	local k
	for k in 1 2; do modules_gone $k "$@" || return 1; done
	hosts_clean
	for k in 1 2; do modules_gone $k pib || return 1; done
}

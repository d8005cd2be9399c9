#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The page of pibctl fabric serve in a headless chromium (--packages chromium,chromium-driver): what it draws, what clicks show, and
# cables that break under it. A picture of it is left in /tmp/serve-browser.png.
#
#	pib0, pib1 --- switch === spines === switch --- pib2, pib3
set -u
here=$(dirname "$0")
. "$here/../lib/ktap.sh"
. "$here/../lib/topology.sh"
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; topology_clean; pibctl del new 2>/dev/null; rm -rf "$work"' EXIT

stop() { echo "Bail out! $*"; exit 1; }
ip link set lo up
topology_init
net=$(net xgft 2,2 1,2)
# A description that would be markup.
sed -i 's|# "h-0-0"|# "<b title=x>h-0-0</b>"|' "$net"
{ pibctl fabric load "$net" && fabric_sm && wait_for 60 all_active; } >"$work/out" 2>&1 || stop "no fabric: $(cat "$work/out")"
pibctl fabric serve --port 0 >"$work/said" 2>&1 &
server=$!
wait_for 30 grep -q "shows the fabric" "$work/said" || stop "no server: $(cat "$work/said")"
url=$(sed -n 's|^\(http://.*/\) .*|\1|p' "$work/said")
python3 "$here/serve_browser.py" "$url" /tmp/serve-browser.png

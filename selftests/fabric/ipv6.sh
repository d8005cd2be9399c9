#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# subnet.sh over IPv6 alone: no IPv4 address on either host.
exec env PIB_V6ONLY=1 "$(dirname "$0")/subnet.sh"

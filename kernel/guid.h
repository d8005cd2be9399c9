/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Node GUIDs: 48 bits of a MAC address in their modified EUI-64 form, 8 bits
 * that tell the nodes on one netdev apart, and 8 bits of zero which a port
 * GUID fills with the port number. So they are the same after a reboot if the
 * nodes are made in the same order.
 */
#ifndef PIB_GUID_H
#define PIB_GUID_H

#include <linux/types.h>

/* A GUID that no other node in this kernel has, or 0 if there are no more. Process context. */
u64 pib_guid_get(u64 mac, bool is_switch);
/* Take this very GUID. False: it is taken. */
bool pib_guid_claim(u64 guid);
void pib_guid_put(u64 guid);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Node and port GUIDs. A GUID that is chosen here is made of 48 bits of a MAC
 * address in their modified EUI-64 form, 8 bits that tell the nodes on one netdev
 * apart, and 8 bits of zero which a port GUID fills with the port number. So GUIDs
 * are the same after a reboot if the nodes are made in the same order. A GUID that is
 * asked for may be any number that no other node or port in this kernel has.
 */
#ifndef PIB_CORE_GUID_H
#define PIB_CORE_GUID_H

#include <linux/types.h>

/**
 * pib_guid_get() - take a GUID that no other node in this kernel has, and the 255 after it
 * @mac: address of the node's netdev, 48 bits
 * @is_switch: switches get the last blocks of an address, HCAs the first ones
 *
 * Context: process; may sleep.
 * Return: the first of them; 0: there are no more, or no memory.
 */
u64 pib_guid_get(u64 mac, bool is_switch);
/*
 * As pib_guid_get(), for a node that sits on no netdev. Context: process; may sleep.
 * Return: likewise.
 */
u64 pib_guid_get_random(void);
/*
 * Take @guid itself. Context: process; may sleep.
 *
 * Return: 0; -EEXIST: another node or port has it; -ENOMEM.
 */
int pib_guid_claim(u64 guid);
/*
 * Give back the block that begins with @guid, or the claimed @guid; without effect if none was.
 * Context: process; may sleep.
 */
void pib_guid_put(u64 guid);

#endif

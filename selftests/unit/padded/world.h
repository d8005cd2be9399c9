/* SPDX-License-Identifier: GPL-2.0 */
/* The surroundings of kernel/udp/pmtu.c: a link, its route, and what is sent. */
#ifndef PADDED_WORLD_H
#define PADDED_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct padded_world - what a probe finds, and what has become of it
 * @v6: the peer has an address of IPv6; else of IPv4
 * @no_path: there is no session
 * @moved: the peer has another address than the probe is for
 * @no_route: the network stack refuses
 * @no_memory: there is none for an skb
 * @mtu: of the route, bytes
 * @sent: bytes of the datagram that was sent, 0: none was
 * @errors: what was counted as tx_errors
 * @traced: what was traced as that
 * @refs: references on the route that are left
 */
struct padded_world {
	bool v6;
	bool no_path;
	bool moved;
	bool no_route;
	bool no_memory;
	uint32_t mtu;
	uint32_t sent;
	uint64_t errors;
	uint64_t traced;
	int refs;
};

/* Send a probe of @size bytes, of an IP packet. Return: as pib_udp_link_send_padded(). */
bool padded_send_probe(struct padded_world *w, uint32_t size);

#ifdef __cplusplus
}
#endif

#endif

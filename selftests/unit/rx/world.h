/* SPDX-License-Identifier: GPL-2.0 */
/* The surroundings of the receive path: links with sessions, skbs that come, and what goes up. */
#ifndef RX_WORLD_H
#define RX_WORLD_H

#ifdef __cplusplus
extern "C" {
#endif

#include "../../../kernel/proto/hdrs.h"
#include "../../../kernel/proto/seal.h"
#include "../../../kernel/uapi/linux/pib.h"

struct sk_buff;

enum rx_checksum {
	RX_CHECKSUM_GOOD,
	RX_CHECKSUM_NONE,
	RX_CHECKSUM_BAD,
};

/**
 * struct rx_wire - what a netdev says of an skb
 * @gso_size: bytes of each datagram but the last; 0: the skb is one datagram
 * @gso_type: the kind of GSO
 * @tos: TOS or Traffic Class
 * @checksum: enum rx_checksum
 */
struct rx_wire {
	uint16_t gso_size;
	uint32_t gso_type;
	uint8_t tos;
	uint8_t checksum;
};

#define RX_GSO_UDP (1 << 17)
#define RX_GSO_OTHER 1

/* ---- skbs (skb.c) ---- */

struct sk_buff *rx_skb(const uint8_t *bytes, uint32_t len);
/* Add a fragment that begins at @off of its page. Return: false: there are too many. */
bool rx_skb_frag(struct sk_buff *skb, const uint8_t *bytes, uint32_t off, uint32_t len);
/* Add @more to the list of @skb. */
void rx_skb_list(struct sk_buff *skb, struct sk_buff *more);
void rx_skb_wire(struct sk_buff *skb, const struct rx_wire *w);
/* Have the @n-th allocation from now on fail; 0: none. */
void rx_fail(uint32_t n);
/* Return: skbs and pages that are not freed. */
int rx_live(void);
void chacha20poly1305_encrypt(uint8_t *dst, const uint8_t *src, size_t len, const uint8_t *ad,
			      size_t ad_len, uint64_t nonce, const uint8_t *key);

/* ---- the world (world.c) ---- */

/* Both ends of link 1 do not want VLs to have windows. */
#define RX_HAS_WINDOWS(link) ((link) != 1)
#define RX_NUM_LINKS 2

/**
 * struct rx_link - one of the links of the world
 * @id: link id in link headers
 * @nonce: own session
 * @peer_nonce: the peer's session
 * @noicrc: the peer may leave the ICRC out
 * @keyed: data is sealed
 * @v6: the peer has an address of IPv6; else of IPv4
 */
struct rx_link {
	uint32_t id;
	uint64_t nonce;
	uint64_t peer_nonce;
	bool noicrc;
	bool keyed;
	bool v6;
};

/* Make a world. @pages: as many pages as frames of other links hold. */
void rx_begin(const struct rx_link links[RX_NUM_LINKS], uint32_t pages);
/* Change the session of a link. */
void rx_session(uint32_t link, uint64_t nonce);
/* Lose a session that the port has not heard of, or have it hear of that. */
void rx_settled(uint32_t link, bool settled);
/* Let @ms pass. @timers: and have timers run that are due. */
void rx_time(uint32_t ms, bool timers);
/* Have @skb come, which is consumed. @host: last byte of the sender's address. */
void rx_come(struct sk_buff *skb, bool v6, uint8_t host, uint8_t hop_limit);
/* Return: the work that was told to who bounds it, by pib_tasks_copied(), so far. */
uint32_t rx_copies(void);
/* Take the world apart. Memory that is left then is a finding. */
void rx_end(void);

/* Return: a counter of the sockets, by enum pib_us_attr. */
uint64_t rx_count(uint32_t counter);
/* Return: what the tag of the link's data is. */
uint16_t rx_tag(uint32_t link);
/* The key of the data to session @to from session @from. */
void rx_session_key(uint64_t to, uint64_t from, uint8_t key[PIB_SEAL_KEY_LEN]);

/* ---- called by the world ---- */

/* A packet comes up at the port of a link. */
void rx_packet(uint32_t link, const struct pib_hdrs *h, const uint8_t *payload, uint32_t len);
/* A control datagram of @len bytes comes up, with the first @head of them. */
void rx_control(const uint8_t *bytes, uint32_t head, uint32_t len, uint8_t host, uint8_t hop_limit);
/* A datagram CREDIT comes up, as a control datagram does. */
void rx_credit(const uint8_t *bytes, uint32_t head, uint32_t len, uint8_t host);
/* @packets of @bytes, LRH to ICRC, of a VL of a link are taken in. */
void rx_taken(uint32_t link, uint8_t vl, uint32_t bytes, uint32_t packets);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How large datagrams may be that reach the peer of a link over UDP (RFC 8899): padded probes show
 * whether those of the size in use come through. Sizes are bytes of IP packets.
 */
#ifndef PIB_PROTO_PMTU_H
#define PIB_PROTO_PMTU_H

#include "env.h"

#define PIB_PMTU_LEAST		576u	/* an IPv4 path that carries less is left to IP */
#define PIB_PMTU_LEAST_IPV6	1280u	/* each IPv6 path carries that (RFC 8200) */
#define PIB_PMTU_HEADERS	224	/* a datagram is at most so much larger than the IB MTU */
#define PIB_PMTU_MOST		(4096 + PIB_PMTU_HEADERS)
#define PIB_PMTU_OPEN		0xFFFF	/* no limit but the route's MTU */
#define PIB_PMTU_PROBES		3	/* lost in a row: the size does not come through */
#define PIB_PMTU_HURRY_MS	100	/* between datagrams, while probes are due */
#define PIB_PMTU_CONFIRM_MS	5000	/* between probes of a size that comes through */
#define PIB_PMTU_RAISE_MS	1000	/* to the first probe of a larger size, doubled each time */
#define PIB_PMTU_RAISE_MAX_MS	30000	/* up to this */

/**
 * struct pib_pmtu_bounds - what is known of the sizes to one peer without probes, bytes
 * @mtu: the route's MTU; 0: not known
 * @least: the path carries that much
 * @most: no datagram is larger
 */
struct pib_pmtu_bounds {
	u32 mtu;
	u32 least;
	u32 most;
};

/**
 * struct pib_pmtu - what is known of the size of datagrams to one peer
 * @limit: largest size that is used, whatever the route's MTU; PIB_PMTU_OPEN: there is none
 * @bounds: as last told
 * @probed: size of the probe that is under way, 0: none
 * @sent_at: when it was sent, ns
 * @followed: a control datagram was sent PIB_PMTU_HURRY_MS behind it
 * @seq: the number of that datagram
 * @number: of the last probe; 0 is none's
 * @raises: the probe that is under way is larger than the size in use
 * @hurries: more is to be found out, so the next probe is due at once
 * @lost: probes of the size in use that were lost in a row
 * @falls: times that datagrams became smaller in this session
 * @raise_ms: time until a larger size is probed if the next such probe is lost
 * @confirm_at: when the size in use is probed, ns
 * @raise_at: when a larger size is probed, ns
 */
struct pib_pmtu {
	u32 limit;
	struct pib_pmtu_bounds bounds;
	u32 probed;
	u64 sent_at;
	bool followed;
	u32 seq;
	u16 number;
	bool raises;
	bool hurries;
	u8 lost;
	u32 falls;
	u32 raise_ms;
	u64 confirm_at;
	u64 raise_at;
};

/* Begin with the route's MTU. The numbers of probes go on. Context: under the lock of the link. */
void pib_pmtu_init(struct pib_pmtu *p);

/*
 * Return: the largest size in use; 0: the route's MTU was not told yet. Context: under the lock of
 * the link.
 */
u32 pib_pmtu_size(const struct pib_pmtu *p);

/* Note what is known without probes. Context: under the lock of the link. */
void pib_pmtu_bound(struct pib_pmtu *p, const struct pib_pmtu_bounds *bounds);

/**
 * pib_pmtu_next() - find the size of the probe that is to be sent now
 * @p: state
 * @seq: number of the control datagram that is sent now, right behind the probe if there is one
 * @now: ns
 *
 * A probe that is under way is awaited: another one is sent only when its fate is known. The probe
 * has the number @p->number.
 *
 * Context: under the lock of the link.
 * Return: bytes of the IP packet; 0: none is due.
 */
u32 pib_pmtu_next(struct pib_pmtu *p, u32 seq, u64 now);

/**
 * pib_pmtu_heard() - learn from the peer what became of the probe that is under way
 * @p: state
 * @came: number of the last probe that the peer has got, 0: none
 * @ack: number of the last control datagram that it has got
 * @now: ns
 *
 * A probe is lost if the peer has got what was sent PIB_PMTU_HURRY_MS behind it: what was sent with
 * it may have overtaken it. As long as neither has come, nobody knows more of large datagrams than
 * of small ones.
 *
 * Context: under the lock of the link.
 * Return: true if datagrams are smaller from now on.
 */
bool pib_pmtu_heard(struct pib_pmtu *p, u16 came, u32 ack, u64 now);

/* The probe @number was not sent after all. Context: under the lock of the link. */
void pib_pmtu_forget(struct pib_pmtu *p, u16 number);

/*
 * Return: true if a probe is under way or due soon, so that the peer is to be asked at short
 * intervals. Context: under the lock of the link.
 */
bool pib_pmtu_hurries(const struct pib_pmtu *p);

#endif

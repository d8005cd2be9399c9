/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Answers of which no state is kept: docs/wire-format.md, "Cookies".
 *
 * A hello from an unknown sender is answered as a link would answer, but nothing is kept. The
 * session and the link id of the answer are a cookie: a hash, with a secret, of the addressee and
 * of the time. A datagram that echoes both shows that its sender hears what is sent to its address.
 * Only then is a link made. It goes on in the session and with the id of the answer, so that the
 * sender does not notice, and no datagram more is needed than if it had been made before.
 *
 * A cookie is good once. While the link that it has made is there, the link's session tells new
 * datagrams from old ones. Before the link goes, env draws a new secret if the cookie would still
 * be good.
 */
#ifndef PIB_PROTO_COOKIE_H
#define PIB_PROTO_COOKIE_H

#include "hello.h"

/* A cookie is good for so many ns at least, and for less than twice of that. */
#define PIB_COOKIE_NS		(1ULL << 31)
/*
 * Answers share PIB_COOKIE_REPLIES allowances, each of one answer in PIB_REPLY_MS. They suffice for
 * all hosts that fit into a host switch, by both of their addresses, when all say hello at once. A
 * recorded hello reaches PIB_COOKIE_HOSTS of them, from wherever it is sent.
 */
#define PIB_COOKIE_SESSIONS	32
#define PIB_COOKIE_HOSTS	4
#define PIB_COOKIE_REPLIES	(PIB_COOKIE_SESSIONS * PIB_COOKIE_HOSTS)

/**
 * struct pib_cookies - the state from which a host makes its cookies
 * @secret: random; env draws another one before a link goes that a cookie has made
 * @next_reply: ns; time from which an answer may be given, by shares that change all the time
 * @next_refusal: as @next_reply, for refusals and for answers to probes, which carry no cookie
 */
struct pib_cookies {
	u64 secret[2];
	u64 next_reply[PIB_COOKIE_REPLIES];
	u64 next_refusal[PIB_COOKIE_REPLIES];
};

/**
 * struct pib_cookie_addr - an address to which answers are sent
 * @host: IPv6, or IPv4 as ::ffff:a.b.c.d
 * @udp_port: host order
 */
struct pib_cookie_addr {
	u8 host[16];
	u16 udp_port;
};

/* Fill in @a with a host's IPv4 address, and a UDP port in host order. Context: any. */
void pib_cookie_addr_v4(struct pib_cookie_addr *a, const u8 host[4], u16 udp_port);

/*
 * Take an allowance for an answer to the hello @h from @from, at @now in ns. Each of
 * PIB_COOKIE_REPLIES groups has one answer in PIB_REPLY_MS. The groups of sessions and hosts change
 * every 67 ms, so that nobody's answers are used up for long by others.
 *
 * Context: under the lock of what holds @c.
 * Return: true if the hello may be answered.
 */
bool pib_cookie_may_reply(struct pib_cookies *c, const struct pib_cookie_addr *from,
			  const struct pib_hello *h, u64 now);
/*
 * As pib_cookie_may_reply(), for a refusal or an answer to a probe: a stranger who is refused again
 * and again uses up nobody's cookies, and few of the refusals of others.
 */
bool pib_cookie_may_refuse(struct pib_cookies *c, const struct pib_cookie_addr *from,
			   const struct pib_hello *h, u64 now);

/**
 * pib_cookie_reply() - answer a hello without keeping anything
 * @c: cookies of the host
 * @from: sender of the hello
 * @to: the hello, which is authentic by the key numbered @to->key
 * @now: ns
 * @answer: result. Env has filled in its part, and authenticates the answer by the same key
 *
 * The answer says that the port is down, for there is none yet.
 *
 * Context: under the lock of what holds @c.
 * Return: the answer's type, enum pib_dg_type.
 */
u8 pib_cookie_reply(const struct pib_cookies *c, const struct pib_cookie_addr *from,
		    const struct pib_hello *to, u64 now, struct pib_hello *answer);

/**
 * pib_cookie_is_back() - check whether a datagram echoes an answer of the last seconds
 * @c: cookies of the host
 * @from: sender of the datagram
 * @h: the datagram
 * @link_id: link id to which it was sent
 * @key: number of a key by which env might have answered. @h may be authentic by the peer's other
 *	key
 * @now: ns
 *
 * Context: under the lock of what holds @c.
 * Return: true if it does.
 */
bool pib_cookie_is_back(const struct pib_cookies *c, const struct pib_cookie_addr *from,
			const struct pib_hello *h, u32 link_id, u32 key, u64 now);

/*
 * Find the session that a question to @to names. @to is perhaps another address of the peer in the
 * sessions @own and @peer. The answer echoes it, which shows that its sender hears what is sent to
 * @to. Another address, other sessions and another time make another one.
 *
 * Context: under the lock of what holds @c.
 * Return: the session, not 0.
 */
u64 pib_cookie_question(const struct pib_cookies *c, const struct pib_cookie_addr *to, u64 own,
			u64 peer, u64 now);

/*
 * Return: true if @echoed is the session that a question to @from has named in the last seconds.
 * Context: under the lock of what holds @c.
 */
bool pib_cookie_is_answer(const struct pib_cookies *c, const struct pib_cookie_addr *from, u64 own,
			  u64 peer, u64 echoed, u64 now);

/*
 * Return: true if the cookie by which a link was made at @made, in ns, is not good any more. While
 * it is good, a new secret is drawn before the link goes. Context: any.
 */
static inline bool pib_cookie_is_over(u64 made, u64 now)
{
	return now >= made + 2 * PIB_COOKIE_NS;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Sessions of links over UDP. */
#ifndef PIB_UDP_SESSION_H
#define PIB_UDP_SESSION_H

#include <linux/types.h>

struct pib_addr;
struct pib_hello;
struct pib_keyring;
struct pib_udp_link;
struct timer_list;

/**
 * struct pib_udp_session - the session in which a peer was answered before it had a link
 * @id: link id in the answer
 * @nonce: session
 */
struct pib_udp_session {
	u32 id;
	u64 nonce;
};

/*
 * Begin the session of a new link, which has link id @id, or continue @said if that is not NULL.
 * From now on the link is alive. Context: process; pn->lock held.
 */
void pib_udp_link_begin_session(struct pib_udp_link *link, u32 id,
				const struct pib_udp_session *said);
/*
 * Say goodbye, if the session is up, and have the link be dead from now on: it takes nothing in and
 * sends nothing. Context: process; pn->lock held.
 */
void pib_udp_link_end_session(struct pib_udp_link *link);
/*
 * Say goodbye, if the session is up: this end is about to hear nothing any more. The link lives on,
 * and pib_udp_link_restart() follows. Context: softirqs off, RCU; no link's lock held.
 */
void pib_udp_link_bye(struct pib_udp_link *link);
/* Function of link->timer: do what the session has due. Context: softirq. */
void pib_udp_link_timer(struct timer_list *t);

/**
 * pib_udp_link_control() - take in a control datagram for a link
 * @link: link
 * @from: sender
 * @may_move: a link that is not up may follow its peer to @from, for the datagram echoes an answer
 *	to there, and pib_hello_follows()
 * @h: the datagram, which is authentic
 * @type: enum pib_dg_type
 *
 * A datagram that is not the peer's is counted as rx_wrong_addr, one that does not fit the session
 * as rx_bad_hello.
 *
 * Context: softirqs off, RCU; no link's lock held.
 */
void pib_udp_link_control(struct pib_udp_link *link, const struct pib_addr *from, bool may_move,
			  const struct pib_hello *h, u8 type);
/*
 * Take in a control datagram for this link that is not authentic. If it answers this link's hello,
 * note for the user that the keys differ. Nothing else follows from it. Context: any but
 * interrupts; no link's lock held.
 */
void pib_udp_link_other_key(struct pib_udp_link *link, const struct pib_addr *from,
			    const struct pib_hello *h);
/*
 * Return: true if @h comes from the node (trunk) or port (accepted) that has the link, or if the
 * user named the peer's address, which is not looked at here. Context: any.
 */
bool pib_udp_link_is_peer(const struct pib_udp_link *link, const struct pib_hello *h);
/*
 * Return: the reason for which the peer refuses the link; NULL: it does not refuse it, or not any
 * more. Context: link->lock held.
 */
const char *pib_udp_link_refusal(const struct pib_udp_link *link);
/*
 * Start a new session: the peer sees a cable pulled and, unless @down, put back. Context: softirqs
 * off, RCU; no link's lock held.
 */
void pib_udp_link_plug(struct pib_udp_link *link, bool down);
/*
 * Start a new session, with this end's port as it is. Context: softirqs off, RCU; no link's lock
 * held.
 */
void pib_udp_link_restart(struct pib_udp_link *link);
/*
 * Take the fabric's new keys into use. A session whose own key is not the first one any more, or
 * whose peer's key is none of them, is replaced by a new session. Context: RCU, softirqs off;
 * pn->lock held, no link's lock.
 */
void pib_udp_link_rekey(struct pib_udp_link *link, const struct pib_keyring *keys);
/*
 * Note that a discovery hello of the peer came from @from. A trunk that is not up answers there.
 * Context: softirqs off, RCU; no link's lock held.
 *
 * Return: false: the trunk is not up, and knows no such address. It learns the address if the
 *	sender echoes an answer to there.
 */
bool pib_udp_link_heard(struct pib_udp_link *link, const struct pib_addr *from);
/*
 * Return: true if the link is not up, and @from is none of its peer's addresses. Context: softirqs
 * off; no link's lock held.
 */
bool pib_udp_link_is_away(struct pib_udp_link *link, const struct pib_addr *from);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Windows of the VLs of links over UDP: what may be on its way to the peer (proto/credit.h). */
#ifndef PIB_UDP_CREDIT_H
#define PIB_UDP_CREDIT_H

#include <linux/types.h>
#include "proto/credit.h"

struct pib_addr;
struct pib_udp_link;
struct pib_udp_path;
struct pib_udp_sock;

/* Set up what windows need. Context: nobody knows @link yet. */
void pib_udp_credits_setup(struct pib_udp_link *link);
/*
 * Have nothing wait any more: @link is no port's. It may be freed a grace period later. Context:
 * process.
 */
void pib_udp_credits_close(struct pib_udp_link *link);
/*
 * Have the counts begin at 0, if the session of the link is another one than before. Context:
 * link->lock held, softirqs off.
 */
void pib_udp_credits_begin(struct pib_udp_link *link);

/*
 * Check whether data of @vl has to wait for what the peer says. If it does, the caller tries again:
 * then the peer is asked, if that is due. @soon: it does not wait for long, since its sender has
 * others to send to (pib_credits_stuck()). Context: softirqs off, RCU.
 *
 * Return: true if it has to wait.
 */
bool pib_udp_credits_closed(struct pib_udp_link *link, const struct pib_udp_path *path, u8 vl,
			    bool soon);
/*
 * Return: true if @vl has little on its way, while other VLs of the link are in use. Context:
 * softirqs off, RCU.
 */
bool pib_udp_credits_spare(struct pib_udp_link *link, const struct pib_udp_path *path, u8 vl);
/*
 * Return: true if so much of @vl is on its way that what cannot wait is dropped; @beside: of what
 * waits for no window; @soon: or if the VL has been closed for so long that this does not wait for
 * it. The peer is asked, if that is due. Context: softirqs off, RCU.
 */
bool pib_udp_credits_overdrawn(struct pib_udp_link *link, const struct pib_udp_path *path, u8 vl,
			       bool beside, bool soon);
/*
 * Get how the VLs stand into @view. Context: any.
 *
 * Return: bit per VL of which there is something to see.
 */
u32 pib_udp_credits_view(struct pib_udp_link *link, struct pib_credit_view view[PIB_CREDIT_VLS]);
/*
 * Note that @bytes, see pib_credit_bytes(), are sent on @vl with @tos, before they are. @beside:
 * they have waited for no window. Context: softirqs off, RCU.
 */
void pib_udp_credits_sent(struct pib_udp_link *link, const struct pib_udp_path *path, u8 vl,
			  u32 bytes, bool beside, u8 tos);
/*
 * Note that @packets of @bytes, LRH to ICRC, have come on @vl and have been passed on or dropped,
 * and tell the peer if it is time. Context: softirqs off, RCU; the path has windows.
 */
void pib_udp_credits_take(struct pib_udp_link *link, const struct pib_udp_path *path, u8 vl,
			  u32 bytes, u32 packets);
/*
 * Take in a datagram CREDIT of @len bytes, of which @buf has the first ones, up to
 * PIB_CREDIT_WIRE_LEN. If a VL opens, who waits for it is run by pib_tasks_run(), which the caller
 * calls later. Context: softirqs off, RCU.
 */
void pib_udp_credits_rx(struct pib_udp_sock *sock, const struct pib_addr *from, const u8 *buf,
			u32 len);
/*
 * Tell the peer what it was not told yet, and ask it if something waits, which the link does with
 * each keepalive.
 *
 * Context: softirqs off, RCU; link->lock not held.
 */
void pib_udp_credits_keep(struct pib_udp_link *link);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Notices to the SM (IBA 13.4.8, 14.2.5.1), and the thresholds that raise them. */
#ifndef PIB_PROTO_TRAP_H
#define PIB_PROTO_TRAP_H

#include "node.h"

/**
 * pib_trap_raise() - queue a trap (13.4.8, 14.2.5.1)
 * @n: node
 * @num: number of the trap
 * @port: port that it is about; 0: the node
 * @data: DataDetails, wire order
 * @now: ns
 *
 * A notice that waits already begins again. One that was sent lately waits for the rest of
 * SubnetTimeOut (C13-18). Security notices, from 256 on, share a limit.
 *
 * Context: under the node's lock. PIB_EV_TRAP tells env to call pib_trap_next().
 * Return: false: the trap is dropped. The port that would send it is down, has no LID or knows no
 *	SM yet, which a sweep will find out, or there are too many security notices.
 */
bool pib_trap_raise(struct pib_node *n, u16 num, u8 port, const u8 data[PIB_NOTICE_DETAILS],
		    u64 now);

/*
 * Note a packet that has come by @p's cable; @bad: lost, or with physical errors.
 *
 * Context: any; without the node's lock; one caller at a time for each port, but for a pipe that is
 * being replaced.
 * Return: true: bad packets have outnumbered good ones by more than PortInfo.LocalPhyErrors, which
 *	is a local link integrity error (7.12.2). Env counts that and calls pib_trap_threshold().
 */
bool pib_port_integrity(struct pib_port *p, bool bad);

/*
 * Note that a packet found no room at @p at @now, in ns. Context: under the node's lock.
 *
 * Return: true: that was so in PortInfo.OverrunErrors flow control update periods on end, which is
 *	an excessive buffer overrun (7.12.2). Env does as of pib_port_integrity().
 */
bool pib_port_overrun(struct pib_port *p, u64 now);
/*
 * Context: any; without the node's lock.
 * Return: true if the period at @now has been noted: pib_port_overrun() need not be called.
 */
bool pib_port_overrun_noted(const struct pib_port *p, u64 now);

/*
 * Raise the trap of a threshold that @p has crossed (7.12.2). 129: link integrity, 130: buffer
 * overrun, 131: flow control watchdog. Context: under the node's lock.
 */
void pib_trap_threshold(struct pib_port *p, u16 num, u64 now);

/*
 * Count the violations by @n packets that came in by @p for a QP of its HCA with a bad P_Key (257)
 * or Q_Key (258), and raise the trap, once. Context: under the node's lock.
 */
void pib_trap_bad_key(struct pib_port *p, u16 num, u32 n, const struct pib_hdrs *h, u64 now);

/*
 * Count the violations by @n packets of @h that a switch dropped for PIB_ROUTE_DROP_PKEY_IN or _OUT
 * at @p, and raise trap 259, once. Context: under the node's lock.
 */
void pib_trap_switch_pkey(struct pib_port *p, u32 n, const struct pib_hdrs *h, u64 now);

/**
 * pib_trap_next() - get the next trap MAD that is due
 * @n: node
 * @now: ns
 * @mad: result: a LID-routed SMP Trap(Notice), PIB_MAD_SIZE bytes
 * @from: result: the port to send from; the SM's LID and SL are its sm_lid and sm_sl
 *
 * Env calls this until it returns false, and again at pib_node_deadline().
 *
 * Context: under the node's lock.
 * Return: false: none is due.
 */
bool pib_trap_next(struct pib_node *n, u64 now, u8 *mad, struct pib_port **from);

/*
 * Return: the earliest time at which env calls pib_trap_next() and pib_node_timer(), ns; 0: none.
 * Context: under the node's lock.
 */
u64 pib_node_deadline(const struct pib_node *n);

/* Raise trap 256: @smp came by @p with a bad M_Key. Context: under the node's lock. */
void pib_trap_bad_mkey(struct pib_port *p, const u8 *smp, u64 now);

/* Stop repeating the trap that TrapRepress has named by @tid. Context: under the node's lock. */
void pib_trap_repress(struct pib_node *n, u64 tid);

/*
 * Write the Notice attribute of @t to @data, PIB_SMP_DATA_LEN bytes (13.4.8.2). Context: under the
 * node's lock.
 */
void pib_trap_notice(const struct pib_node *n, const struct pib_trap *t, u8 *data);

#endif

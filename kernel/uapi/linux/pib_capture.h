/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/*
 * pib: captured packets.
 *
 * PIB_CMD_CAPTURE_NEW answers with a file descriptor. read(2) returns whole records, as many as
 * there is room for: a struct pib_capture_packet and the first bytes of a packet, from the LRH on.
 * It waits for the first record unless O_NONBLOCK is set, and returns 0 when no more will come.
 * After poll(2) there may still be nothing to read, so use O_NONBLOCK with poll(2). A read with
 * less room than PIB_CAPTURE_READ_MIN fails with EINVAL.
 */
#ifndef _UAPI_LINUX_PIB_CAPTURE_H
#define _UAPI_LINUX_PIB_CAPTURE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PIB_CAPTURE_READ_MIN	8192
#define PIB_CAPTURE_MATCHES	16	/* most matches in a request */

/* Fields by which packets are chosen. */
enum pib_capture_field {
	PIB_CAPTURE_QP,		/* BTH destination QP, or DETH source QP */
	PIB_CAPTURE_LID,	/* LRH source or destination LID */
	PIB_CAPTURE_OPCODE,	/* BTH opcode */
	PIB_CAPTURE_CLASS,	/* management class of a MAD */
	PIB_CAPTURE_PKEY,	/* BTH P_Key */
	PIB_CAPTURE_VL,		/* LRH virtual lane */
	__PIB_CAPTURE_FIELDS
};

/* struct pib_capture_packet.flags */
#define PIB_CAPTURE_OUT		(1 << 0)	/* leaves by the port; else it comes in */
#define PIB_CAPTURE_FAILED	(1 << 1)	/* did not pass, is not in the port's counters */
#define PIB_CAPTURE_COPY	(1 << 2)	/* made by a cable or an injection here */
#define PIB_CAPTURE_JUDGED	(1 << 3)	/* again, since the QP to which it came drops it */

/* Fate of a packet at the port, or what a cable has done to it. */
enum pib_capture_reason {
	PIB_CAPTURE_PASSED,
	PIB_CAPTURE_INACTIVE,		/* the port is not active, or has no cable */
	PIB_CAPTURE_MTU,		/* the packet is larger than the MTU of the link */
	PIB_CAPTURE_NO_VL,		/* no VL for its SL at this port */
	PIB_CAPTURE_NO_ROUTE,		/* the switch has no port for its DLID */
	PIB_CAPTURE_LOOP,		/* it would leave by the port by which it came */
	PIB_CAPTURE_PKEY_IN,		/* the switch port's P_Keys do not let it in */
	PIB_CAPTURE_PKEY_OUT,		/* the switch port's P_Keys do not let it out */
	PIB_CAPTURE_HOPS,		/* it has passed too many switches */
	PIB_CAPTURE_FULL,		/* no room where it goes */
	PIB_CAPTURE_LOST,		/* lost in the cable, by its configured faults */
	PIB_CAPTURE_DAMAGED,		/* damaged in the cable, by its configured faults */
	PIB_CAPTURE_DUPLICATED,		/* the cable has made a second one of it */
	PIB_CAPTURE_REORDERED,		/* others have overtaken it in the cable */
	PIB_CAPTURE_HOQ,		/* head of a queue for too long (HOQLife) */
	PIB_CAPTURE_LIFE,		/* in the switch for too long (LifeTimeValue) */
	PIB_CAPTURE_BAD_PATH,		/* its LID or GID is not the port's */
	PIB_CAPTURE_NO_QP,		/* there is no such QP */
	PIB_CAPTURE_BAD_SERVICE,	/* the QP has another service, or another peer */
	PIB_CAPTURE_BAD_PKEY,		/* the QP has another P_Key */
	PIB_CAPTURE_INJECTED,		/* lost on purpose where the QP sends */
	PIB_CAPTURE_NO_COPY,		/* a multicast has too many copies, or there is no memory */
	PIB_CAPTURE_NO_MEMORY,		/* the kernel has no memory for it */
	PIB_CAPTURE_QP_STATE,		/* the QP takes nothing in */
	PIB_CAPTURE_BAD_QKEY,		/* the QP has another Q_Key */
	PIB_CAPTURE_BAD_LENGTH,		/* its length does not fit the receive or the message */
	PIB_CAPTURE_BAD_OPCODE,		/* the QP does not expect its opcode here */
	PIB_CAPTURE_BAD_RESPONSE,	/* a response to nothing that was asked for */
	PIB_CAPTURE_OLD_RESPONSE,	/* a response that has come before */
	PIB_CAPTURE_OLD_REQUEST,	/* a request that has come before */
	PIB_CAPTURE_NO_PAGE,		/* its memory has no page yet */
	PIB_CAPTURE_NO_RECEIVE,		/* no receive is posted */
	PIB_CAPTURE_OUT_OF_SEQUENCE,	/* one before it is missing */
	PIB_CAPTURE_REFUSED,		/* the QP has refused a request before it */
	PIB_CAPTURE_AGENT_BUSY,		/* the switch's agent spends no more time on such MADs */
	PIB_CAPTURE_NO_GROUP,		/* nobody at this port has joined its multicast group */
	__PIB_CAPTURE_REASONS
};

/**
 * struct pib_capture_packet - a packet that was captured
 * @time: ns, CLOCK_REALTIME
 * @size: bytes of the record, this header included; a multiple of 8
 * @port: number of the port
 * @len: bytes of the packet on the wire, LRH to ICRC
 * @captured: bytes that follow; the last four, the ICRC, never do
 * @flags: PIB_CAPTURE_*
 * @reason: enum pib_capture_reason
 * @reserved: 0
 */
struct pib_capture_packet {
	__aligned_u64 time;
	__u32 size;
	__u32 port;
	__u16 len;
	__u16 captured;
	__u8 flags;
	__u8 reason;
	__u16 reserved;
};

/**
 * struct pib_capture_stats - numbers of packets of a port
 * @port: in: number of the port
 * @reserved: 0
 * @captured: packets that were written for the reader
 * @lost: packets for which there was no room
 */
struct pib_capture_stats {
	__u32 port;
	__u32 reserved;
	__aligned_u64 captured;
	__aligned_u64 lost;
};

/* Stop capturing. Records captured before can still be read, and then reads return 0. */
#define PIB_CAPTURE_STOP	_IO(0xB1, 1)
/* ENOENT: the port is not one of this capture. */
#define PIB_CAPTURE_STATS	_IOWR(0xB1, 2, struct pib_capture_stats)

#endif

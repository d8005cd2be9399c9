/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Captures: copies of the packets that pass a port.
 *
 * A port has a tap for each capture that it belongs to. A burst's records are written to the ring
 * of a capture when the burst comes to the port. They count once the burst has landed: a burst that
 * is refused further on has not passed, and comes again.
 */
#ifndef PIB_FABRIC_CAPTURE_H
#define PIB_FABRIC_CAPTURE_H

#include <linux/jump_label.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include "uapi/linux/pib_capture.h"
#include "fabric/capture_ring.h"
#include "fabric/port.h"

struct pib_burst;
struct pib_capture;
struct pib_node_dev;

#define PIB_CAPTURE_DIR_IN	1
#define PIB_CAPTURE_DIR_OUT	2
#define PIB_CAPTURE_DIR_JUDGED	4

/**
 * struct pib_capture_match - a field of a packet and the value it must have
 * @field: enum pib_capture_field
 * @value: the value, @mask applied
 * @mask: bits that count
 */
struct pib_capture_match {
	u8 field;
	u32 value;
	u32 mask;
};

/**
 * struct pib_capture_cfg - configuration of a capture
 * @directions: PIB_CAPTURE_DIR_*
 * @snap_len: greatest number of bytes kept of a packet
 * @buffer: bytes of the ring
 * @num_matches: entries in @match
 * @match: conditions, all of which a captured packet fulfils
 */
struct pib_capture_cfg {
	u8 directions;
	u32 snap_len;
	u32 buffer;
	u32 num_matches;
	struct pib_capture_match match[PIB_CAPTURE_MATCHES];
};

/**
 * struct pib_tap - a port that is captured
 * @entry: in the port's list; written under the mutex in capture.c, read under RCU
 * @cap: capture; never changes
 * @port: port; NULL when the tap is out of its list; under the mutex
 * @num: its number; never changes
 * @captured: packets written for the reader
 * @lost: packets for which there was no room
 */
struct pib_tap {
	struct hlist_node entry;
	struct pib_capture *cap;
	struct pib_kport *port;
	u32 num;
	atomic64_t captured;
	atomic64_t lost;
};

/**
 * struct pib_capture - a capture
 * @cfg: configuration; never changes
 * @ring: records for the reader
 * @wait: readers and pollers that wait for records
 * @read_lock: held by the one reader; no other lock is taken under it
 * @ended: nothing more will be written
 * @live: taps that are in a port's list; under the mutex in capture.c
 * @num_taps: entries in @tap; never changes
 * @tap: the ports
 */
struct pib_capture {
	struct pib_capture_cfg cfg;
	struct pib_capture_ring ring;
	wait_queue_head_t wait;
	struct mutex read_lock;
	bool ended;
	u32 live;
	u32 num_taps;
	struct pib_tap tap[];
};

/**
 * struct pib_mark - records of a burst that is still on its way
 * @next: next mark of the same burst, NULL: none
 * @tap: tap that wrote the records
 * @chunk: the records; NULL: there are none
 * @npkts: number of records
 * @lost: number of the burst's packets that matched and have no record
 */
struct pib_mark {
	struct pib_mark *next;
	struct pib_tap *tap;
	struct pib_capture_chunk *chunk;
	u32 npkts;
	u32 lost;
};

DECLARE_STATIC_KEY_FALSE(pib_capture_key);

/* Return: true if @port has a capture. Context: under RCU. */
static inline bool pib_captured(const struct pib_kport *port)
{
	return static_branch_unlikely(&pib_capture_key) && !hlist_empty(&port->taps);
}

/**
 * pib_capture_burst() - write records of a burst that comes to a port
 * @port: port
 * @b: burst
 * @flags: PIB_CAPTURE_OUT or 0
 * @reason: enum pib_capture_reason
 * @marks: list to which the burst's marks are added, for pib_marks_finish()
 *
 * Context: softirqs off, under RCU until pib_marks_finish().
 */
void pib_capture_burst(struct pib_kport *port, struct pib_burst *b, u8 flags, u8 reason,
		       struct pib_mark **marks);
/* As pib_capture_burst(), and the records count at once. Context: softirqs off, under RCU. */
void pib_capture_at_once(struct pib_kport *port, struct pib_burst *b, u8 flags, u8 reason);
/*
 * Write records of @packets packets of @b from index @first on, since a queue pair drops them.
 * @reason: enum pib_capture_reason. Context: as pib_capture_at_once().
 */
void pib_capture_judged(struct pib_kport *port, struct pib_burst *b, u32 first, u32 packets,
			u8 reason);
/* Count the records if the burst has @passed, else drop them. Context: as pib_capture_burst(). */
void pib_capture_finish(struct pib_mark **marks, bool passed);
/*
 * Write into the records made at @port, by which the burst came in, what became of the burst.
 * Context: as pib_capture_burst().
 */
void pib_capture_explain(struct pib_mark *marks, const struct pib_kport *port, u8 reason);

/* As pib_capture_finish(), and cheap if there are no marks. Context: as there. */
static inline void pib_marks_finish(struct pib_mark **marks, bool passed)
{
	if (unlikely(*marks))
		pib_capture_finish(marks, passed);
}

/* As pib_capture_explain(), and cheap if there are no marks or no @reason. Context: as there. */
static inline void pib_marks_explain(struct pib_mark *marks, const struct pib_kport *port,
				     u8 reason)
{
	if (unlikely(marks && reason))
		pib_capture_explain(marks, port, reason);
}

/* Capture that @b did not pass @port. Context: softirqs off, under RCU. */
static inline void pib_capture_failed(struct pib_kport *port, struct pib_burst *b, u8 flags,
				      u8 reason)
{
	if (pib_captured(port))
		pib_capture_at_once(port, b, flags | PIB_CAPTURE_FAILED, reason);
}

/*
 * Make a capture that has room for @num ports and captures at none yet.
 *
 * Context: process, no locks.
 * Return: the capture; ERR_PTR(-ENOMEM).
 */
struct pib_capture *pib_capture_create(const struct pib_capture_cfg *cfg, u32 num);
/*
 * Begin to capture at port @num of @nd, or at all its ports if @num is 0. The caller keeps @nd from
 * being stopped meanwhile. Context: process.
 */
void pib_capture_start(struct pib_capture *cap, struct pib_node_dev *nd, u32 num);
/* Stop capturing. Context: process; sleeps for a grace period. */
void pib_capture_stop(struct pib_capture *cap);
/* Stop and free a capture. Context: process, no locks; sleeps for a grace period. */
void pib_capture_destroy(struct pib_capture *cap);
/* End all captures at the ports of @nd. Context: process; may sleep for a grace period. */
void pib_captures_leave(struct pib_node_dev *nd);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Captures: who wants to see the packets that pass a port.
 *
 * A port has a tap for each capture that it belongs to. What a burst leaves in the ring of a
 * capture is written when the burst comes to the port, and counts when its way is a fact: a burst
 * that is refused further on has not passed, and comes again.
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

/**
 * struct pib_capture_match - a field of a packet that has a value
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
 * struct pib_capture_cfg - what is asked for
 * @directions: PIB_CAPTURE_DIR_*
 * @snap_len: bytes of a packet that are kept at most
 * @buffer: bytes of the ring
 * @num_matches: entries in @match
 * @match: all of them hold for a packet that is captured
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
 * @cfg: what was asked for; never changes
 * @ring: what is to be read
 * @wait: who reads
 * @read_lock: one reads at a time; taken before nothing else
 * @ended: nothing will be written any more
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
 * struct pib_mark - what a burst has left in a capture, for now
 * @next: of the same burst, NULL: none
 * @tap: where
 * @chunk: its packets; NULL: there was no room
 * @npkts: how many of its packets were chosen
 */
struct pib_mark {
	struct pib_mark *next;
	struct pib_tap *tap;
	struct pib_capture_chunk *chunk;
	u32 npkts;
};

DECLARE_STATIC_KEY_FALSE(pib_capture_key);

/* Does anybody want to see what passes @port? Under RCU. */
static inline bool pib_captured(const struct pib_kport *port)
{
	return static_branch_unlikely(&pib_capture_key) && !hlist_empty(&port->taps);
}

/*
 * @b comes to @port. @flags: PIB_CAPTURE_OUT or 0; @reason: enum pib_capture_reason. What it leaves
 * is put on @marks, for pib_marks_settle(). Softirqs off, under RCU until then.
 */
void pib_capture_burst(struct pib_kport *port, struct pib_burst *b, u8 flags, u8 reason,
		       struct pib_mark **marks);
/* The same, and it is a fact. */
void pib_capture_fact(struct pib_kport *port, struct pib_burst *b, u8 flags, u8 reason);
/* @passed: the way of the burst is a fact; else it is as if it had never come. */
void pib_capture_settle(struct pib_mark **marks, bool passed);
/* What became of the burst at the port by which it came in, where that is captured. */
void pib_capture_explain(struct pib_mark *marks, const struct pib_kport *port, u8 reason);

static inline void pib_marks_settle(struct pib_mark **marks, bool passed)
{
	if (unlikely(*marks))
		pib_capture_settle(marks, passed);
}

static inline void pib_marks_explain(struct pib_mark *marks, const struct pib_kport *port,
				     u8 reason)
{
	if (unlikely(marks && reason))
		pib_capture_explain(marks, port, reason);
}

/* @b did not pass @port. Softirqs off, under RCU. */
static inline void pib_capture_failed(struct pib_kport *port, struct pib_burst *b, u8 flags,
				      u8 reason)
{
	if (pib_captured(port))
		pib_capture_fact(port, b, flags | PIB_CAPTURE_FAILED, reason);
}

/* A capture of @num ports without ports. Process context, no locks. Return: ERR_PTR(-ENOMEM). */
struct pib_capture *pib_capture_create(const struct pib_capture_cfg *cfg, u32 num);
/*
 * Capture from now on what passes port @num of @nd, 0: all. @nd stays meanwhile, and is not
 * stopped yet. Process context.
 */
void pib_capture_start(struct pib_capture *cap, struct pib_node_dev *nd, u32 num);
/* Capture nothing any more. Process context; sleeps for a grace period. */
void pib_capture_stop(struct pib_capture *cap);
/* Stop and free. Process context, no locks. */
void pib_capture_destroy(struct pib_capture *cap);
/* @nd goes: nobody captures there any more. Process context; may sleep for a grace period. */
void pib_captures_leave(struct pib_node_dev *nd);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What a port drops is told to captures and tracepoints. Its counters are the caller's. */
#ifndef PIB_FABRIC_DROP_H
#define PIB_FABRIC_DROP_H

#include "fabric/capture.h"
#include "tracing/values.h"

/* All of these but the first: softirqs off, under RCU. */

/*
 * To tracepoints alone: @packets with headers @h were dropped at @port. @reason: enum pib_drop. Any
 * context.
 */
void pib_kport_trace_drop(const struct pib_kport *port, u8 reason, const struct pib_hdrs *h,
			  u32 packets);
/* @b did not pass @port. @flags: PIB_CAPTURE_OUT or 0; @reason: enum pib_capture_reason. */
void pib_kport_failed(struct pib_kport *port, struct pib_burst *b, u8 flags, u8 reason);
/* @b came in by @port, left @marks, and is dropped behind it. */
void pib_kport_dropped(const struct pib_kport *port, const struct pib_burst *b,
		       struct pib_mark *marks, u8 reason);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Reports of what a port drops, to captures and tracepoints. The caller counts. */
#ifndef PIB_FABRIC_DROP_H
#define PIB_FABRIC_DROP_H

#include "fabric/capture.h"
#include "tracing/values.h"

/*
 * Tell tracepoints, not captures, that @packets with headers @h were dropped at @port. @reason:
 * enum pib_drop. Context: any.
 */
void pib_kport_trace_drop(const struct pib_kport *port, u8 reason, const struct pib_hdrs *h,
			  u32 packets);
/*
 * Report that @b did not pass @port. @flags: PIB_CAPTURE_OUT or 0; @reason: enum
 * pib_capture_reason. Context: softirqs off, under RCU.
 */
void pib_kport_failed(struct pib_kport *port, struct pib_burst *b, u8 flags, u8 reason);
/*
 * Report that @b, which came in by @port and left @marks, is dropped behind that port. Context:
 * softirqs off, under RCU.
 */
void pib_kport_dropped(const struct pib_kport *port, const struct pib_burst *b,
		       struct pib_mark *marks, u8 reason);
/*
 * Report that the queue pair to which @b has come by @port drops @packets of its packets, from
 * index @first on. @reason: enum pib_drop. Of what has passed no port captures are told nothing.
 * Context: softirqs off.
 */
void pib_kport_judged(struct pib_kport *port, u8 reason, struct pib_burst *b, u32 first,
		      u32 packets);

#endif

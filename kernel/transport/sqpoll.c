// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Posting in a stream. A doorbell is the shortest way for one work request, since the
 * message has arrived when the call returns. Who posts one after the other without waiting
 * for the peer is better served by a CPU that has nothing else to do: it takes many at a
 * time, while the poster writes the next ones into the ring without a system call.
 */
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/sched/stat.h>
#include "core/task.h"
#include "transport/qp.h"
#include "transport/requester.h"
#include "transport/sqpoll.h"

/* So many doorbells in so short a time are a stream. */
#define STREAM_RUN	32
#define STREAM_MSEC	20

/* How long the ring is looked at for the next. */
#define LINGER_NSEC	(100 * PIB_NSEC_PER_USEC)

/* Who wants the CPU for so long is no passer-by, and has it until the next attempt. */
#define STREAM_CROWD_NSEC	(2 * PIB_NSEC_PER_MSEC)
#define STREAM_PAUSE_MSEC	20

bool pib_stream_next(struct pib_qp *qp)
{
	struct pib_stream *s = &qp->stream;
	u32 run = READ_ONCE(s->run);

	if (!run)
		WRITE_ONCE(s->since, jiffies);
	if (run < STREAM_RUN) {
		WRITE_ONCE(s->run, run + 1);
		return false;
	}
	WRITE_ONCE(s->run, 0);
	return num_online_cpus() > 1 && time_after_eq(jiffies, READ_ONCE(s->not_before)) &&
	       time_before(jiffies, READ_ONCE(s->since) + msecs_to_jiffies(STREAM_MSEC));
}

/* Is there anything that could be sent if it were posted? */
static bool could_send(const struct pib_qp *qp)
{
	return qp->sq.hdr && qp->state == IB_QPS_RTS && !qp->stalled && !pib_requester_waits(qp);
}

/* Has somebody else been waiting for this CPU? */
static bool is_wanted(struct pib_stream *s, u64 now)
{
	if (likely(single_task_running())) {
		s->crowd = 0;
		return false;
	}
	if (!s->crowd)
		s->crowd = now;
	return (s64)(now - s->crowd) > (s64)STREAM_CROWD_NSEC;
}

bool pib_stream_lingers(struct pib_qp *qp, const struct pib_budget *budget)
{
	struct pib_stream *s = &qp->stream;
	bool lingers;

	lockdep_assert_held(&qp->lock);

	if (likely(!budget->lingers) || !could_send(qp))
		return false;
	if (is_wanted(s, budget->now)) {
		s->crowd = 0;
		WRITE_ONCE(s->not_before, jiffies + msecs_to_jiffies(STREAM_PAUSE_MSEC));
		return false;
	}
	if (s->index != qp->sq.index) {
		s->index = qp->sq.index;
		s->until = budget->now + LINGER_NSEC;
	}
	lingers = budget->now < s->until;
	if (!lingers)
		s->crowd = 0;
	return lingers;
}

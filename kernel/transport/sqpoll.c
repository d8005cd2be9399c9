// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Polling of a send ring. A doorbell is the shortest way for one work request, since the
 * message has arrived when the call returns. A process that posts one after the other, without
 * waiting for its peer, is better served by a CPU that has nothing else to do: that CPU takes
 * many at a time, while the process writes the next ones into the ring without a system call.
 */
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/sched/stat.h>
#include "core/elapsed.h"
#include "core/task.h"
#include "transport/congestion.h"
#include "transport/qp.h"
#include "transport/requester.h"
#include "transport/sqpoll.h"

/* Time in which PIB_SQPOLL_RUN doorbells must come. */
#define SQPOLL_MSEC		20

/* Time for which the poller reads the ring without finding anything. */
#define SQPOLL_IDLE_NSEC	(100 * PIB_NSEC_PER_USEC)

/* Time that another task waits before the poller gives the CPU up, and length of its pause then. */
#define SQPOLL_CROWD_NSEC	(2 * PIB_NSEC_PER_MSEC)
#define SQPOLL_PAUSE_MSEC	20

bool pib_sqpoll_due(struct pib_sqpoll *s)
{
	WRITE_ONCE(s->run, 0);
	return num_online_cpus() > 1 && time_after_eq(jiffies, READ_ONCE(s->not_before)) &&
	       time_before(jiffies, READ_ONCE(s->since) + msecs_to_jiffies(SQPOLL_MSEC));
}

/* Return: true if a work request could be sent if it were posted. */
static bool could_send(const struct pib_qp *qp, u64 now)
{
	return qp->sq.ring.hdr && qp->state == IB_QPS_RTS && !qp->tx.stall.burst &&
	       !pib_requester_waits(qp) && !pib_congestion_holds(qp, now);
}

/* Return: true if another task has waited for this CPU for SQPOLL_CROWD_NSEC. */
static bool cpu_is_wanted(struct pib_sqpoll *s, u64 now)
{
	if (likely(single_task_running())) {
		s->crowd = 0;
		return false;
	}
	if (!s->crowd)
		s->crowd = now;
	return pib_elapsed(now, s->crowd, SQPOLL_CROWD_NSEC);
}

bool pib_sqpoll_again(struct pib_qp *qp, const struct pib_budget *budget)
{
	struct pib_sqpoll *s = &qp->sqpoll;
	bool polls;

	lockdep_assert_held(&qp->lock);

	if (likely(!budget->polls) || !could_send(qp, budget->now))
		return false;
	if (cpu_is_wanted(s, budget->now)) {
		s->crowd = 0;
		WRITE_ONCE(s->not_before, jiffies + msecs_to_jiffies(SQPOLL_PAUSE_MSEC));
		return false;
	}
	if (s->index != qp->sq.ring.index) {
		s->index = qp->sq.ring.index;
		s->until = budget->now + SQPOLL_IDLE_NSEC;
	}
	polls = budget->now < s->until;
	if (!polls)
		s->crowd = 0;
	return polls;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * A consumer in the kernel whose CQ goes while the call that tells of its last completion is on its
 * way: the CPU of its vector does not hear of it before ib_free_cq() has ended the polling, nor
 * does the CPU do what it then begins before the CQ is gone. ib_core must not poll the CQ any more.
 * On the device "dev", with two CPUs.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <rdma/ib_verbs.h>

#define AWAY	1	/* CPU, and vector, of the CQ */
#define TRIES	20
#define LATE_MS	50
#define MOST_MS	1000	/* nobody is kept away from everything for longer than that */

static char *dev = "pib0";
module_param(dev, charp, 0444);

enum late_step { LATE_BEGIN, LATE_AWAY, LATE_FREEING };

struct late {
	struct ib_device *ib;
	struct ib_pd *pd;
	struct ib_cq *cq;	/* polled by ib_core */
	struct ib_cq *told;	/* polled here */
	struct ib_qp *qp;
	struct ib_cqe cqe;
	enum late_step step;
	int had;		/* tries in which the completion came before the CQ went */
};

static void late_done(struct ib_cq *cq, struct ib_wc *wc)
{
}

static bool late_reaches(struct late *t, enum late_step step)
{
	int i;

	for (i = 0; i < MOST_MS * 10; i++) {
		if (READ_ONCE(t->step) >= step)
			return true;
		udelay(100);
	}
	return false;
}

/*
 * The CPU hears nothing until the CQ is being freed and a little longer, and does nothing else
 * until a little later.
 */
static int late_away(void *arg)
{
	struct late *t = arg;

	preempt_disable();
	local_irq_disable();
	WRITE_ONCE(t->step, LATE_AWAY);
	late_reaches(t, LATE_FREEING);
	mdelay(LATE_MS);
	local_irq_enable();
	mdelay(LATE_MS);
	preempt_enable();
	while (!kthread_should_stop())
		usleep_range(1000, 2000);
	return 0;
}

static int late_modify(struct late *t, enum ib_qp_state state, int mask)
{
	struct ib_qp_attr attr = { .qp_state = state, .port_num = 1 };

	return ib_modify_qp(t->qp, &attr, IB_QP_STATE | mask);
}

/*
 * The work requests of a QP in error are flushed: that to receive, and then one to send, of which
 * is told here.
 */
static int late_complete(struct late *t)
{
	struct ib_recv_wr recv = { .wr_cqe = &t->cqe };
	struct ib_rdma_wr send = { .wr = { .opcode = IB_WR_RDMA_WRITE } };
	struct ib_wc wc;
	int err, i;

	err = ib_post_recv(t->qp, &recv, NULL) ?: late_modify(t, IB_QPS_ERR, 0) ?:
	      ib_post_send(t->qp, &send.wr, NULL);
	for (i = 0; i < MOST_MS && !err && ib_poll_cq(t->told, 1, &wc) != 1; i++)
		usleep_range(500, 1000);
	/* A machine that stands still for so long has this try come to nothing. */
	t->had += i < MOST_MS && !err;
	return err;
}

static int late_qp(struct late *t)
{
	struct ib_qp_init_attr init = {
		.send_cq = t->told,
		.recv_cq = t->cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.qp_type = IB_QPT_RC,
	};
	struct task_struct *away;
	int err;

	t->qp = ib_create_qp(t->pd, &init);
	if (IS_ERR(t->qp))
		return PTR_ERR(t->qp);
	err = late_modify(t, IB_QPS_INIT, IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	away = err ? ERR_PTR(err) : kthread_create(late_away, t, "late");
	if (IS_ERR(away)) {
		ib_destroy_qp(t->qp);
		return PTR_ERR(away);
	}
	kthread_bind(away, AWAY);
	wake_up_process(away);
	if (late_reaches(t, LATE_AWAY))
		err = late_complete(t);
	ib_destroy_qp(t->qp);
	WRITE_ONCE(t->step, LATE_FREEING);
	ib_free_cq(t->cq);
	t->cq = NULL;
	kthread_stop(away);
	return err;
}

static int late_once(struct late *t)
{
	int err;

	t->step = LATE_BEGIN;
	t->cq = ib_alloc_cq(t->ib, NULL, 4, AWAY, IB_POLL_WORKQUEUE);
	if (IS_ERR(t->cq))
		return PTR_ERR(t->cq);
	err = late_qp(t);
	if (t->cq)
		ib_free_cq(t->cq);
	return err;
}

static int late_run(struct late *t)
{
	struct ib_cq_init_attr init = { .cqe = 4 };
	int err, i;

	t->pd = ib_alloc_pd(t->ib, 0);
	if (IS_ERR(t->pd))
		return PTR_ERR(t->pd);
	t->told = ib_create_cq(t->ib, NULL, NULL, NULL, &init);
	err = PTR_ERR_OR_ZERO(t->told);
	if (!err) {
		for (i = 0; i < TRIES && !err; i++)
			err = late_once(t);
		ib_destroy_cq(t->told);
		err = err ?: t->had ? 0 : -ETIMEDOUT;
	}
	ib_dealloc_pd(t->pd);
	return err;
}

static int __init late_init(void)
{
	struct late t = { .cqe.done = late_done };
	int err = -ENODEV;

	if (!cpu_online(AWAY) || set_cpus_allowed_ptr(current, cpumask_of(0)))
		return -ENXIO;
	t.ib = ib_device_get_by_name(dev, RDMA_DRIVER_UNKNOWN);
	if (t.ib) {
		err = late_run(&t);
		ib_device_put(t.ib);
	}
	pr_info("late: %d, %d tries of %d\n", err, t.had, TRIES);
	return err;
}

static void __exit late_exit(void)
{
}

module_init(late_init);
module_exit(late_exit);
MODULE_DESCRIPTION("A CQ that goes while its last call is on its way");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * injects DEVICE: a test program that makes things go wrong itself, by libpibinject. Says what did
 * not, and fails then. Compiled with the example of pib_inject(3), which is about pib0, as
 * inject-example.h.
 */
#include <err.h>
#include <errno.h>
#include <pib_inject.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "device.h"

static const char *device;

static void want(int so, const char *what)
{
	if (so)
		return;
	fprintf(stderr, "injects: %s: errno %d, %s\n", what, errno, pib_inject_error());
	exit(1);
}

static void registration_fails_once(struct ibv_pd *pd)
{
	static char buf[4096];
	int rule = pib_inject("%s verb reg_mr errno ENOMEM pid %d", device, getpid());
	struct ibv_mr *mr;

	want(rule > 0, "a rule");
	want(!pib_inject_done(device, rule), "it has not acted");
	want(!ibv_reg_mr(pd, buf, sizeof(buf), 0) && errno == ENOMEM, "ENOMEM");
	want(pib_inject_done(device, rule) == 1, "it has acted");
	mr = ibv_reg_mr(pd, buf, sizeof(buf), 0);
	want(!!mr, "once only");
	ibv_dereg_mr(mr);
	want(!pib_inject_del(device, rule), "it is taken away");
	want(pib_inject_del(device, rule) == -1 && errno == ENOENT, "once only");
	want(pib_inject_done(device, rule) == -1 && errno == ENOENT && *pib_inject_error(),
	     "it is gone");
	want(!pib_inject_del(device, 0) && !*pib_inject_error(), "all of none");
}

/* The example does not say which number its rule has: that of the next one. */
static void example(struct ibv_qp *qp)
{
	int rule = pib_inject("%s qp %u drop 1 after 1000", device, qp->qp_num);

	want(rule > 0, "a rule before it");
#include "inject-example.h"
	want(!pib_inject_done(device, rule + 1) && !pib_inject_del(device, rule + 1),
	     "the example has made a rule");
	want(!pib_inject_del(device, rule), "the rule before it");
}

static void queue_pair_fails(struct ibv_context *ctx, struct ibv_pd *pd)
{
	struct ibv_cq *cq = ibv_create_cq(ctx, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_async_event event;
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	want(qp && !ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
						     IBV_QP_ACCESS_FLAGS), "a queue pair");
	example(qp);
	want(!pib_inject("%s qp %u error", device, qp->qp_num), "it fails at once");
	do {
		want(!ibv_get_async_event(ctx, &event), "an event");
		ibv_ack_async_event(&event);
	} while (event.event_type != IBV_EVENT_QP_FATAL);
	ibv_destroy_qp(qp);
	ibv_destroy_cq(cq);
}

static void mistakes_are_told(void)
{
	want(pib_inject("%s", device) == -1 && errno == EINVAL && *pib_inject_error(),
	     "too few words");
	want(pib_inject("%s qp 17 drop 3 twice", device) == -1 && errno == EINVAL,
	     "a word that there is not");
	want(pib_inject("%s qp 16777214 drop 3", device) == -1 && errno == ENOENT,
	     "a queue pair that there is not");
	want(pib_inject("%s-none fatal", device) == -1 && errno == ENODEV,
	     "an HCA that there is not");
	want(pib_inject("%s", "") == -1, "no words");
	want(pib_inject_done("none", 1) == -1 && errno == ENODEV,
	     "a rule of an HCA that there is not");
	want(pib_inject_del("none", 1) == -1 && errno == ENODEV, "nor is it taken away");
	want(pib_inject_del(NULL, 1) == -1 && errno == EINVAL, "no HCA");
}

static pthread_barrier_t both;

/*
 * @words are refused with @code. The error's text stays while the other thread is refused something
 * else.
 */
static void stays_told(const char *words, int code)
{
	char said[1024];

	want(pib_inject("%s%s", device, words) == -1 && errno == code, words);
	snprintf(said, sizeof(said), "%s", pib_inject_error());
	pthread_barrier_wait(&both);
	want(*said && !strcmp(said, pib_inject_error()), "each thread has what was said to it");
	pthread_barrier_wait(&both);
}

static void *one_of_two(void *arg)
{
	bool first = !arg;
	int i, rule;

	for (i = 0; i < 100; i++) {
		stays_told(first ? "-none fatal" : " nothing", first ? ENODEV : EINVAL);
		rule = pib_inject("%s verb reg_mr errno ENOMEM pid %d after %d", device, getpid(),
				  1000 + i);
		want(rule > 0 && !pib_inject_done(device, rule), "a rule of each thread");
		want(!pib_inject_del(device, rule), "which each takes away");
	}
	return NULL;
}

static void two_threads(void)
{
	pthread_t other;

	pthread_barrier_init(&both, NULL, 2);
	want(!pthread_create(&other, NULL, one_of_two, &both), "a thread");
	one_of_two(NULL);
	pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
	struct ibv_context *ctx = argc == 2 ? open_device(argv[1]) : NULL;
	struct ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : NULL;

	device = argv[1];
	want(!!pd, "DEVICE");
	registration_fails_once(pd);
	queue_pair_fails(ctx, pd);
	mistakes_are_told();
	two_threads();
	ibv_dealloc_pd(pd);
	ibv_close_device(ctx);
	return 0;
}

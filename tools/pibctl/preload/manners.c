// SPDX-License-Identifier: GPL-2.0
/*
 * libpibmanners.so: "pibctl manners" preloads it into the program that it runs, for what never
 * comes to the module: PSNs, which ib_core cuts off, events that are taken and acknowledged, and
 * how the program forks; queues.c and extended.c have how it posts, polls and waits, path.c where
 * it sends to. It tells by the socket PIB_MANNERS_FD, a message for each time, with tabs: kind,
 * pid, thread, time, name of the program, what, and each call of the stack. The program does not
 * wait: for what the socket has no room, the memory PIB_MANNERS_UNHEARD_FD has a number, which all
 * processes share. With PIB_MANNERS_ERROR in the environment some of the calls in which something
 * was seen fail. Of calls in which the module may find something it tells, too, kind "call": who
 * reads the module's trace has their stack so. Kind "post" is the same of posts (posts.c).
 *
 * It knows libibverbs by the names of its functions, and of its structs no more than stands here,
 * which is its ABI.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "manners.h"
#include "path.h"
#include "posts.h"
#include "queues.h"

/* Queue pairs, CQs and SRQs of which events were taken at one time; of others nothing is said. */
#define OBJECTS	256
/* So many bytes of the socket the stacks of calls may take: the rest is for what was found. */
#define CALLS_ROOM	65536

/* enum ibv_event_type */
enum {
	DEVICE_FATAL = 8,
	SRQ_ERR = 14,
	LAST_WQE_REACHED = 16,
};

/* enum ibv_qp_attr_mask */
enum {
	STATE = 1 << 0,
	ACCESS_FLAGS = 1 << 3,
	RQ_PSN = 1 << 12,
	SQ_PSN = 1 << 16,
	/* Up to DEST_QPN, and RATE_LIMIT. */
	KNOWN_ATTRS = ((1 << 21) - 1) | 1 << 25,
};

/* enum ibv_access_flags: up to FLUSH_PERSISTENT, and those that a device may ignore. */
#define KNOWN_ACCESS	0x3ff003ffu
#define ACCESS_LOCAL_WRITE	(1u << 0)
#define ACCESS_REMOTE_WRITES	(1u << 1 | 1u << 3)	/* writes and atomics */

/* enum ibv_qp_state */
enum { RESET };

struct async_event {
	void *object;
	int type;
};

static struct {
	void *object;
	unsigned int events;
} taken[OBJECTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int told_by = -1;
/* The socket that was handed over: a program may close it, and have another file of its number. */
static struct stat socket_given;
static uint64_t *unheard;
static pid_t owner;
static volatile int has_memory, fork_prepared;
/* tell() returns this. */
static int error;
/* libibverbs' function that is called calls another one of these. */
static __thread int is_within;

void *next_function(const char *name)
{
	static const char *const names[] = { "libibverbs.so.1", "librdmacm.so.1" };
	void *function = dlsym(RTLD_NEXT, name), *library;
	size_t i;

	for (i = 0; !function && i < sizeof(names) / sizeof(names[0]); i++) {
		library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
		function = library ? dlsym(library, name) : NULL;
	}
	return function;
}

int is_heard(void)
{
	return told_by >= 0;
}

/* Return: true if the socket is still that one. */
static int is_there(void)
{
	struct stat now;

	return told_by >= 0 && !fstat(told_by, &now) && now.st_ino == socket_given.st_ino &&
	       now.st_dev == socket_given.st_dev;
}

/* @has_stack: with the stack. Return: 0; an error: there was no room. */
static int send_line(const char *kind, const char *text, int has_stack)
{
	char line[2048];
	struct timespec now;
	int length, state, err;

	clock_gettime(CLOCK_MONOTONIC, &now);
	length = snprintf(line, sizeof(line), "%s\t%d\t%d\t%lld.%06ld\t%.15s\t%s", kind, getpid(),
			  gettid(), (long long)now.tv_sec, now.tv_nsec / 1000,
			  program_invocation_short_name, text);
	if (length <= 0)
		return 0;
	/* A thread that were cancelled in the loader would keep its lock. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (has_stack)
		length += (int)stack_of(line + length, sizeof(line) - (size_t)length);
	err = send(told_by, line, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT) < 0;
	pthread_setcancelstate(state, &state);
	return err;
}

int tell(const char *kind, const char *format, ...)
{
	char text[200];
	va_list list;

	if (!is_there())
		return 0;
	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	if (send_line(kind, text, 1) && unheard)
		__atomic_fetch_add(unheard, 1, __ATOMIC_RELAXED);
	return error;
}

/*
 * The module is about to be called, by what its trace names @verb. Without room the call is told
 * without its stack, so that a finding does not get the stack of an earlier call.
 */
static void tell_call(const char *verb)
{
	int waiting;

	if (!is_there() || ioctl(told_by, SIOCOUTQ, &waiting))
		return;
	send_line("call", verb, waiting < CALLS_ROOM);
}

int tell_post(const char *device, uint32_t qp_number, uint32_t first, int has_stack)
{
	char text[100];
	int waiting;

	if (!is_there() || ioctl(told_by, SIOCOUTQ, &waiting) ||
	    (has_stack && waiting >= CALLS_ROOM))
		return 0;
	snprintf(text, sizeof(text), "%s %u %u", device, qp_number, first);
	return !send_line("post", text, has_stack);
}

int check_bits(const char *call, const char *field, unsigned int bits, unsigned int known)
{
	if (!(bits & ~known))
		return 0;
	return tell("reserved-bits", "%s: %s 0x%x", call, field, bits & ~known);
}

/* So many more events of an object, or fewer. Return: how many there are now. */
static unsigned int count(void *object, long more)
{
	size_t i, place = OBJECTS;
	unsigned int events = 0;

	pthread_mutex_lock(&lock);
	for (i = 0; i < OBJECTS; i++) {
		if (taken[i].events && taken[i].object == object) {
			place = i;
			break;
		}
		if (!taken[i].events && place == OBJECTS)
			place = i;
	}
	if (place < OBJECTS) {
		events = i < OBJECTS ? taken[place].events : 0;
		events = (long)events + more > 0 ? (unsigned int)((long)events + more) : 0;
		taken[place].object = object;
		taken[place].events = events;
	}
	pthread_mutex_unlock(&lock);
	return events;
}

/*
 * The call that follows waits for the acknowledgement, which another thread may be about to give:
 * the time it has for that is a second. Return: as tell().
 */
static int destroyed(void *object, const char *call)
{
	static const struct timespec look = { .tv_nsec = 10000000 };
	struct timespec begin, now;
	unsigned int events;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		events = count(object, 0);
		if (!events)
			return 0;
		nanosleep(&look, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - begin.tv_sec < 1 + (now.tv_nsec < begin.tv_nsec));
	return tell("unacked-event", "%s with %u events that are not acknowledged", call, events);
}

/* Events of ports and of the device belong to no object that is destroyed. */
static int is_of_object(const struct async_event *event)
{
	return event->type < DEVICE_FATAL ||
	       (event->type >= SRQ_ERR && event->type <= LAST_WQE_REACHED);
}

static int check_psn(const struct qp *qp, const char *name, uint32_t psn)
{
	if (psn <= 0xffffff)
		return 0;
	return tell("wide-psn", "ibv_modify_qp of queue pair %u: %s %u", qp->number, name, psn);
}

/* Return: as tell(). */
static int check_attr(const struct qp *qp, const struct qp_attr *attr, unsigned int mask)
{
	int err = check_bits("ibv_modify_qp", "attr_mask", mask, KNOWN_ATTRS);

	if (mask & RQ_PSN)
		err |= check_psn(qp, "rq_psn", attr->rq_psn);
	if (mask & SQ_PSN)
		err |= check_psn(qp, "sq_psn", attr->sq_psn);
	if (mask & ACCESS_FLAGS)
		err |= check_bits("ibv_modify_qp", "qp_access_flags", attr->access, KNOWN_ACCESS);
	return err | path_given(qp, attr, mask);
}

VISIBLE int ibv_modify_qp(struct qp *qp, struct qp_attr *attr, int mask)
{
	int err = check_attr(qp, attr, (unsigned int)mask);

	if (err)
		return err;
	tell_call("modify_qp");
	err = NEXT(ibv_modify_qp)(qp, attr, mask);
	if (!err && (mask & STATE) && attr->states[0] == RESET) {
		qp_gone(qp, "lost-on-reset", "ibv_modify_qp");
		path_forgotten(qp);
	}
	return err;
}

VISIBLE int ibv_get_cq_event(void *channel, void **cq, void **context)
{
	int err;

	waits_for(channel);
	err = NEXT(ibv_get_cq_event)(channel, cq, context);
	if (!err) {
		count(*cq, 1);
		event_taken(*cq);
	}
	return err;
}

VISIBLE void ibv_ack_cq_events(void *cq, unsigned int events)
{
	count(cq, -(long)events);
	NEXT(ibv_ack_cq_events)(cq, events);
}

VISIBLE int ibv_get_async_event(void *context, struct async_event *event)
{
	int err = NEXT(ibv_get_async_event)(context, event);

	if (!err && is_of_object(event))
		count(event->object, 1);
	return err;
}

VISIBLE void ibv_ack_async_event(struct async_event *event)
{
	if (is_of_object(event))
		count(event->object, -1);
	NEXT(ibv_ack_async_event)(event);
}

VISIBLE int ibv_destroy_cq(void *cq)
{
	int place, place_ex, err = destroyed(cq, "ibv_destroy_cq");

	if (err)
		return err;
	tell_call("destroy_cq");
	place = cq_leaves(cq);
	place_ex = extended_cq_leaves(cq);
	err = NEXT(ibv_destroy_cq)(cq);
	cq_left(place, cq, err);
	extended_cq_left(place_ex, err);
	return err;
}

VISIBLE int ibv_destroy_qp(struct qp *qp)
{
	struct qp was = *qp;
	int place, place_of_posts, err = destroyed(qp, "ibv_destroy_qp");

	if (err)
		return err;
	tell_call("destroy_qp");
	place = extended_qp_leaves(qp);
	place_of_posts = posts_leaves(qp);
	err = NEXT(ibv_destroy_qp)(qp);
	extended_qp_left(place, err);
	posts_left(place_of_posts, &was, err);
	if (!err) {
		qp_gone(&was, "unpolled", "ibv_destroy_qp");
		path_forgotten(&was);
	}
	return err;
}

VISIBLE int ibv_destroy_srq(void *srq)
{
	int err = destroyed(srq, "ibv_destroy_srq");

	if (err)
		return err;
	return NEXT(ibv_destroy_srq)(srq);
}

/* Memory that others may write is written by this host, too (10.6.3.1). Return: as tell(). */
static int check_writable(const char *call, unsigned int access)
{
	if (!(access & ACCESS_REMOTE_WRITES) || access & ACCESS_LOCAL_WRITE)
		return 0;
	return tell("lone-flag", "%s: access 0x%x without IBV_ACCESS_LOCAL_WRITE", call,
		    access & ACCESS_REMOTE_WRITES);
}

/* Return: as tell(). */
static int check_access(const char *call, unsigned int access)
{
	int err = 0;

	if (!is_within) {
		err = check_bits(call, "access", access, KNOWN_ACCESS);
		err |= check_writable(call, access);
	}
	if (err)
		errno = err;
	return err;
}

/* Of memory that the HCA knows by other addresses the queues' part has to know nothing. */
static void *registered(struct mr *mr, int same_addresses, unsigned int access)
{
	has_memory = 1;
	if (same_addresses)
		memory_made(mr, access);
	return mr;
}

VISIBLE void *ibv_reg_mr(void *pd, void *addr, size_t length, int access)
{
	struct mr *mr;

	if (check_access("ibv_reg_mr", (unsigned int)access))
		return NULL;
	is_within++;
	mr = NEXT(ibv_reg_mr)(pd, addr, length, access);
	is_within--;
	return registered(mr, 1, (unsigned int)access);
}

VISIBLE void *ibv_reg_mr_iova(void *pd, void *addr, size_t length, uint64_t iova, int access)
{
	struct mr *mr;

	if (check_access("ibv_reg_mr_iova", (unsigned int)access))
		return NULL;
	is_within++;
	mr = NEXT(ibv_reg_mr_iova)(pd, addr, length, iova, access);
	is_within--;
	return registered(mr, iova == (uintptr_t)addr, (unsigned int)access);
}

VISIBLE void *ibv_reg_mr_iova2(void *pd, void *addr, size_t length, uint64_t iova,
			       unsigned int access)
{
	if (check_access("ibv_reg_mr_iova2", access))
		return NULL;
	return registered(NEXT(ibv_reg_mr_iova2)(pd, addr, length, iova, access),
			  iova == (uintptr_t)addr, access);
}

VISIBLE int ibv_dereg_mr(struct mr *mr)
{
	memory_gone(mr);
	tell_call("dereg_mr");
	return NEXT(ibv_dereg_mr)(mr);
}

VISIBLE void *ibv_create_ah(void *pd, void *attr)
{
	tell_call("create_ah");
	return NEXT(ibv_create_ah)(pd, attr);
}

VISIBLE void *ibv_create_ah_from_wc(void *pd, void *wc, void *grh, uint8_t port)
{
	tell_call("create_ah");
	return NEXT(ibv_create_ah_from_wc)(pd, wc, grh, port);
}

VISIBLE int ibv_rereg_mr(struct mr *mr, int flags, void *pd, void *addr, size_t length, int access)
{
	memory_gone(mr);
	return NEXT(ibv_rereg_mr)(mr, flags, pd, addr, length, access);
}

VISIBLE int ibv_fork_init(void)
{
	int err = NEXT(ibv_fork_init)();

	if (!err)
		fork_prepared = 1;
	return err;
}

/* A program that asks is told whether it must prepare for fork(), so it counts as prepared. */
VISIBLE int ibv_is_fork_initialized(void)
{
	int status = NEXT(ibv_is_fork_initialized)();

	if (status)
		fork_prepared = 1;
	return status;
}

/*
 * The environment has libibverbs prepare itself. A child has one thread, and would wait for ever
 * for a lock that another one had.
 */
static void before_fork(void)
{
	if (has_memory && !fork_prepared && !getenv("RDMAV_FORK_SAFE") && !getenv("IBV_FORK_SAFE"))
		tell("fork-unsafe", "fork with registered memory and without ibv_fork_init");
	pthread_mutex_lock(&lock);
	queues_stop();
	path_stop();
}

static void after_fork(void)
{
	path_go_on();
	queues_go_on();
	pthread_mutex_unlock(&lock);
}

/*
 * Return: the socket's number; -1: there is none. See shared_number(): another file of that number
 * hardly is such a socket.
 */
static int given_socket(const char *fd)
{
	int domain = 0, type = 0, number = fd && *fd ? atoi(fd) : -1;
	socklen_t length = sizeof(domain);

	if (number < 0 || fstat(number, &socket_given) ||
	    getsockopt(number, SOL_SOCKET, SO_DOMAIN, &domain, &length) ||
	    getsockopt(number, SOL_SOCKET, SO_TYPE, &type, &length))
		return -1;
	return domain == AF_UNIX && type == SOCK_SEQPACKET ? number : -1;
}

/*
 * A program that was started by one that has closed all files may have another one of that number:
 * none of those is sealed.
 */
static void *shared_number(const char *fd)
{
	int seals = fd ? fcntl(atoi(fd), F_GET_SEALS) : -1;
	void *at = MAP_FAILED;

	if (seals == (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		at = mmap(NULL, sizeof(*unheard), PROT_READ | PROT_WRITE, MAP_SHARED, atoi(fd), 0);
	return at == MAP_FAILED ? NULL : at;
}

static __attribute__((constructor)) void begin(void)
{
	const char *fd = getenv("PIB_MANNERS_FD");

	if (!fd)
		return;
	stack_begin();
	if (getenv("PIB_MANNERS_ERROR"))
		error = EINVAL;
	told_by = given_socket(fd);
	unheard = shared_number(getenv("PIB_MANNERS_UNHEARD_FD"));
	owner = getpid();
	pthread_atfork(before_fork, after_fork, after_fork);
}

/* A child has its parent's events, but they are not its to acknowledge. */
static __attribute__((destructor)) void end(void)
{
	size_t i;

	if (owner != getpid())
		return;
	stack_end();
	queues_end();
	for (i = 0; i < OBJECTS; i++)
		if (taken[i].events)
			tell("unacked-event", "the end with %u events that are not acknowledged",
			     taken[i].events);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of libpibmanners.so have this in common. */
#ifndef PIB_PRELOAD_MANNERS_H
#define PIB_PRELOAD_MANNERS_H

#include <stddef.h>
#include <stdint.h>

#define VISIBLE __attribute__((visibility("default")))
/* The function of that name which the program would have called. */
#define NEXT(name) ((__typeof__(name) *)next_function(#name))

/* The beginning of struct ibv_qp. */
struct qp {
	void *objects[6];
	uint32_t handle, number;
};

/* The beginning of struct ibv_mr. */
struct mr {
	void *context, *pd, *addr;
	size_t length;
	uint32_t handle, lkey, rkey;
};

/*
 * Any thread. Return: a function of libibverbs or librdmacm, be that a library of the program or of
 * a part that it has loaded.
 */
void *next_function(const char *name);
/* Return: whether anybody hears what is told. */
int is_heard(void);
/*
 * Something was seen of this kind. Any thread, without a lock; it is no cancellation point.
 * Return: 0; EINVAL: the call in which it was seen is to fail (PIB_MANNERS_ERROR).
 */
int tell(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * Work requests are about to be posted to a queue pair of a device, this one first. Without
 * @has_stack: nobody knows where those from it on are posted. Return: whether it was told; there
 * may be no room, and for stacks there is less.
 */
int tell_post(const char *device, uint32_t qp_number, uint32_t first, int has_stack);
/* Tell of those bits of a field that are not among the known ones. Return: as tell(). */
int check_bits(const char *call, const char *field, unsigned int bits, unsigned int known);

/* ---- stack.c ---- */

/* The process begins: what stack_of() takes is loaded. */
void stack_begin(void);
/* It ends: no call of the program's is under way that would say anything. */
void stack_end(void);
/*
 * Where the program stands: a tab, an object file and an offset in it, "\tPATH+0x1234", for each of
 * the innermost calls that are not of this library, as many as there is room for. Any thread.
 * Return: its length.
 */
size_t stack_of(char *text, size_t room);
/* Return: a number by which that differs from where it has stood before; 0: it is not known. */
uint64_t stack_sum(void);

/* ---- memory.c ---- */

/* Memory of a program by its own addresses was registered, or is so no more; @mr may be NULL. */
void memory_made(const struct mr *mr, unsigned int access);
void memory_gone(const struct mr *mr);

/* ---- queues.c ---- */

/*
 * A queue pair has gone by @call, or has forgotten what was posted: completions that were not
 * polled then are of this kind.
 */
void qp_gone(const struct qp *qp, const char *kind, const char *call);
/* A CQ is about to be destroyed, and was not if @err. Return: its place, for cq_left(). */
int cq_leaves(void *cq);
void cq_left(int place, void *cq, int err);
/* Nobody is in the middle of something until they go on: the process forks. */
void queues_stop(void);
void queues_go_on(void);
/* The program ends. */
void queues_end(void);
/* The program is about to wait for an event of the channel, and has taken one of the CQ. */
void waits_for(void *channel);
void event_taken(void *cq);

#endif

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * libpibinject: what "pibctl inject" does, for test programs in C and C++. Link with -lpibinject.
 * Any thread may call these functions. They need what pibctl needs: CAP_NET_ADMIN in the initial
 * user namespace. The words are those of pibctl-inject (/usr/share/doc/pib/inject.md).
 */
#ifndef PIB_INJECT_H
#define PIB_INJECT_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Make something go wrong: pib_inject("%s qp %u drop 3", "pib0", qp->qp_num). The arguments are
 * those of printf(), the words those behind "pibctl inject".
 *
 * Return: the number of the rule; 0: done at once, there is no rule; -1: refused, and errno is set.
 */
int pib_inject(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Take rule @rule of the HCA or switch @node away, or all of them if it is 0. Return: 0; -1:
 * refused, errno is set.
 */
int pib_inject_del(const char *node, int rule);

/* Return: how often rule @rule of @node has acted; -1: there is no such rule, or errno says why. */
long long pib_inject_done(const char *node, int rule);

/* Return: why the last call of this thread was refused, in words; valid until its next call. */
const char *pib_inject_error(void);

#ifdef __cplusplus
}
#endif

#endif

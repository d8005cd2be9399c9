// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The bodies of the tracepoints of verbs. */
#define CREATE_TRACE_POINTS
#include "tracing/verbs.h"

const char *const pib_verb_names[] = {
#define X(id, name, object) name,
	PIB_VERB_LIST(X, X)
#undef X
};

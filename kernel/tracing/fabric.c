// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The bodies of the tracepoints of the fabric. */
#define CREATE_TRACE_POINTS
#include "tracing/fabric.h"

// SPDX-License-Identifier: GPL-2.0
// The protocol core, as pib.ko compiles it, for C++.
#pragma once

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wold-style-cast"
extern "C" {
#include "kernel/proto/cc.h"
#include "kernel/proto/cookie.h"
#include "kernel/proto/credit.h"
#include "kernel/proto/fault.h"
#include "kernel/proto/flow.h"
#include "kernel/proto/hdrs.h"
#include "kernel/proto/hello.h"
#include "kernel/proto/icrc.h"
#include "kernel/proto/session.h"
#include "kernel/proto/mad.h"
#include "kernel/proto/node.h"
#include "kernel/proto/pma.h"
#include "kernel/proto/seal.h"
#include "kernel/proto/segment.h"
#include "kernel/proto/smi.h"
#include "kernel/proto/switch.h"
#include "kernel/proto/trap.h"
#include "kernel/proto/vl.h"
}
#pragma GCC diagnostic pop

// SPDX-License-Identifier: GPL-2.0-only
// The one place where the module's tracepoint is made.

#include "compat.h"
#include "host/probe.h"
#include "host/registry.h"

#define CREATE_TRACE_POINTS
#include "host/trace.h"

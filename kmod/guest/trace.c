// SPDX-License-Identifier: GPL-2.0-only
// The one place where the module's tracepoint is made.

#define CREATE_TRACE_POINTS
#include "guest/trace.h"

/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoint vhalt_guest:vhalt_guest_window: a CPU's window changes. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM vhalt_guest

#if !defined(VHALT_GUEST_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define VHALT_GUEST_TRACE_H

#include <linux/tracepoint.h>
#include <vhalt/policy.h>

/*
 * Fires at halt entry, on the CPU itself, when the window decided for this halt is not that of the
 * halt before. In an idle state RCU looks away, and tracing with it; ours are states that see to RCU
 * themselves, and this is before it looks away.
 */
TRACE_EVENT(vhalt_guest_window,
	TP_PROTO(const struct vhalt_hint *hint, u32 old_ns, u32 new_ns),
	TP_ARGS(hint, old_ns, new_ns),

	TP_STRUCT__entry(
		__field(u32, old_ns)
		__field(u32, new_ns)
		__field(u64, run_ns)
		__field(u64, deadline_ns)
		__field(bool, must_block)
	),

	TP_fast_assign(
		__entry->old_ns = old_ns;
		__entry->new_ns = new_ns;
		__entry->run_ns = hint->run_ns;
		__entry->deadline_ns = hint->deadline_ns;
		__entry->must_block = hint->must_block;
	),

	TP_printk("old_ns=%u new_ns=%u run_ns=%lld deadline_ns=%lld must_block=%d %s",
		  __entry->old_ns, __entry->new_ns, __entry->run_ns, __entry->deadline_ns,
		  __entry->must_block, __entry->new_ns > __entry->old_ns ? "grow" : "shrink")
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH guest
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>

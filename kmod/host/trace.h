/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoint vhalt:vhalt_window: each decision with all that is needed to make it again. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM vhalt

#if !defined(VHALT_KMOD_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define VHALT_KMOD_TRACE_H

#include <linux/tracepoint.h>
#include <vhalt/policy.h>

#include "compat.h"
#include "host/probe.h"

/*
 * One event per decision, in the vCPU's thread, right after the wake-up that ended a halt. With the
 * core's functions, for the events of one vm and vcpu in the order of seq:
 *
 *	seq == 0 or not one more than the last:		(the latter: events were lost, start over)
 *		vhalt_config_init(config, policy, values), vhalt_auto_scale(config, factor)
 *		vhalt_state_init(state, config); the halt that ended is not looked at
 *	else:
 *		the same for the config if values or factor changed; the state stays
 *		vhalt_update(state, config, {halt_ns, VHALT_UNKNOWN_NS, window_ns, outcome})
 *	new_ns == vhalt_decide(state, config, {run_ns, VHALT_NO_DEADLINE_NS, must_block}).window_ns
 *
 * halt_ns, waited, valid are KVM's own (kvm_vcpu_wakeup). window_ns is the window in force during
 * the halt, old_ns the one written before it: larger if KVM's ceiling cut it. kernel_ns is what KVM's
 * own adaption had just put there and new_ns replaces.
 */
TRACE_EVENT(vhalt_window,
	TP_PROTO(const struct host_vcpu *vcpu, const struct host_settings *settings,
		 const struct host_decision *d),
	TP_ARGS(vcpu, settings, d),

	TP_STRUCT__entry(
		__field(pid_t, vm)
		__field(int, vcpu)
		__field(u64, seq)
		__string(policy, host_settings_name(settings))
		__field(u32, factor)
		__field(u32, nr_values)
		__array(u64, values, VHALT_PARAMS_MAX)
		__field(u64, halt_ns)
		__field(u64, run_ns)
		__field(u32, window_ns)
		__field(u32, outcome)
		__field(u32, old_ns)
		__field(u32, kernel_ns)
		__field(u32, new_ns)
		__field(u32, ceiling_ns)
		__field(bool, waited)
		__field(bool, valid)
		__field(bool, must_block)
	),

	TP_fast_assign(
		__entry->vm = vcpu->vm->pid;
		__entry->vcpu = vcpu->id;
		__entry->seq = vcpu->seq;
		COMPAT_ASSIGN_STR(policy, host_settings_name(settings));
		__entry->factor = d->factor;
		__entry->nr_values = settings->nr_params;
		memcpy(__entry->values, settings->values, sizeof(__entry->values));
		__entry->halt_ns = d->outcome.halt_ns;
		__entry->run_ns = d->hint.run_ns;
		__entry->window_ns = d->outcome.window_ns;
		__entry->outcome = d->outcome.flags;
		__entry->old_ns = d->old_ns;
		__entry->kernel_ns = d->kernel_ns;
		__entry->new_ns = d->new_ns;
		__entry->ceiling_ns = d->ceiling_ns;
		__entry->waited = d->waited;
		__entry->valid = d->valid;
		__entry->must_block = d->hint.must_block;
	),

	TP_printk("vm=%d vcpu=%d seq=%llu policy=%s values=%s factor=%u halt_ns=%llu waited=%d valid=%d run_ns=%llu window_ns=%u outcome=%u must_block=%d old_ns=%u kernel_ns=%u new_ns=%u ceiling_ns=%u %s",
		  __entry->vm, __entry->vcpu, __entry->seq, __get_str(policy),
		  __print_array(__entry->values, __entry->nr_values, sizeof(u64)),
		  __entry->factor, __entry->halt_ns, __entry->waited, __entry->valid,
		  __entry->run_ns, __entry->window_ns, __entry->outcome, __entry->must_block,
		  __entry->old_ns, __entry->kernel_ns, __entry->new_ns, __entry->ceiling_ns,
		  __entry->new_ns > __entry->old_ns ? "grow" :
		  __entry->new_ns < __entry->old_ns ? "shrink" : "keep")
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH host
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* For tests: one list of events, printed the way each tool prints it, or written as a trace.dat. */
#ifndef TESTS_EVENT_MAKER_H
#define TESTS_EVENT_MAKER_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/event.h"

/** An event as a kernel would trace it. Of WAKING, @vcpu is the thread that is woken. */
struct made_event {
	uint64_t time_ns;
	uint32_t kind; /* enum trace_event_kind */
	uint32_t tid, cpu, vcpu;
	uint64_t ns;
	uint32_t flags; /* enum trace_event_flags */
	uint32_t old_ns, new_ns;
	uint64_t lost; /* events missing on @cpu before this one; UINT64_MAX: an unknown number */
};

struct made_name {
	uint32_t tid;
	const char *name;
};

/** What is made: grows as needed. */
struct made {
	char *data;
	size_t nr, room;
};

static inline void made_bytes(struct made *m, const void *bytes, size_t nr)
{
	if (m->nr + nr + 1 > m->room) {
		m->room = (m->nr + nr + 1) * 2;
		m->data = realloc(m->data, m->room);
		if (!m->data)
			abort();
	}
	memcpy(m->data + m->nr, bytes, nr);
	m->nr += nr;
	m->data[m->nr] = '\0';
}

__attribute__((format(printf, 2, 3))) static inline void made_text(struct made *m,
								   const char *format, ...)
{
	char text[4096];
	va_list args;
	int nr;

	va_start(args, format);
	nr = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (nr < 0 || nr >= (int)sizeof(text))
		abort();
	made_bytes(m, text, (size_t)nr);
}

static inline const char *made_name_of(const struct made_name *names, uint32_t tid)
{
	for (; names->name; names++)
		if (names->tid == tid)
			return names->name;
	return "<...>";
}

static const char *const made_event_names[] = {
	"kvm_vcpu_wakeup", "kvm_halt_poll_ns",	 "kvm_exit",	       "kvm_exit",
	"kvm_entry",	   "kvm_userspace_exit", "kvm_userspace_exit", "sched_waking",
};

/** What the kernel prints behind the event's name. */
static inline void made_payload(struct made *m, const struct made_event *e,
				const struct made_name *names)
{
	switch (e->kind) {
	case TRACE_EVENT_WAKEUP:
		made_text(m, "%s time %" PRIu64 " ns, polling %s",
			  e->flags & TRACE_EVENT_WAITED ? "wait" : "poll", e->ns,
			  e->flags & TRACE_EVENT_INVALID ? "invalid" : "valid");
		break;
	case TRACE_EVENT_WINDOW:
		made_text(m, "vcpu %u: halt_poll_ns %u (%s %u)", e->vcpu, e->new_ns,
			  e->flags & TRACE_EVENT_GROW ? "grow" : "shrink", e->old_ns);
		break;
	case TRACE_EVENT_HLT:
	case TRACE_EVENT_EXIT:
		made_text(m, "vcpu %u reason %s rip 0x1000 info1 0x0 info2 0x0", e->vcpu,
			  e->kind == TRACE_EVENT_HLT ? "HLT" : "MSR_WRITE");
		break;
	case TRACE_EVENT_ENTRY: made_text(m, "vcpu %u, rip 0x1001", e->vcpu); break;
	case TRACE_EVENT_USER_HLT: made_text(m, "reason KVM_EXIT_HLT (5)"); break;
	case TRACE_EVENT_USER: made_text(m, "reason KVM_EXIT_IO (2)"); break;
	case TRACE_EVENT_WAKING:
		made_text(m, "comm=%s pid=%u prio=120 target_cpu=%03u",
			  made_name_of(names, e->vcpu), e->vcpu, e->cpu);
		break;
	default: abort();
	}
}

/** As /sys/kernel/tracing/trace has it: whole microseconds. */
static inline void made_ftrace(struct made *m, const struct made_event *events, size_t nr,
			       const struct made_name *names)
{
	made_text(m,
		  "# tracer: nop\n#\n# entries-in-buffer/entries-written: %zu/%zu   #P:2\n#\n"
		  "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n",
		  nr, nr);
	for (const struct made_event *e = events; e < events + nr; e++) {
		if (e->lost == UINT64_MAX)
			made_text(m, "CPU:%u [LOST EVENTS]\n", e->cpu);
		else if (e->lost)
			made_text(m, "CPU:%u [LOST %" PRIu64 " EVENTS]\n", e->cpu, e->lost);
		made_text(m, "%16s-%-7u [%03u] d.... %5" PRIu64 ".%06" PRIu64 ": %s: ",
			  made_name_of(names, e->tid), e->tid, e->cpu, e->time_ns / 1000000000,
			  e->time_ns % 1000000000 / 1000, made_event_names[e->kind]);
		made_payload(m, e, names);
		made_text(m, "\n");
	}
}

/** As perf script prints it with -F comm,pid,tid,cpu,time,event,trace --ns. */
static inline void made_perf(struct made *m, const struct made_event *events, size_t nr,
			     const struct made_name *names, uint32_t pid)
{
	for (const struct made_event *e = events; e < events + nr; e++) {
		if (e->lost)
			made_text(m,
				  "%16s %5u/%-5u [%03u] %5" PRIu64 ".%09" PRIu64
				  ": PERF_RECORD_LOST lost %" PRIu64 "\n",
				  made_name_of(names, e->tid), pid, e->tid, e->cpu,
				  e->time_ns / 1000000000, e->time_ns % 1000000000, e->lost);
		made_text(m, "%16s %5u/%-5u [%03u] %5" PRIu64 ".%09" PRIu64 ": %22s:%s: ",
			  made_name_of(names, e->tid), pid, e->tid, e->cpu, e->time_ns / 1000000000,
			  e->time_ns % 1000000000, e->kind == TRACE_EVENT_WAKING ? "sched" : "kvm",
			  made_event_names[e->kind]);
		made_payload(m, e, names);
		made_text(m, "\n");
	}
}

#endif

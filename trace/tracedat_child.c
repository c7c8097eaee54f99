// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The process in which libtracecmd reads a trace.dat and tells its events through a pipe.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <event-parse.h>
#include <trace-cmd.h>

#include "trace/tracedat.h"

enum {
	MAX_HANDLES = 64,   /* buffer instances read beside the top one */
	OUT_MESSAGES = 256, /* written at a time */
	KVM_ISA_VMX = 1,
	KVM_ISA_SVM = 2,
	VMX_HLT = 12,
	SVM_HLT = 0x78,
	KVM_EXIT_HLT = 5,
};

/* The field @name of an event, in a record; @ok is cleared if it is not wholly in it. */
struct fields {
	struct tep_event *event;
	struct tep_record *record;
	bool ok;
};

struct child {
	int pipe;
	struct tracedat_message out[OUT_MESSAGES];
	size_t nr_out;
	uint64_t records, others, told;
	uint64_t last_ns;
};

static void flush(struct child *c)
{
	const char *at = (const char *)c->out;
	size_t left = c->nr_out * sizeof(c->out[0]);

	while (left) {
		ssize_t nr = write(c->pipe, at, left);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0)
			_exit(1); /* nobody listens any more */
		at += nr;
		left -= (size_t)nr;
	}
	c->nr_out = 0;
}

static struct tracedat_message *new_message(struct child *c, enum tracedat_type type)
{
	struct tracedat_message *m;

	if (c->nr_out == OUT_MESSAGES)
		flush(c);
	m = &c->out[c->nr_out++];
	memset(m, 0, sizeof(*m));
	m->type = type;
	m->records = c->records;
	m->others = c->others;
	m->event.time_ns = c->last_ns;
	return m;
}

static void tell_progress(struct child *c)
{
	new_message(c, TRACEDAT_PROGRESS);
	flush(c);
	c->told = c->records;
}

static struct tep_format_field *find_field(const struct fields *f, const char *name)
{
	struct tep_format_field *field = tep_find_any_field(f->event, name);
	int size = f->record->size;

	if (!field || field->offset < 0 || field->size <= 0 || field->size > 8 ||
	    field->offset > size || field->size > size - field->offset)
		return NULL;
	return field;
}

static uint64_t get(struct fields *f, const char *name)
{
	struct tep_format_field *field = find_field(f, name);
	unsigned long long value = 0;

	if (!field || tep_read_number_field(field, f->record->data, &value))
		f->ok = false;
	return value;
}

static void read_wakeup(struct fields *f, struct tracedat_message *m)
{
	m->event.kind = TRACE_EVENT_WAKEUP;
	m->event.ns = get(f, "ns");
	if (get(f, "waited"))
		m->event.flags |= TRACE_EVENT_WAITED;
	if (!tep_find_any_field(f->event, "valid")) {
		m->event.flags |= TRACE_EVENT_NO_VALID;
		m->hints |= TRACE_HINT_NO_VALID;
	} else if (!get(f, "valid")) {
		m->event.flags |= TRACE_EVENT_INVALID;
	}
}

static void read_change(struct fields *f, struct tracedat_message *m)
{
	m->event.new_ns = (uint32_t)get(f, "new");
	m->event.old_ns = (uint32_t)get(f, "old");
	if (get(f, "grow"))
		m->event.flags |= TRACE_EVENT_GROW;
}

static void read_window(struct fields *f, struct tracedat_message *m)
{
	m->event.kind = TRACE_EVENT_WINDOW;
	m->event.vcpu = (uint32_t)get(f, "vcpu_id");
	read_change(f, m);
}

static void read_guest(struct fields *f, struct tracedat_message *m)
{
	m->event.kind = TRACE_EVENT_GUEST;
	read_change(f, m);
}

static void read_exit(struct fields *f, struct tracedat_message *m)
{
	uint64_t isa, reason;

	m->event.kind = TRACE_EVENT_EXIT;
	if (tep_find_any_field(f->event, "vcpu_id")) {
		m->event.vcpu = (uint32_t)get(f, "vcpu_id");
		m->event.flags |= TRACE_EVENT_HAS_VCPU;
		m->hints |= TRACE_HINT_EXIT_VCPU;
	} else {
		m->hints |= TRACE_HINT_EXIT_NO_VCPU;
	}
	if (tep_find_any_field(f->event, "intr_info"))
		m->hints |= TRACE_HINT_EXIT_INFO1;
	/* Only x86's reasons are known here; others are exits like any other. */
	if (!tep_find_any_field(f->event, "exit_reason") || !tep_find_any_field(f->event, "isa"))
		return;
	isa = get(f, "isa");
	reason = get(f, "exit_reason");
	if ((isa == KVM_ISA_VMX && (reason & 0xffff) == VMX_HLT) ||
	    (isa == KVM_ISA_SVM && reason == SVM_HLT))
		m->event.kind = TRACE_EVENT_HLT;
}

static void read_user(struct fields *f, struct tracedat_message *m)
{
	m->event.kind = get(f, "reason") == KVM_EXIT_HLT ? TRACE_EVENT_USER_HLT : TRACE_EVENT_USER;
}

static void read_entry(struct fields *f, struct tracedat_message *m)
{
	m->event.kind = TRACE_EVENT_ENTRY;
	if (tep_find_any_field(f->event, "vcpu_id"))
		m->event.vcpu = (uint32_t)get(f, "vcpu_id");
}

static void read_waking(struct fields *f, struct tracedat_message *m)
{
	m->event.kind = TRACE_EVENT_WAKING;
	m->event.tid = (uint32_t)get(f, "pid");
	m->event.name[0] = '\0';
}

static const struct row {
	const char *system, *name;
	void (*read)(struct fields *f, struct tracedat_message *m);
} rows[] = {
	{"kvm", "kvm_vcpu_wakeup", read_wakeup},
	{"kvm", "kvm_halt_poll_ns", read_window},
	{"kvm", "kvm_exit", read_exit},
	{"kvm", "kvm_entry", read_entry},
	{"kvm", "kvm_userspace_exit", read_user},
	{"sched", "sched_waking", read_waking},
	{"power", "guest_halt_poll_ns", read_guest},
};

static const struct row *find_row(const struct tep_event *event)
{
	for (size_t i = 0; event && event->name && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(event->name, rows[i].name))
			return &rows[i];
	return NULL;
}

static void fill_who(struct tracedat_message *m, struct tep_handle *tep, struct fields *f)
{
	struct trace_event *e = &m->event;
	uint64_t tid = get(f, "common_pid");
	const char *name;

	e->tid = tid && tid <= INT32_MAX ? (uint32_t)tid : TRACE_UNKNOWN_U32;
	e->pid = e->vcpu = TRACE_UNKNOWN_U32;
	e->cpu = (uint32_t)f->record->cpu;
	e->time_ns = f->record->ts;
	m->hints |= TRACE_HINT_TID | TRACE_HINT_CPU | TRACE_HINT_CLOCK_NS;
	if (e->tid == TRACE_UNKNOWN_U32)
		return;
	name = tep_data_comm_from_pid(tep, (int)tid);
	if (name && strcmp(name, "<...>"))
		strncpy(e->name, name, sizeof(e->name) - 1);
}

static void tell_loss(struct child *c, const struct tep_record *record)
{
	struct tracedat_message *m = new_message(c, TRACEDAT_EVENT);

	m->event.kind = TRACE_EVENT_LOST;
	m->event.place = c->records;
	m->event.ns = record->missed_events > 0 ? (uint64_t)record->missed_events : 0;
	m->event.tid = m->event.pid = m->event.vcpu = TRACE_UNKNOWN_U32;
	m->event.cpu = (uint32_t)record->cpu;
	m->event.time_ns = record->ts;
}

static int on_record(struct tracecmd_input *handle, struct tep_record *record, int cpu,
		     void *context)
{
	struct tep_handle *tep = tracecmd_get_tep(handle);
	struct child *c = context;
	struct fields f = {.record = record, .ok = true};
	const struct row *row;
	struct tracedat_message *m;

	(void)cpu;
	c->records++;
	c->last_ns = record->ts;
	if (record->missed_events)
		tell_loss(c, record);
	/* The type is two bytes, where every kernel has put it. */
	if (record->size >= 8)
		f.event = tep_find_event_by_record(tep, record);
	row = find_row(f.event);
	c->others += !row;
	if (c->records - c->told >= TRACEDAT_PROGRESS_RECORDS)
		tell_progress(c);
	if (!row)
		return 0;
	m = new_message(c, TRACEDAT_EVENT);
	m->event.place = c->records;
	fill_who(m, tep, &f);
	row->read(&f, m);
	if (!f.ok)
		m->type = TRACEDAT_BAD;
	return 0;
}

static void read_all(struct child *c, struct tracecmd_input *top)
{
	struct tracecmd_input *handles[MAX_HANDLES] = {top};
	int nr = tracecmd_buffer_instances(top), nr_handles = 1;

	for (int i = 0; i < nr && nr_handles < MAX_HANDLES; i++) {
		struct tracecmd_input *handle = tracecmd_buffer_instance_handle(top, i);

		if (handle)
			handles[nr_handles++] = handle;
	}
	if (nr_handles == 1)
		tracecmd_iterate_events(top, NULL, 0, on_record, c);
	else
		tracecmd_iterate_events_multi(handles, nr_handles, on_record, c);
}

static void confine(void)
{
	const struct rlimit memory = {TRACEDAT_MEMORY_BYTES, TRACEDAT_MEMORY_BYTES};
	const struct rlimit none = {0, 0};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The program's own handlers are not for this process. */
	for (int number = 1; number < SIGRTMIN; number++)
		signal(number, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	setrlimit(RLIMIT_CORE, &none);
	/* Sanitizers need address space of their own. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TRACEDAT_SANITIZED
#endif
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(TRACEDAT_SANITIZED)
	setrlimit(RLIMIT_AS, &memory);
#else
	(void)memory;
#endif
	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
}

_Noreturn void tracedat_child(int file, int pipe)
{
	struct child *c;
	struct tracecmd_input *top;

	confine();
	c = calloc(1, sizeof(*c));
	if (!c)
		_exit(1);
	c->pipe = pipe;
	c->last_ns = VHALT_UNKNOWN_NS;
	tracecmd_set_loglevel(TEP_LOG_NONE);
	top = tracecmd_open_fd(file, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!top) {
		new_message(c, TRACEDAT_UNSOUND);
		flush(c);
		_exit(0);
	}
	read_all(c, top);
	new_message(c, TRACEDAT_END);
	flush(c);
	_exit(0);
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What a recording holds: halts, window changes, other events, losses.
#include "tool/inspect_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/kernel.h"
#include "replay/text.h"
#include "stats/internal.h"
#include "trace/reader.h"
#include "util/units.h"

#define DURATION(ns) units_format_duration((uint64_t)(ns), (char[UNITS_DURATION_BYTES]){0})

/** Window changes as events, of traces without wake-ups too. */
struct windows {
	uint64_t nr, guest;
	uint32_t first_ns, last_ns, least_ns, most_ns;
	uint32_t vcpu; /* the first one's */
	bool several;  /* vCPUs */
};

struct seen {
	struct trace_reader *reader;
	struct diagnose_halts *diagnosis;
	struct windows windows;
	uint64_t halts, blocked, invalid, gaps, known_windows, latencies, deadlines;
	bool no_halts;
};

static void see(void *context, const struct trace_event *event)
{
	struct windows *w = context;

	w->guest += event->kind == TRACE_EVENT_GUEST;
	if (event->kind != TRACE_EVENT_WINDOW && event->kind != TRACE_EVENT_GUEST)
		return;
	if (!w->nr++) {
		w->first_ns = w->least_ns = event->old_ns;
		w->most_ns = event->old_ns;
		w->vcpu = event->vcpu;
	}
	w->several |= event->vcpu != w->vcpu;
	w->last_ns = event->new_ns;
	w->least_ns = event->new_ns < w->least_ns ? event->new_ns : w->least_ns;
	w->most_ns = event->new_ns > w->most_ns ? event->new_ns : w->most_ns;
}

static int take(struct seen *s, const struct trace_halt *halts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		s->blocked += (halts[i].flags & TRACE_HALT_WAITED) != 0;
		s->invalid += (halts[i].flags & TRACE_HALT_INVALID) != 0;
		s->gaps += (halts[i].flags & TRACE_HALT_GAP) != 0;
		s->known_windows += halts[i].window_ns != TRACE_UNKNOWN_U32;
		s->latencies += halts[i].latency_ns != TRACE_UNKNOWN_U32;
		s->deadlines += halts[i].deadline_ns != VHALT_NO_DEADLINE_NS;
	}
	s->halts += n;
	return diagnose_halts_feed(s->diagnosis, trace_reader_info(s->reader), halts, n);
}

static int read_all(struct seen *s)
{
	const struct trace_halt *halts;
	ssize_t n;
	int err = 0;

	while (!err && (n = trace_reader_next(s->reader, &halts)) != 0) {
		if (n == -ENODATA) {
			s->no_halts = true;
			break;
		}
		err = n < 0 ? (int)n : take(s, halts, (size_t)n);
	}
	if (err)
		return err;
	diagnose_halts_events(s->diagnosis, trace_reader_events(s->reader));
	diagnose_halts_end_recording(s->diagnosis, trace_reader_info(s->reader), NULL);
	return 0;
}

static void print_counts(const struct seen *s)
{
	const struct trace_info *info = trace_reader_info(s->reader);

	printf("  halts      %" PRIu64, s->halts);
	if (s->halts)
		printf(" of %" PRIu32 " vCPU%s in %" PRIu32 " VM%s: %" PRIu64 " blocked, %" PRIu64
		       " met by polling, %" PRIu64 " invalid",
		       info->nr_vcpus, info->nr_vcpus == 1 ? "" : "s", info->nr_vms,
		       info->nr_vms == 1 ? "" : "s", s->blocked, s->halts - s->blocked, s->invalid);
	printf("%s\n", s->halts ? "" : ": nothing to replay");
	if (s->halts)
		printf("  known of   windows %" PRIu64 ", wake-up latencies %" PRIu64
		       ", timers %" PRIu64 " halts\n",
		       s->known_windows, s->latencies, s->deadlines);
	if (s->gaps)
		printf("  gaps       %" PRIu64 " halts come after lost events\n", s->gaps);
	if (info->duration_ns)
		printf("  recorded   %s\n", DURATION(info->duration_ns));
	if (info->params.halt_poll_ns != TRACE_UNKNOWN_U32)
		printf("  setting    halt_poll_ns %" PRIu32 ", grow %" PRIu32
		       ", grow_start %" PRIu32 ", shrink %" PRIu32 "\n",
		       info->params.halt_poll_ns, info->params.grow, info->params.grow_start_ns,
		       info->params.shrink);
	if (info->damaged_frames)
		printf("  damaged    %" PRIu64 " parts left out\n", info->damaged_frames);
	if (info->lost)
		printf("  lost       %" PRIu64 " events\n", info->lost);
}

static const char *const kind_names[TRACE_EVENT_KINDS] = {"kvm_vcpu_wakeup",
							  "kvm_halt_poll_ns",
							  "HLT exits",
							  "other kvm_exit",
							  "kvm_entry",
							  "HLT exits to user space",
							  "other exits to user space",
							  "sched_waking",
							  "guest_halt_poll_ns",
							  "places with losses",
							  "other events"};

static void print_events(const struct seen *s, const struct trace_events *e)
{
	const struct windows *w = &s->windows;
	const char *between = "  events     ";

	for (uint32_t k = 0; k < TRACE_EVENT_KINDS; k++) {
		if (!e->count[k])
			continue;
		printf("%s%" PRIu64 " %s", between, e->count[k], kind_names[k]);
		between = ", ";
	}
	if (*between == ',')
		printf("\n");
	if (w->nr) {
		char vcpu[32] = "several vCPUs";

		if (!w->several && w->vcpu == TRACE_UNKNOWN_U32)
			snprintf(vcpu, sizeof(vcpu), "an unnamed CPU");
		else if (!w->several)
			snprintf(vcpu, sizeof(vcpu), "vCPU %" PRIu32, w->vcpu);
		printf("  window     %" PRIu64 " steps of %s%s, %" PRIu32 " to %" PRIu32
		       " ns; from %" PRIu32 " at first to %" PRIu32 " at last\n",
		       w->nr, vcpu, w->guest ? " (a guest's own)" : "", w->least_ns, w->most_ns,
		       w->first_ns, w->last_ns);
	}
	if (e->first_ns != VHALT_UNKNOWN_NS && e->last_ns != VHALT_UNKNOWN_NS)
		printf("  time       %s from first to last event\n",
		       DURATION(e->last_ns - e->first_ns));
	if (e->count[TRACE_EVENT_LOST] || e->unreadable || e->unknown || e->too_late)
		printf("  missing    %" PRIu64 " events lost in %" PRIu64 " places%s, %" PRIu64
		       " unreadable, %" PRIu64 " lines not known, %" PRIu64 " too late\n",
		       e->lost, e->count[TRACE_EVENT_LOST],
		       e->lost_uncounted ? " and an unknown number" : "", e->unreadable, e->unknown,
		       e->too_late);
}

static json_t *as_json(const struct seen *s, const struct stats_kernel *kernel)
{
	const struct trace_info *info = trace_reader_info(s->reader);
	const struct trace_events *e = trace_reader_events(s->reader);
	const struct windows *w = &s->windows;
	json_t *o = json_pack(
		"{s:s,s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:b,s:s,s:s}", "format",
		trace_reader_format(s->reader), "layout", e && e->layout ? e->layout : "", "halts",
		(json_int_t)s->halts, "blocked", (json_int_t)s->blocked, "invalid",
		(json_int_t)s->invalid, "gaps", (json_int_t)s->gaps, "known_windows",
		(json_int_t)s->known_windows, "vcpus", (json_int_t)info->nr_vcpus, "vms",
		(json_int_t)info->nr_vms, "lost", (json_int_t)(e ? e->lost : info->lost), "damaged",
		(json_int_t)info->damaged_frames, "replayable", s->halts > 0, "kernel",
		kernel->text, "kernel_why", kernel->why);

	if (!o || !e)
		return o;
	for (uint32_t k = 0; k < TRACE_EVENT_KINDS; k++)
		if (e->count[k])
			json_object_set_new(o, kind_names[k],
					    json_integer((json_int_t)e->count[k]));
	json_object_set_new(o, "unreadable", json_integer((json_int_t)e->unreadable));
	json_object_set_new(o, "unknown_lines", json_integer((json_int_t)e->unknown));
	if (w->nr)
		json_object_set_new(o, "window",
				    json_pack("{s:I,s:I,s:I,s:I,s:I}", "steps", (json_int_t)w->nr,
					      "least_ns", (json_int_t)w->least_ns, "most_ns",
					      (json_int_t)w->most_ns, "first_ns",
					      (json_int_t)w->first_ns, "last_ns",
					      (json_int_t)w->last_ns));
	return o;
}

static int open_seen(struct seen *s, const char *path, const struct trace_diag *diag)
{
	int err = trace_reader_open(&s->reader, path, diag);

	if (err)
		return err;
	s->diagnosis = diagnose_halts_create(NULL);
	if (s->diagnosis) {
		trace_reader_watch(s->reader,
				   &(struct trace_event_watch){.see = see, .context = &s->windows});
		return 0;
	}
	trace_reader_close(s->reader);
	return -ENOMEM;
}

static void close_seen(struct seen *s)
{
	diagnose_halts_destroy(s->diagnosis);
	trace_reader_close(s->reader);
}

int inspect_trace(const char *path, const char *name, json_t **object, struct findings *findings,
		  const struct trace_diag *diag)
{
	struct seen s = {.halts = 0};
	struct stats_kernel kernel;
	const struct trace_events *events;
	int err = open_seen(&s, path, diag);

	if (err)
		return err;
	err = read_all(&s);
	events = trace_reader_events(s.reader);
	/* A format that is no event trace has nothing without halts. */
	if (!err && s.no_halts && !events)
		err = -ENODATA;
	if (!err) {
		diagnose_guess_kernel(&kernel, trace_reader_info(s.reader), events);
		diagnose_halts_findings(s.diagnosis, findings);
	}
	if (!err && object) {
		*object = as_json(&s, &kernel);
		err = *object ? 0 : -ENOMEM;
	} else if (!err) {
		printf("%s: %s%s%s\n", name, trace_reader_format(s.reader),
		       events && events->layout ? ", " : "",
		       events && events->layout ? events->layout : "");
		printf("  kernel     %s%s%s%s\n", kernel.text[0] ? kernel.text : "not shown",
		       kernel.text[0] ? " (" : "", kernel.why, kernel.text[0] ? ")" : "");
		if (events)
			print_events(&s, events);
		print_counts(&s);
	}
	if (diagnose_halts_left_out(s.diagnosis))
		fprintf(stderr, "vhalt: %" PRIu64 " vCPUs beyond the first %u were not looked at\n",
			diagnose_halts_left_out(s.diagnosis), DIAGNOSE_VCPUS_MAX);
	close_seen(&s);
	return err;
}

static void add_setting(struct stats *stats, const char *name, uint32_t value)
{
	char text[16];

	if (value == TRACE_UNKNOWN_U32)
		return;
	snprintf(text, sizeof(text), "%" PRIu32, value);
	stats_add_setting(stats, "kvm", name, strlen(name), text, 0, false);
}

int lint_trace(const char *path, struct stats **stats, struct diagnose_context *context,
	       const struct trace_diag *diag)
{
	struct seen s = {.halts = 0};
	const struct trace_info *info;
	int err = open_seen(&s, path, diag);

	if (err)
		return err;
	err = read_all(&s);
	*stats = err ? NULL : stats_create();
	if (!err && !*stats)
		err = -ENOMEM;
	if (err)
		goto out;
	info = trace_reader_info(s.reader);
	add_setting(*stats, "halt_poll_ns", info->params.halt_poll_ns);
	add_setting(*stats, "halt_poll_ns_grow", info->params.grow);
	add_setting(*stats, "halt_poll_ns_grow_start", info->params.grow_start_ns);
	add_setting(*stats, "halt_poll_ns_shrink", info->params.shrink);
	if (info->params.halt_poll_ns != TRACE_UNKNOWN_U32)
		context->param_ns = info->params.halt_poll_ns;
	for (uint32_t vm = 0; vm < info->nr_vms; vm++)
		if (info->vms[vm].ceiling_ns != TRACE_UNKNOWN_U32 &&
		    info->vms[vm].ceiling_ns != context->param_ns)
			context->vm_ceiling_ns = info->vms[vm].ceiling_ns;
	context->tick_ns = diagnose_halts_shortest_tick(s.diagnosis);
out:
	close_seen(&s);
	return err;
}

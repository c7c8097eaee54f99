// SPDX-License-Identifier: GPL-2.0-only OR MIT
// What is said at the end of an event trace: losses, oddities, and why it may hold no halts.
#include "trace/event_say.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void event_say_at(struct trace_reader *reader, uint64_t place, const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (reader->format == &trace_format_text)
		trace_diag_line(&reader->diag, reader->input.name, place, "%s", text);
	else
		trace_diag_file(&reader->diag, reader->input.name, "record %" PRIu64 ": %s", place,
				text);
}

__attribute__((format(printf, 2, 3))) static void say(const struct event_story *story,
						      const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	trace_diag_file(&story->reader->diag, story->reader->input.name, "%s", text);
}

static const char *plural(uint64_t nr)
{
	return nr == 1 ? "" : "s";
}

static void say_losses(const struct event_story *story)
{
	const struct trace_events *e = story->events;
	char halts[120] = "";

	if (e->unknown_halts)
		snprintf(halts, sizeof(halts), "; %" PRIu64 " halt%s under way then: unknown",
			 e->unknown_halts, plural(e->unknown_halts));
	if (e->lost_uncounted)
		event_say_at(story->reader, e->lost_place,
			     "events were lost here%s: %" PRIu64 " counted, and an unknown number "
			     "in %" PRIu64 " place%s; nothing carries over a loss%s",
			     e->count[TRACE_EVENT_LOST] > 1 ? " first" : "", e->lost,
			     e->lost_uncounted, plural(e->lost_uncounted), halts);
	else if (e->count[TRACE_EVENT_LOST])
		event_say_at(story->reader, e->lost_place,
			     "%" PRIu64 " event%s lost in %" PRIu64 " place%s, here%s; nothing "
			     "carries over a loss%s",
			     e->lost, plural(e->lost), e->count[TRACE_EVENT_LOST],
			     plural(e->count[TRACE_EVENT_LOST]),
			     e->count[TRACE_EVENT_LOST] > 1 ? " first" : "", halts);
	if (e->overwritten)
		say(story,
		    "%" PRIu64 " earlier events were overwritten in the trace buffer before it "
		    "was read",
		    e->overwritten);
}

static void say_order(const struct event_story *story)
{
	const struct trace_events *e = story->events;

	if (e->out_of_order)
		say(story, "%" PRIu64 " event%s out of order, put in place", e->out_of_order,
		    plural(e->out_of_order));
	if (e->too_late)
		say(story,
		    "%" PRIu64 " event%s left out: too far out of order (several traces in one, or "
		    "the buffers of several CPUs one behind the other)",
		    e->too_late, plural(e->too_late));
	if (e->overlaps)
		say(story,
		    "%" PRIu64 " halt%s begin%s before the one before it ended: the trace's clock "
		    "does not measure time, or events are in it twice; run times there are unknown",
		    e->overlaps, plural(e->overlaps), e->overlaps == 1 ? "s" : "");
	if (story->threads_left_out)
		say(story, "%" PRIu64 " events of too many threads left out",
		    story->threads_left_out);
}

static void say_lines(const struct event_story *story)
{
	const struct trace_events *e = story->events;

	if (e->unknown)
		event_say_at(story->reader, e->unknown_place,
			     "not understood; %" PRIu64 " such line%s in all, left out", e->unknown,
			     plural(e->unknown));
	if (e->hints & TRACE_HINT_CUT)
		event_say_at(story->reader, e->lines, "the last line is cut off");
}

/* HLT exits that user space handles are no halts the kernel polls for. */
static void say_user_halts(const struct event_story *story)
{
	const struct trace_events *e = story->events;

	if (e->count[TRACE_EVENT_USER_HLT])
		say(story,
		    "%" PRIu64 " of %" PRIu64 " HLT exits go on to user space (KVM_EXIT_HLT) and "
		    "never reach the kernel's halt polling: they are no halts to poll for",
		    e->count[TRACE_EVENT_USER_HLT],
		    e->count[TRACE_EVENT_HLT] > e->count[TRACE_EVENT_USER_HLT]
			    ? e->count[TRACE_EVENT_HLT]
			    : e->count[TRACE_EVENT_USER_HLT]);
}

static void say_limits(const struct event_story *story)
{
	const struct trace_events *e = story->events;

	if (!e->count[TRACE_EVENT_WINDOW])
		say(story, "no window changes (kvm_halt_poll_ns) in it: the window in force during "
			   "a halt is unknown");
	if (e->nameless)
		say(story,
		    "%" PRIu64 " KVM event%s without a thread id left out: whose they are is "
		    "unknown",
		    e->nameless, plural(e->nameless));
	if (story->reader->info.nr_vcpus > 1 && !(e->hints & TRACE_HINT_TGID))
		say(story, "which threads are one VM is not in it: each is taken for a VM of its "
			   "own (trace with option record-tgid, or print perf's with -F +pid)");
}

/* Why there is nothing to replay, as precisely as the trace allows. */
static void say_no_halts(const struct event_story *story)
{
	const struct trace_events *e = story->events;
	uint64_t exits = e->count[TRACE_EVENT_EXIT] + e->count[TRACE_EVENT_ENTRY] +
			 e->count[TRACE_EVENT_USER];

	if (e->count[TRACE_EVENT_WAKEUP] && e->nameless)
		say(story,
		    "cannot be replayed: %" PRIu64 " wake-up%s (kvm_vcpu_wakeup) without a thread "
		    "id, so whose halts they were is unknown; the task column is missing",
		    e->count[TRACE_EVENT_WAKEUP], plural(e->count[TRACE_EVENT_WAKEUP]));
	else if (e->count[TRACE_EVENT_WINDOW])
		say(story,
		    "halts cannot be replayed: %" PRIu64 " window change%s (kvm_halt_poll_ns), but "
		    "no wake-ups (kvm_vcpu_wakeup), and only these say how long a vCPU halted; "
		    "trace both",
		    e->count[TRACE_EVENT_WINDOW], plural(e->count[TRACE_EVENT_WINDOW]));
	else if (e->count[TRACE_EVENT_USER_HLT] >= e->count[TRACE_EVENT_HLT] &&
		 e->count[TRACE_EVENT_USER_HLT])
		say(story, "nothing to replay: user space handles every halt in it");
	else if (e->count[TRACE_EVENT_HLT])
		say(story,
		    "halts cannot be replayed: %" PRIu64 " HLT exit%s, but no wake-ups "
		    "(kvm_vcpu_wakeup), and only these say that the kernel itself handled a halt "
		    "and how long it was",
		    e->count[TRACE_EVENT_HLT], plural(e->count[TRACE_EVENT_HLT]));
	else if (e->count[TRACE_EVENT_GUEST])
		say(story, "halts cannot be replayed: only a guest's own window "
			   "(guest_halt_poll_ns); trace kvm_vcpu_wakeup on the host");
	else if (exits)
		say(story, "halts cannot be replayed: KVM exits and entries, but neither halts nor "
			   "wake-ups (kvm_vcpu_wakeup)");
	else if (e->unreadable && !e->count[TRACE_EVENT_OTHER])
		say(story, "no sound event in it");
	else
		say(story,
		    "halts cannot be replayed: none of its %" PRIu64 " events is KVM's; trace "
		    "kvm:kvm_vcpu_wakeup and kvm:kvm_halt_poll_ns",
		    e->count[TRACE_EVENT_OTHER]);
}

void event_say(const struct event_story *story)
{
	say_losses(story);
	say_order(story);
	say_lines(story);
	say_user_halts(story);
	if (story->halts)
		say_limits(story);
	else
		say_no_halts(story);
}

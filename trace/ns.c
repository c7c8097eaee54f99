// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Reading plain lists of halts: "T_ns [run_ns [deadline_ns|-]]" a line, one vCPU.
#include "trace/ns.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/reader_format.h"
#include "util/returns.h"

/*
 * T is the time to the wake event itself, so a halt is delivered as one that polling met: not
 * WAITED, halt_ns = T, no wake-up latency and no window known. Halts follow each other: each begins
 * after its run time (0 where it has none) at the end of the one before it.
 */

enum {
	BATCH = 4096,	   /* halts at a time */
	LINE_BYTES = 4096, /* a longer line is bad */
};

struct ns_reader {
	struct trace_halt halts[BATCH];
	struct trace_vm vm;
	struct trace_vcpu vcpu;
	uint64_t line, end_ns;
	uint64_t sound, bad; /* lines */
	bool gap;	     /* a bad line lies between here and the last halt */
};

/* Is the word that is wrong at least some sort of number: -5, 1.5, 1,000, or one too many? */
static bool is_number_like(const char *value)
{
	return strpbrk(value, "0123456789") && !value[strspn(value, "0123456789+-.,eE")];
}

/* "# cat /sys/module/kvm/parameters/halt_poll_ns*" above numbers, "0.2 CPU 0/KVM kvm:kvm_entry". */
static bool is_of_another(const uint8_t *bytes, size_t nr)
{
	return memmem(bytes, nr, "/sys/", 5) || memmem(bytes, nr, "/proc/", 6) ||
	       memmem(bytes, nr, "kvm:", 4);
}

/*
 * Text is a list of halts if more of its lines begin with a number than do not (the first line
 * decides a tie): a list with mangled lines is still one, other text with some numbers is not.
 */
static bool probe(const uint8_t *bytes, size_t nr, bool whole)
{
	const char *text = (const char *)bytes, *end = text + nr;
	size_t numbers = 0, others = 0;
	bool others_first = false;
	struct ns_line line;

	if (memchr(bytes, '\0', nr) || is_of_another(bytes, nr) || returns_end_lines(bytes, nr))
		return false;
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		enum ns_line_kind kind;

		if (!newline && !whole)
			break;
		kind = ns_line_parse(&line, text, (size_t)((newline ? newline : end) - text));
		if (kind == NS_LINE_BAD && !is_number_like(line.value))
			others++;
		else
			numbers += kind != NS_LINE_EMPTY;
		others_first |= others && !numbers;
		text = newline ? newline + 1 : end;
	}
	/* Comments alone do not make one before all of the file was seen. */
	if (!numbers && !others)
		return whole;
	return numbers > others || (numbers == others && !others_first);
}

static void leave_out(struct trace_reader *reader, const char *value, const char *why)
{
	struct ns_reader *r = reader->state;

	trace_diag_line(&reader->diag, reader->input.name, r->line, "\"%s\": %s; line left out",
			value, why);
	r->bad++;
	r->gap = true;
	reader->info.damaged_frames++;
}

static void add_halt(struct trace_reader *reader, size_t *used, const struct ns_line *line)
{
	struct ns_reader *r = reader->state;
	uint64_t run_ns = line->run_ns != VHALT_UNKNOWN_NS ? line->run_ns : 0, start_ns, end_ns;

	if (__builtin_add_overflow(r->end_ns, run_ns, &start_ns) ||
	    __builtin_add_overflow(start_ns, line->t_ns, &end_ns)) {
		leave_out(reader, "", "the sum of all times exceeds 2^64 ns");
		return;
	}
	r->halts[(*used)++] = (struct trace_halt){
		.start_ns = start_ns,
		.halt_ns = line->t_ns,
		.run_ns = line->run_ns,
		.deadline_ns = line->deadline_ns,
		.latency_ns = TRACE_UNKNOWN_U32,
		.window_ns = TRACE_UNKNOWN_U32,
		.flags = r->gap ? TRACE_HALT_GAP : 0,
	};
	r->end_ns = end_ns;
	r->gap = false;
	r->sound++;
}

static int finish(struct trace_reader *reader)
{
	const struct ns_reader *r = reader->state;
	const struct reader_input *input = &reader->input;

	if (input->error) {
		trace_diag_line(&reader->diag, input->name, r->line + 1, "read: %s",
				strerror(-input->error));
		return -EIO;
	}
	reader->info.duration_ns = r->end_ns;
	if (r->sound)
		return 0;
	trace_diag_file(&reader->diag, input->name,
			"no halts in it: %" PRIu64 " lines, %" PRIu64 " of them bad", r->line,
			r->bad);
	return -ENODATA;
}

static ssize_t next(struct trace_reader *reader, const struct trace_halt **halts)
{
	struct ns_reader *r = reader->state;
	size_t used = 0, nr;
	const char *text;
	struct ns_line line;

	*halts = r->halts;
	while (used < BATCH &&
	       (text = reader_input_line(&reader->input, LINE_BYTES, &nr, NULL))) {
		r->line++;
		if (nr > LINE_BYTES) {
			leave_out(reader, "", "line longer than 4096 bytes");
			continue;
		}
		switch (ns_line_parse(&line, text, nr)) {
		case NS_LINE_HALT: add_halt(reader, &used, &line); break;
		case NS_LINE_BAD: leave_out(reader, line.value, line.why); break;
		case NS_LINE_EMPTY: break;
		}
	}
	return used ? (ssize_t)used : finish(reader);
}

static int open_ns(struct trace_reader *reader)
{
	struct ns_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->vm = (struct trace_vm){0, TRACE_UNKNOWN_U32, "list"};
	r->vcpu = (struct trace_vcpu){0, 0, TRACE_UNKNOWN_U32, "list"};
	reader->state = r;
	reader->info.vms = &r->vm;
	reader->info.nr_vms = 1;
	reader->info.vcpus = &r->vcpu;
	reader->info.nr_vcpus = 1;
	return 0;
}

static void close_ns(struct trace_reader *reader)
{
	free(reader->state);
}

const struct trace_format trace_format_ns = {
	.name = "ns",
	.summary = "text, a halt a line: T_ns [run_ns [deadline_ns|-]]",
	.probe = probe,
	.open = open_ns,
	.next = next,
	.close = close_ns,
};

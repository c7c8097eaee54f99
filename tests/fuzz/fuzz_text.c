// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Fuzz target: event traces as text; lines of any bytes, and lines of every layout put together.
#include <stdio.h>

#include "tests/fuzz/fuzz_file.h"

#include "trace/text_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nr);

/* --- any bytes -------------------------------------------------------------------------------- */

static enum text_kind parse_line(struct text_line *line, const char *text, size_t nr)
{
	/* A copy of just the length, for the sanitizer to see a step too far. */
	char *copy = malloc(nr ? nr : 1);
	enum text_kind kind;

	if (!copy)
		abort();
	memcpy(copy, text, nr);
	kind = text_line_parse(line, copy, nr);
	if ((kind == TEXT_EVENT || kind == TEXT_LOST) && line->event.kind >= TRACE_EVENT_OTHER)
		abort();
	if (kind == TEXT_BAD && !line->why)
		abort();
	if (kind != TEXT_EMPTY && strlen(line->event.name) >= sizeof(line->event.name))
		abort();
	if (line->event.time_ns != VHALT_UNKNOWN_NS && line->event.time_ns > INT64_MAX)
		abort();
	free(copy);
	return kind;
}

/* Halts of one vCPU never go back in time, within a batch or from one to the next. */
static uint64_t *ends;
static size_t nr_ends;

static void check_order(const struct trace_info *info, const struct trace_halt *halts, size_t nr)
{
	if (info->nr_vcpus > nr_ends) {
		ends = realloc(ends, info->nr_vcpus * sizeof(*ends));
		if (!ends)
			abort();
		memset(ends + nr_ends, 0, (info->nr_vcpus - nr_ends) * sizeof(*ends));
		nr_ends = info->nr_vcpus;
	}
	for (size_t i = 0; i < nr; i++) {
		if (halts[i].start_ns < ends[halts[i].vcpu] || halts[i].halt_ns > INT64_MAX)
			abort();
		ends[halts[i].vcpu] = halts[i].start_ns;
	}
}

static void read_text(const char *text, size_t nr)
{
	static const char head[] = "# tracer: nop\n";
	char *whole = malloc(nr + sizeof(head));

	if (!whole)
		abort();
	memcpy(whole, head, sizeof(head) - 1);
	memcpy(whole + sizeof(head) - 1, text, nr);
	if (nr_ends)
		memset(ends, 0, nr_ends * sizeof(*ends));
	fuzz_read(fuzz_file((const uint8_t *)whole, nr + sizeof(head) - 1), check_order);
	free(whole);
}

static void fuzz_bytes(const char *text, size_t nr)
{
	const char *end = text + nr, *at = text;
	struct text_line line;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		parse_line(&line, at, (size_t)((newline ? newline : end) - at));
		at = newline ? newline + 1 : end;
	}
	read_text(text, nr);
}

/* --- lines put together: the parser must find what was put in --------------------------------- */

struct input {
	const uint8_t *at, *end;
};

static unsigned draw(struct input *in, unsigned below)
{
	unsigned value = in->at < in->end ? *in->at++ : 0;

	return value % below;
}

static uint32_t draw_u32(struct input *in)
{
	return draw(in, 256) | draw(in, 256) << 8 | draw(in, 256) << 16 | draw(in, 256) << 24;
}

/* A thread name of any bytes but those no kernel lets pass. */
static void draw_name(struct input *in, char name[16])
{
	static const char *const usual[] = {"CPU 0/KVM", "fc_vcpu 1", "a-b-12", "1: kvm_exit:",
					    "[0] 1.5:",	 "x 12",      "(7)",	"..."};
	unsigned nr = draw(in, 16);

	if (draw(in, 2)) {
		snprintf(name, 16, "%s", usual[draw(in, 8)]);
		return;
	}
	for (unsigned i = 0; i < nr; i++) {
		char c = (char)draw(in, 256);

		name[i] = c == '\n' || c == '\r' || !c ? '_' : c;
	}
	name[nr] = '\0';
}

struct made {
	uint32_t tid, kind, flags, new_ns, old_ns, vcpu;
	uint64_t time_ns, ns;
};

static void print_time(struct input *in, struct made *m, char *text, size_t room)
{
	uint64_t ns = m->time_ns;

	switch (draw(in, 4)) {
	case 0:
		m->time_ns = ns / 1000 * 1000;
		snprintf(text, room, "%llu.%06llu:", (unsigned long long)(ns / 1000000000),
			 (unsigned long long)(ns % 1000000000 / 1000));
		break;
	case 1:
		snprintf(text, room, "%llu.%09llu:", (unsigned long long)(ns / 1000000000),
			 (unsigned long long)(ns % 1000000000));
		break;
	case 2:
		m->time_ns = ns / 1000 * 1000;
		snprintf(text, room, "%lluus :", (unsigned long long)(ns / 1000));
		break;
	default: snprintf(text, room, "%llu:", (unsigned long long)ns); break;
	}
}

static void print_payload(const struct made *m, char *text, size_t room)
{
	if (m->kind == TRACE_EVENT_WAKEUP)
		snprintf(text, room, "kvm_vcpu_wakeup: %s time %llu ns, polling %s",
			 m->flags & TRACE_EVENT_WAITED ? "wait" : "poll", (unsigned long long)m->ns,
			 m->flags & TRACE_EVENT_INVALID ? "invalid" : "valid");
	else
		snprintf(text, room, "kvm_halt_poll_ns: vcpu %u: halt_poll_ns %u (%s %u)", m->vcpu,
			 m->new_ns, m->flags & TRACE_EVENT_GROW ? "grow" : "shrink", m->old_ns);
}

/* Return: length of the line in @text, room for 400. */
static size_t make_line(struct input *in, struct made *m, char *text)
{
	static const char *const quotes[] = {"", "> ", "> > ", "[   12.345678] ", ">"};
	static const char *const flags[] = {"", ".... ", "d..1. ", "dNh3.1. "};
	char name[16], time[48], payload[160];
	unsigned layout = draw(in, 3), quote = draw(in, 5), flag = draw(in, 4), cpu = draw(in, 256);

	m->tid = 1 + draw_u32(in) % 4194303;
	m->kind = draw(in, 2) ? TRACE_EVENT_WAKEUP : TRACE_EVENT_WINDOW;
	m->flags = m->kind == TRACE_EVENT_WAKEUP ? draw(in, 4) : draw(in, 2) * TRACE_EVENT_GROW;
	m->new_ns = draw_u32(in);
	m->old_ns = draw_u32(in);
	m->vcpu = draw_u32(in);
	m->time_ns = ((uint64_t)draw_u32(in) << 32 | draw_u32(in)) >> 2;
	m->ns = (uint64_t)draw_u32(in) << draw(in, 31);
	draw_name(in, name);
	print_time(in, m, time, sizeof(time));
	print_payload(m, payload, sizeof(payload));
	switch (layout) {
	case 0:
		return (size_t)snprintf(text, 400, "%s%16s-%-7u [%03u] %s%s %s", quotes[quote],
					name, m->tid, cpu, flags[flag], time, payload);
	case 1:
		return (size_t)snprintf(text, 400, "%s%16s %5u/%-5u [%03u] %s %s:%s", quotes[quote],
					name, m->tid, m->tid, cpu, time, "kvm", payload);
	default:
		return (size_t)snprintf(text, 400, "%s%8.8s-%-7u %3ud.h1. %s %s", quotes[quote],
					name, m->tid, cpu, time, payload);
	}
}

static void check_made(const struct made *m, const struct text_line *line, enum text_kind kind)
{
	const struct trace_event *e = &line->event;

	if (kind != TEXT_EVENT || e->kind != m->kind || e->tid != m->tid ||
	    e->time_ns != m->time_ns || e->flags != m->flags)
		abort();
	if (m->kind == TRACE_EVENT_WAKEUP && e->ns != m->ns)
		abort();
	if (m->kind == TRACE_EVENT_WINDOW &&
	    (e->vcpu != m->vcpu || e->new_ns != m->new_ns || e->old_ns != m->old_ns))
		abort();
}

/* One line is put together and found again; then wrapped at each blank, cut and changed. */
static void fuzz_lines(struct input *in)
{
	char text[401], file[8 * 402];
	size_t used = 0;

	while (in->at < in->end && used + sizeof(text) < sizeof(file)) {
		struct text_line line;
		struct made m = {0};
		size_t nr = make_line(in, &m, text), change = draw(in, 4);

		check_made(&m, &line, parse_line(&line, text, nr));
		if (change == 1)
			for (size_t i = 40; i < nr; i += 40)
				if (text[i] == ' ')
					text[i] = '\n';
		if (change == 2)
			nr -= draw(in, (unsigned)nr);
		if (change == 3)
			text[draw(in, (unsigned)nr)] = (char)draw(in, 256);
		memcpy(file + used, text, nr);
		used += nr;
		file[used++] = '\n';
	}
	read_text(file, used);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nr)
{
	struct input in = {data + 1, data + nr};

	if (!nr)
		return 0;
	if (*data & 1)
		fuzz_lines(&in);
	else
		fuzz_bytes((const char *)data + 1, nr - 1);
	return 0;
}

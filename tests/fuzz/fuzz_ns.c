// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Fuzz target: text as a list of halts; every line on its own, then all as a file.
#include "tests/fuzz/fuzz_file.h"

#include "trace/ns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nr);

static void parse_line(const uint8_t *text, size_t nr)
{
	/* A copy of just the length, for the sanitizer to see a step too far. */
	char *copy = malloc(nr ? nr : 1);
	struct ns_line line;

	if (!copy)
		abort();
	memcpy(copy, text, nr);
	switch (ns_line_parse(&line, copy, nr)) {
	case NS_LINE_HALT:
		if (line.t_ns > INT64_MAX)
			abort();
		break;
	case NS_LINE_BAD:
		if (!line.why || strlen(line.value) >= sizeof(line.value))
			abort();
		break;
	case NS_LINE_EMPTY: break;
	}
	free(copy);
}

/* Halts follow each other without a hole that is not run time. */
static void check_order(const struct trace_info *info, const struct trace_halt *halts, size_t nr)
{
	(void)info;
	for (size_t i = 1; i < nr; i++) {
		const struct trace_halt *h = &halts[i];
		uint64_t run_ns = h->run_ns == VHALT_UNKNOWN_NS ? 0 : h->run_ns;

		if (h->start_ns != halts[i - 1].start_ns + halts[i - 1].halt_ns + run_ns)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nr)
{
	const uint8_t *end = data + nr, *at = data;

	while (at < end) {
		const uint8_t *newline = memchr(at, '\n', (size_t)(end - at));

		parse_line(at, (size_t)((newline ? newline : end) - at));
		at = newline ? newline + 1 : end;
	}
	fuzz_read(fuzz_file(data, nr), check_order);
	return 0;
}

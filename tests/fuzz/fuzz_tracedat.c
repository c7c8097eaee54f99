// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Fuzz target: trace.dat files; any bytes, sound headers with any pages, and a sound file changed.
#include <stdarg.h>

#include "tests/fuzz/fuzz_file.h"
#include "tests/unit/tracedat_maker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nr);

static const struct made_name names[] = {{101, "CPU 0/KVM"}, {102, "CPU 1/KVM"}, {0, NULL}};

static const struct made_event events[] = {
	{.time_ns = 1000000, .kind = TRACE_EVENT_HLT, .tid = 101},
	{.time_ns = 1050000, .kind = TRACE_EVENT_WAKING, .tid = 102, .vcpu = 101},
	{.time_ns = 1060000, .kind = TRACE_EVENT_WINDOW, .tid = 101, .new_ns = 10000},
	{.time_ns = 1061000, .kind = TRACE_EVENT_WAKEUP, .tid = 101, .ns = 60000, .flags = 1},
	{.time_ns = 9061000, .kind = TRACE_EVENT_WAKEUP, .tid = 101, .ns = 5000, .lost = 7},
};

enum { NR_EVENTS = sizeof(events) / sizeof(events[0]) };

static void read_made(const struct made *m)
{
	fuzz_read(fuzz_file((const uint8_t *)m->data, m->nr), NULL);
}

/* Sound headers, and the input as the pages of one CPU: a page's own header and what is in it. */
static void fuzz_pages(const uint8_t *data, size_t nr)
{
	struct made m = {0};
	size_t offset;

	tracedat_headers(&m, names, 1);
	offset = (m.nr + 16 + TRACEDAT_PAGE_BYTES - 1) / TRACEDAT_PAGE_BYTES * TRACEDAT_PAGE_BYTES;
	tracedat_u64(&m, offset);
	tracedat_u64(&m, TRACEDAT_PAGE_BYTES);
	while (m.nr < offset)
		made_bytes(&m, "", 1);
	tracedat_u64(&m, 1000);
	tracedat_u64(&m, nr < TRACEDAT_DATA_BYTES ? nr : TRACEDAT_DATA_BYTES);
	made_bytes(&m, data, nr < TRACEDAT_DATA_BYTES ? nr : TRACEDAT_DATA_BYTES);
	while (m.nr < offset + TRACEDAT_PAGE_BYTES)
		made_bytes(&m, "", 1);
	read_made(&m);
	free(m.data);
}

/* A sound file; each four bytes of the input are a place and what is put there. */
static void fuzz_changes(const uint8_t *data, size_t nr)
{
	struct made m = {0};

	made_tracedat(&m, events, NR_EVENTS, names, 2);
	for (; nr >= 4; data += 4, nr -= 4) {
		size_t at = (size_t)(data[0] | data[1] << 8) % m.nr;

		m.data[at] = (char)(data[3] & 1 ? data[2] : m.data[at] ^ data[2]);
		if (data[3] == 2)
			m.nr = at + 1;
	}
	read_made(&m);
	free(m.data);
}

static void fuzz_bytes(const uint8_t *data, size_t nr)
{
	struct made m = {0};

	made_bytes(&m, "\x17\x08\x44tracing", 10);
	made_bytes(&m, data, nr);
	read_made(&m);
	free(m.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nr)
{
	if (!nr)
		return 0;
	switch (data[0] % 3) {
	case 0: fuzz_bytes(data + 1, nr - 1); break;
	case 1: fuzz_pages(data + 1, nr - 1); break;
	default: fuzz_changes(data + 1, nr - 1); break;
	}
	return 0;
}

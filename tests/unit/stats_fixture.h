/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Statistics from text in a test, with what the reader reported. */
#ifndef VHALT_TESTS_STATS_FIXTURE_H
#define VHALT_TESTS_STATS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "stats/internal.h"
#include "stats/summary.h"

/** What reading gave. */
struct read_stats {
	struct stats *stats; /* NULL: refused */
	struct stats_summary *sums;
	int error;
	unsigned nr_reports;
	char reports[8][256];
};

static inline void keep_report(void *context, const char *text)
{
	struct read_stats *r = context;

	if (r->nr_reports < 8)
		snprintf(r->reports[r->nr_reports], sizeof(r->reports[0]), "%s", text);
	r->nr_reports++;
}

static inline struct read_stats read_bytes(const void *bytes, size_t nr)
{
	struct read_stats r = {.stats = NULL};
	const struct trace_diag diag = {keep_report, &r};
	void *copy = malloc(nr ? nr : 1); /* of just the length, for the sanitizer */

	memcpy(copy, bytes, nr);
	r.error = stats_read_bytes(&r.stats, copy, nr, "f", &diag);
	if (!r.error)
		r.sums = stats_summarise(r.stats);
	free(copy);
	return r;
}

static inline struct read_stats read_text(const char *text)
{
	return read_bytes(text, strlen(text));
}

static inline void read_done(struct read_stats *r)
{
	free(r->sums);
	stats_destroy(r->stats);
}

/* Is a file of these bytes one of statistics? */
static inline bool recognised(const void *bytes, size_t nr)
{
	int fd = memfd_create("recognised", 0), found;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, nr), (ssize_t)nr);
	found = stats_recognise(fd);
	close(fd);
	assert_true(found >= 0);
	return found;
}

/* The total of @name in @scope; fails the test where there is none. */
static inline uint64_t total(const struct read_stats *r, uint32_t scope, const char *name)
{
	const struct stats_value *v = stats_find(r->stats, scope, name);

	if (!v)
		fail_msg("no %s in scope %u", name, scope);
	return v->total;
}

static inline const char *setting(const struct read_stats *r, const char *module, const char *name)
{
	const struct stats_setting *s = stats_setting(r->stats, module, name);

	return s ? s->value : "(none)";
}

/* Was something like @text reported? */
static inline void assert_reported(const struct read_stats *r, const char *text)
{
	for (unsigned i = 0; i < r->nr_reports && i < 8; i++)
		if (strstr(r->reports[i], text))
			return;
	fail_msg("\"%s\" was not reported; %u reports, the first: \"%s\"", text, r->nr_reports,
		 r->reports[0]);
}

#endif

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Reading scenario files, and the configuration of a cell of their table.
#include "sim/scenario.h"

#include <errno.h>
#include <ini.h>
#include <string.h>

#include "sim/metric.h"
#include "util/units.h"
#include "util/utf8.h"

enum { SEEDS_DEFAULT = 5, SEEDS_MOST = 1000 };

/* libinih does not tell its handler the line: the reader below counts them. */
struct reading {
	FILE *file;
	const char *name;
	struct sim_scenario *scenario;
	char *error;
	uint32_t line;
	bool failed;
};

static int fail_at(struct reading *r, uint32_t line, const char *what)
{
	if (!r->failed)
		snprintf(r->error, SIM_ERROR_BYTES, "%.100s:%u: %.450s", r->name, line, what);
	r->failed = true;
	return 0;
}

static int fail(struct reading *r, const char *what)
{
	return fail_at(r, r->line, what);
}

/* Reads up to a newline, as fgets() does, but tells of NUL bytes. Return: length. */
static size_t read_line(FILE *file, char *line, int size)
{
	int n = 0, c = 0;

	while (n < size - 1 && c != '\n' && (c = getc(file)) != EOF)
		line[n++] = (char)c;
	line[n] = '\0';
	return (size_t)n;
}

/* Titles and labels go to terminals and into JSON, and so do mistakes. */
static bool is_text(const char *line, size_t length)
{
	const uint8_t *p = (const uint8_t *)line, *end = p + length;
	size_t step;

	for (; p < end; p += step) {
		step = *p == '\t' || *p == '\n' || (*p == '\r' && (p + 1 == end || p[1] == '\n'))
			       ? 1
			       : utf8_printable(p, (size_t)(end - p));
		if (!step)
			return false;
	}
	return true;
}

static char *next_line(char *line, int size, void *stream)
{
	struct reading *r = stream;
	size_t length = r->failed ? 0 : read_line(r->file, line, size);

	if (!length)
		return NULL;
	r->line++;
	if (line[length - 1] != '\n' && !feof(r->file)) {
		fail(r, "a line of more than 195 characters");
		return NULL;
	}
	if (!is_text(line, length)) {
		fail(r, "not text (UTF-8 without control characters)");
		return NULL;
	}
	if (strlen(line) && (line[0] == ' ' || line[0] == '\t') &&
	    strspn(line, " \t\r\n") < strlen(line)) {
		fail(r, "a line that begins with a blank (values cannot be continued)");
		return NULL;
	}
	return line;
}

static bool copy(char *to, size_t bytes, const char *from)
{
	if (strlen(from) >= bytes)
		return false;
	memcpy(to, from, strlen(from) + 1);
	return true;
}

static int set_scenario(struct reading *r, const char *name, const char *value)
{
	struct sim_scenario *s = r->scenario;

	if (!strcmp(name, "title"))
		return copy(s->title, sizeof(s->title), value) || fail(r, "title: too long");
	if (!strcmp(name, "note"))
		return copy(s->note, sizeof(s->note), value) || fail(r, "note: too long");
	if (strcmp(name, "seeds"))
		return fail(r, "[scenario] has title, note and seeds, nothing else");
	if (units_parse_u64(value, &s->seeds) || !s->seeds || s->seeds > SEEDS_MOST)
		return fail(r, "seeds: not a whole number of 1 to 1000");
	return 1;
}

static int set_parameter(struct reading *r, const char *section, const char *name,
			 const char *value)
{
	char key[2 * SIM_KEY_BYTES], message[SIM_ERROR_BYTES];

	snprintf(key, sizeof(key), "%.30s.%.60s", section, name);
	if (sim_config_set(&r->scenario->base, key, value, message))
		return fail(r, message);
	return 1;
}

static int add_override(struct reading *r, struct sim_override *list, uint32_t *nr, const char *key,
			const char *value)
{
	struct sim_override *o = &list[*nr];

	if (*nr == SIM_OVERRIDES_MAX)
		return fail(r, "more than 24 values in a row or column");
	if (!copy(o->key, sizeof(o->key), key) || !copy(o->value, sizeof(o->value), value))
		return fail(r, "a key or value that is too long");
	for (uint32_t i = 0; i < *nr; i++)
		if (!strcmp(list[i].key, key))
			return fail(r, "given twice");
	o->line = r->line;
	(*nr)++;
	return 1;
}

static int set_line(struct reading *r, struct sim_line *line, bool row, const char *name,
		    const char *value)
{
	if (row && !strcmp(name, "score"))
		return copy(line->score, sizeof(line->score), value) || fail(r, "score: too long");
	if (row && !strncmp(name, "published.", 10))
		return add_override(r, line->published, &line->nr_published, name + 10, value);
	return add_override(r, line->overrides, &line->nr_overrides, name, value);
}

/* The row or column called @label, a new one if it is new; NULL: there are too many. */
static struct sim_line *line_of(struct reading *r, struct sim_line *lines, uint32_t *nr,
				const char *label)
{
	for (uint32_t i = 0; i < *nr; i++)
		if (!strcmp(lines[i].label, label))
			return &lines[i];
	if (*nr == SIM_LINES_MAX || !*label || !copy(lines[*nr].label, SIM_LABEL_BYTES, label))
		return NULL;
	lines[*nr].line = r->line;
	return &lines[(*nr)++];
}

static int set_in_table(struct reading *r, const char *section, const char *name, const char *value)
{
	struct sim_scenario *s = r->scenario;
	bool row = !strncmp(section, "row ", 4);
	struct sim_line *line = row ? line_of(r, s->rows, &s->nr_rows, section + 4)
				    : line_of(r, s->columns, &s->nr_columns, section + 7);

	if (!line)
		return fail(r,
			    "more than 24 rows or columns, or a label of more than 38 characters");
	return set_line(r, line, row, name, value);
}

static int take(void *user, const char *section, const char *name, const char *value)
{
	struct reading *r = user;

	if (r->failed)
		return 0;
	if (!strcmp(section, "scenario"))
		return set_scenario(r, name, value);
	if (!strcmp(section, "run") || !strcmp(section, "host"))
		return set_parameter(r, section, name, value);
	if (!strncmp(section, "vm ", 3)) {
		if (!sim_config_kind(&r->scenario->base, section + 3, true))
			return fail(r, "more than 8 kinds of VM, or a name that is none");
		return set_parameter(r, section + 3, name, value);
	}
	if (!strncmp(section, "row ", 4) || !strncmp(section, "column ", 7))
		return set_in_table(r, section, name, value);
	return fail(r, "no such section ([scenario], [run], [host], [vm NAME], [column NAME], "
		       "[row NAME])");
}

static void default_lines(struct sim_scenario *s)
{
	if (!s->nr_rows)
		snprintf(s->rows[s->nr_rows++].label, SIM_LABEL_BYTES, "all");
	if (!s->nr_columns)
		snprintf(s->columns[s->nr_columns++].label, SIM_LABEL_BYTES, "as given");
	for (uint32_t i = 0; i < s->nr_rows; i++)
		if (!*s->rows[i].score)
			snprintf(s->rows[i].score, SIM_KEY_BYTES, "%s.rate",
				 s->base.nr_kinds ? s->base.vm[0].name : "host");
	if (!s->seeds)
		s->seeds = SEEDS_DEFAULT;
}

static int check_published(struct reading *r, const struct sim_line *row)
{
	const struct sim_scenario *s = r->scenario;

	for (uint32_t p = 0; p < row->nr_published; p++) {
		bool known = false;

		for (uint32_t c = 0; c < s->nr_columns; c++)
			known |= !strcmp(s->columns[c].label, row->published[p].key);
		if (!known)
			return fail_at(r, row->published[p].line, "published: no such column");
	}
	return 1;
}

static int check_table(struct reading *r)
{
	struct sim_scenario *s = r->scenario;
	struct sim_metric_ref ref;
	struct sim_config config;
	char message[SIM_ERROR_BYTES];

	for (uint32_t i = 0; i < s->nr_rows; i++) {
		if (sim_metric_find(&s->base, s->rows[i].score, &ref))
			return fail_at(r, s->rows[i].line,
				       "score: no such metric (KIND.NAME or host.NAME)");
		if (!check_published(r, &s->rows[i]))
			return 0;
		for (uint32_t c = 0; c < s->nr_columns; c++)
			if (sim_scenario_cell(s, i, c, NULL, 0, &config, message))
				return fail_at(r, s->rows[i].line, message);
	}
	return 1;
}

/* Each override for itself first, so that the message names its own line. */
static int check_overrides(struct reading *r, const struct sim_line *lines, uint32_t nr)
{
	char message[SIM_ERROR_BYTES];
	struct sim_config config;

	for (uint32_t i = 0; i < nr; i++) {
		config = r->scenario->base;
		for (uint32_t o = 0; o < lines[i].nr_overrides; o++)
			if (sim_config_set(&config, lines[i].overrides[o].key,
					   lines[i].overrides[o].value, message))
				return fail_at(r, lines[i].overrides[o].line, message);
	}
	return 1;
}

int sim_scenario_read(FILE *file, const char *name, struct sim_scenario *s,
		      char error[SIM_ERROR_BYTES])
{
	struct reading r = {.file = file, .name = name, .scenario = s, .error = error};
	int bad;

	memset(s, 0, sizeof(*s));
	sim_config_init(&s->base);
	ini_stop_on_first_error = true; /* the library's, for all; nobody else uses it */
	bad = ini_parse_stream(next_line, &r, take, &r);
	if (ferror(file)) {
		snprintf(error, SIM_ERROR_BYTES, "%.100s: cannot be read: %s", name,
			 strerror(errno));
		return -EIO;
	}
	if (bad > 0 && !r.failed)
		fail_at(&r, (uint32_t)bad, "neither [section] nor NAME = VALUE");
	if (!r.failed && !s->base.nr_kinds)
		fail(&r, "no [vm NAME]");
	if (r.failed)
		return -EINVAL;
	default_lines(s);
	if (check_overrides(&r, s->rows, s->nr_rows) &&
	    check_overrides(&r, s->columns, s->nr_columns) && check_table(&r))
		return 0;
	return -EINVAL;
}

static int apply(struct sim_config *config, const struct sim_override *list, uint32_t nr,
		 char error[SIM_ERROR_BYTES])
{
	int err = 0;

	for (uint32_t i = 0; !err && i < nr; i++)
		err = sim_config_set(config, list[i].key, list[i].value, error);
	return err;
}

int sim_scenario_cell(const struct sim_scenario *s, uint32_t row, uint32_t column,
		      const struct sim_override *extra, uint32_t nr, struct sim_config *config,
		      char error[SIM_ERROR_BYTES])
{
	int err;

	*config = s->base;
	err = apply(config, s->columns[column].overrides, s->columns[column].nr_overrides, error);
	if (!err)
		err = apply(config, s->rows[row].overrides, s->rows[row].nr_overrides, error);
	if (!err)
		err = apply(config, extra, nr, error);
	return err ? err : sim_config_check(config, error);
}

const char *sim_scenario_published(const struct sim_scenario *s, uint32_t row, uint32_t column)
{
	const struct sim_line *line = &s->rows[row];

	for (uint32_t i = 0; i < line->nr_published; i++)
		if (!strcmp(line->published[i].key, s->columns[column].label))
			return line->published[i].value;
	return NULL;
}

static bool same_values(const struct sim_line *a, const struct sim_line *b)
{
	bool same = a->nr_overrides == b->nr_overrides;

	for (uint32_t i = 0; same && i < a->nr_overrides; i++)
		same = !strcmp(a->overrides[i].key, b->overrides[i].key) &&
		       !strcmp(a->overrides[i].value, b->overrides[i].value);
	return same;
}

uint32_t sim_scenario_twin(const struct sim_scenario *s, uint32_t row)
{
	uint32_t twin = 0;

	while (twin < row && !same_values(&s->rows[twin], &s->rows[row]))
		twin++;
	return twin;
}

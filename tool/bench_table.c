// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The table every live benchmark prints, as text or JSON.
#include "tool/bench_table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "replay/text.h"
#include "util/units.h"

uint32_t bench_table_row(struct bench_table *table, const char *format, ...)
{
	struct bench_row *row = &table->rows[table->nr_rows];
	va_list args;

	va_start(args, format);
	vsnprintf(row->name, sizeof(row->name), format, args);
	va_end(args);
	return table->nr_rows++;
}

void bench_table_target(struct bench_table *table, const char *what, double value, double bound,
			bool at_most, bool known)
{
	table->targets[table->nr_targets++] = (struct bench_target){what, value, bound, at_most,
								    known};
}

double bench_table_ratio(const struct bench_table *table, uint32_t row, uint32_t to_row,
			 uint32_t column)
{
	return measure_ratio(&table->rows[row].cells[column], &table->rows[to_row].cells[column]);
}

void bench_table_begin(struct bench_table *table)
{
	measure_machine_read(&table->machine);
	measure_noise_begin(&table->noise);
}

void bench_table_progress(const struct bench_table *table, uint64_t done, uint64_t total)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (done < total)
		fprintf(stderr, "\rvhalt bench %s: %" PRIu64 " of %" PRIu64 " ", table->name, done,
			total);
	else
		fputs("\r                                        \r", stderr);
}

static bool held(const struct bench_target *t)
{
	return t->at_most ? t->value <= t->bound : t->value >= t->bound;
}

/* --- text --- */

static void print_head(const struct bench_table *t)
{
	const struct measure_machine *m = &t->machine;
	char each[UNITS_DURATION_BYTES];

	printf("%s\n", t->title);
	printf("%s%s, %u CPUs, Linux %s, clock %s, idle driver %s; load %.2f at the beginning\n",
	       m->cpu, m->guest ? " (in a virtual machine)" : "", m->cpus, m->kernel,
	       m->clock[0] ? m->clock : "unknown", m->idle[0] ? m->idle : "none", m->load1);
	printf("meanwhile %.1f %% of the CPUs stolen by the hypervisor, %.1f %% used by others\n",
	       t->disturbed.steal_pct, t->disturbed.others_pct);
	printf("%" PRIu64 " rounds of %s a cell, row after row in each; median (quartiles)\n\n",
	       t->options->rounds, units_format_exact(t->options->for_ns, each));
}

static void print_cell(const struct measure_samples *samples, int decimals, int width)
{
	struct measure_summary s = measure_summarize(samples);
	char text[64];

	if (!samples->nr) {
		printf(" %*s", width, "-");
		return;
	}
	snprintf(text, sizeof(text), "%.*f (%.*f..%.*f)", decimals, s.median, decimals, s.low,
		 decimals, s.high);
	printf(" %*s", width, text);
}

/* As wide as its title, and at least as its figures. */
static int width_of(const struct bench_table *t, uint32_t column)
{
	size_t width = strlen(t->columns[column].title);

	for (uint32_t r = 0; r < t->nr_rows; r++) {
		const struct measure_samples *samples = &t->rows[r].cells[column];
		struct measure_summary s = measure_summarize(samples);
		int decimals = t->columns[column].decimals;
		int n = snprintf(NULL, 0, "%.*f (%.*f..%.*f)", decimals, s.median, decimals, s.low,
				 decimals, s.high);

		if (samples->nr && (size_t)n > width)
			width = (size_t)n;
	}
	return (int)width;
}

static void print_rows(const struct bench_table *t)
{
	int widths[BENCH_COLUMNS_MOST], name_width = 8;

	for (uint32_t r = 0; r < t->nr_rows; r++)
		if ((int)strlen(t->rows[r].name) > name_width)
			name_width = (int)strlen(t->rows[r].name);
	printf("%-*s", name_width, "");
	for (uint32_t c = 0; c < t->nr_columns; c++) {
		widths[c] = width_of(t, c);
		printf(" %*s", widths[c], t->columns[c].title);
	}
	putchar('\n');
	for (uint32_t r = 0; r < t->nr_rows; r++) {
		printf("%-*s", name_width, t->rows[r].name);
		if (t->rows[r].skipped[0])
			printf(" skipped: %s", t->rows[r].skipped);
		else
			for (uint32_t c = 0; c < t->nr_columns; c++)
				print_cell(&t->rows[r].cells[c], t->columns[c].decimals, widths[c]);
		putchar('\n');
	}
}

static void print_text(const struct bench_table *t)
{
	print_head(t);
	print_rows(t);
	if (t->note[0]) {
		putchar('\n');
		replay_text_wrap(stdout, "", "%s", t->note);
	}
	if (t->nr_targets)
		printf("\n%-64s %8s %8s\n", "ratio, median over the rounds", "value", "bound");
	for (uint32_t i = 0; i < t->nr_targets; i++) {
		const struct bench_target *target = &t->targets[i];

		if (!target->known)
			printf("%-64s %8s\n", target->what, "-");
		else
			printf("%-64s %8.3f %s %5.2f  %s\n", target->what, target->value,
			       target->at_most ? "<=" : ">=", target->bound,
			       held(target) ? "held" : "MISSED");
	}
}

/* --- JSON --- */

static json_t *json_row(const struct bench_table *t, const struct bench_row *row)
{
	json_t *o = json_pack("{s:s,s:o}", "name", row->name, "skipped",
			      row->skipped[0] ? json_string(row->skipped) : json_null());

	for (uint32_t c = 0; o && c < t->nr_columns; c++) {
		struct measure_summary s = measure_summarize(&row->cells[c]);
		json_t *cell = row->cells[c].nr ? json_pack("{s:f,s:f,s:f,s:i}", "median", s.median,
							    "low", s.low, "high", s.high, "rounds",
							    (int)row->cells[c].nr)
						: json_null();

		json_object_set_new(o, t->columns[c].key, cell);
	}
	return o;
}

static json_t *json_targets(const struct bench_table *t)
{
	json_t *all = json_array();

	for (uint32_t i = 0; i < t->nr_targets; i++) {
		const struct bench_target *x = &t->targets[i];

		json_array_append_new(
			all, json_pack("{s:s,s:o,s:f,s:s,s:o}", "what", x->what, "value",
				       x->known ? json_real(x->value) : json_null(), "bound",
				       x->bound, "side", x->at_most ? "at most" : "at least",
				       "held", x->known ? json_boolean(held(x)) : json_null()));
	}
	return all;
}

static int print_json(const struct bench_table *t)
{
	const struct measure_machine *m = &t->machine;
	json_t *rows = json_array(), *root;
	int err;

	for (uint32_t r = 0; r < t->nr_rows; r++)
		json_array_append_new(rows, json_row(t, &t->rows[r]));
	root = json_pack("{s:s,s:{s:s,s:s,s:i,s:b,s:s,s:s,s:f},s:{s:f,s:f},s:I,s:I,s:o,s:o,s:o}",
			 "bench", t->name, "machine", "cpu", m->cpu, "kernel", m->kernel, "cpus",
			 (int)m->cpus, "guest", m->guest, "clock", m->clock, "idle_driver", m->idle,
			 "load1", m->load1, "noise", "steal_pct", t->disturbed.steal_pct,
			 "others_pct", t->disturbed.others_pct, "rounds",
			 (json_int_t)t->options->rounds, "cell_ns", (json_int_t)t->options->for_ns,
			 "note", t->note[0] ? json_string(t->note) : json_null(), "rows", rows,
			 "targets", json_targets(t));
	err = !root || json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) < 0;
	if (!err)
		putchar('\n');
	json_decref(root);
	return err;
}

int bench_table_finish(struct bench_table *t)
{
	int code = 0;

	bench_table_progress(t, 1, 1);
	measure_noise_end(&t->noise, &t->disturbed);
	if (!t->options->json)
		print_text(t);
	else if (print_json(t)) {
		fprintf(stderr, "vhalt bench: out of memory\n");
		return 1;
	}
	for (uint32_t i = 0; i < t->nr_targets; i++)
		if (t->options->check && t->targets[i].known && !held(&t->targets[i]))
			code = 1;
	return ferror(stdout) || fflush(stdout) ? 1 : code;
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Fuzz target: any bytes as a scenario file of the simulator; every cell of the table it makes.
#include <errno.h>
#include <jansson.h>
#include <stdio.h>

#include "tests/fuzz/fuzz_file.h"

#include "sim/metric.h"
#include "sim/scenario.h"
#include "util/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nr);

static void check(bool holds)
{
	if (!holds)
		abort();
}

/* It is printed, and put into JSON. */
static void check_text(const char *text, size_t room)
{
	json_t *string;

	check(memchr(text, '\0', room) != NULL);
	string = json_string(text);
	check(string != NULL);
	json_decref(string);
	for (size_t left = strlen(text), step; left; text += step, left -= step) {
		step = utf8_printable((const uint8_t *)text, left);
		if (*text == '\t')
			step = 1;
		check(step > 0);
	}
}

/* One line that says where. A message may cut a character that it quotes. */
static void check_message(const char *message)
{
	check(!strncmp(message, "fuzz:", 5));
	for (const char *p = message; *p; p++)
		check((unsigned char)*p >= ' ' || *p == '\t');
}

static void check_values(const void *section, const struct sim_param *params)
{
	for (const struct sim_param *p = params; p->name; p++) {
		const void *field = (const char *)section + p->offset;
		uint64_t value = *(const uint64_t *)field, max = p->max;
		struct vhalt_config config;

		switch (p->type) {
		case SIM_PARAM_POLICY: check(!vhalt_spec_config(field, &config)); continue;
		case SIM_PARAM_WORKLOAD: max = SIM_NR_WORKLOADS - 1; break;
		case SIM_PARAM_BOOST: max = VHALT_NR_BOOST_MODES - 1; break;
		default: break;
		}
		check(value >= p->min && value <= max);
	}
}

static void check_config(const struct sim_config *c)
{
	check(c->nr_kinds >= 1 && c->nr_kinds <= SIM_KINDS_MAX);
	check_values(c, sim_run_params);
	check_values(&c->host, sim_host_params);
	for (uint32_t i = 0; i < c->nr_kinds; i++) {
		check_text(c->vm[i].name, sizeof(c->vm[i].name));
		check_values(&c->vm[i], sim_vm_params);
	}
}

static void check_line(const struct sim_line *line)
{
	check_text(line->label, sizeof(line->label));
	check(*line->label);
	check(line->nr_overrides <= SIM_OVERRIDES_MAX && line->nr_published <= SIM_OVERRIDES_MAX);
	for (uint32_t i = 0; i < line->nr_published; i++)
		check_text(line->published[i].value, sizeof(line->published[i].value));
}

static void check_row(const struct sim_scenario *s, uint32_t row)
{
	char error[SIM_ERROR_BYTES];
	struct sim_metric_ref ref;
	struct sim_config config;
	uint32_t published = 0;

	check_line(&s->rows[row]);
	check(!sim_metric_find(&s->base, s->rows[row].score, &ref));
	check(sim_scenario_twin(s, row) <= row);
	for (uint32_t c = 0; c < s->nr_columns; c++) {
		check(!sim_scenario_cell(s, row, c, NULL, 0, &config, error));
		check_config(&config);
		published += sim_scenario_published(s, row, c) != NULL;
	}
	check(published == s->rows[row].nr_published);
}

static int read_bytes(const uint8_t *data, size_t nr, struct sim_scenario *scenario,
		      char error[SIM_ERROR_BYTES])
{
	FILE *file = fdopen(fuzz_file(data, nr), "r");
	int err;

	check(file != NULL);
	err = sim_scenario_read(file, "fuzz", scenario, error);
	fclose(file);
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nr)
{
	static struct sim_scenario s;
	char error[SIM_ERROR_BYTES] = "";
	int err = read_bytes(data, nr, &s, error);

	if (err) {
		check(err == -EINVAL);
		check_message(error);
		return 0;
	}
	check(s.seeds >= 1 && s.seeds <= 1000);
	check(s.nr_rows >= 1 && s.nr_rows <= SIM_LINES_MAX);
	check(s.nr_columns >= 1 && s.nr_columns <= SIM_LINES_MAX);
	check_text(s.title, sizeof(s.title));
	check_text(s.note, sizeof(s.note));
	check_config(&s.base);
	for (uint32_t c = 0; c < s.nr_columns; c++)
		check_line(&s.columns[c]);
	for (uint32_t r = 0; r < s.nr_rows; r++)
		check_row(&s, r);
	return 0;
}

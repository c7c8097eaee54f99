// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Findings as text and as JSON, and the reports of readers kept for their place in the output.
#include "tool/diagnose_print.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay/text.h"

enum { FINDINGS_SHOWN = 60 };

void print_findings(const struct findings *f)
{
	for (uint32_t i = 0; i < f->nr && i < FINDINGS_SHOWN; i++) {
		const struct finding *one = &f->list[i];

		replay_text_wrap(stdout, one->rule->weight == FINDING_PROBLEM ? "  ! " : "  - ",
				 "%s: %s [%s]. %s Do: %s", one->subject, one->rule->title,
				 one->rule->name, one->evidence, one->rule->todo);
	}
	if (f->nr > FINDINGS_SHOWN)
		printf("  ... and %" PRIu32 " findings more (--json lists them)\n",
		       f->nr - FINDINGS_SHOWN);
	if (f->left_out)
		printf("  ... and %" PRIu64 " findings beyond the first %u\n", f->left_out,
		       FINDINGS_MAX);
}

json_t *json_findings(const struct findings *f)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < f->nr; i++) {
		const struct finding *one = &f->list[i];

		if (!json_array_append_new(list, json_pack("{s:s,s:s,s:b,s:s,s:s,s:s}", "rule",
							   one->rule->name, "title",
							   one->rule->title, "problem",
							   one->rule->weight == FINDING_PROBLEM,
							   "subject", one->subject, "evidence",
							   one->evidence, "todo", one->rule->todo)))
			continue;
		json_decref(list);
		list = NULL;
	}
	return list;
}

static void keep(void *context, const char *text)
{
	struct kept_reports *kept = context;
	char **list = reallocarray(kept->text, kept->nr + 1U, sizeof(*list));
	char *copy = strdup(text);

	if (list)
		kept->text = list;
	if (!list || !copy) {
		/* Rather out of place than lost. */
		fprintf(stderr, "vhalt: %s\n", text);
		free(copy);
		return;
	}
	replay_text_clean(copy);
	kept->text[kept->nr++] = copy;
}

struct trace_diag kept_reports_diag(struct kept_reports *kept)
{
	return (struct trace_diag){keep, kept};
}

void kept_reports_fini(struct kept_reports *kept)
{
	for (uint32_t i = 0; i < kept->nr; i++)
		free(kept->text[i]);
	free(kept->text);
	*kept = (struct kept_reports){.text = NULL};
}

int input_is_stats(const char *path)
{
	bool standard = !strcmp(path, "-");
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	int result;

	if (fd < 0)
		return -errno;
	result = stats_recognise(fd);
	if (!standard)
		close(fd);
	return result;
}

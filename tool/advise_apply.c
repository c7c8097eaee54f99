// SPDX-License-Identifier: GPL-2.0-only OR MIT
// vhalt advise --apply: the recommended setting becomes this host's, or the reason why not is said.
#include "tool/advise_apply.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

void advise_apply_check(char cannot[APPLY_ERROR_BYTES])
{
	struct apply_value values[APPLY_PARAMETERS];

	for (uint32_t i = 0; i < APPLY_PARAMETERS; i++)
		values[i] = (struct apply_value){apply_parameter(i), 0};
	if (apply_check(values, APPLY_PARAMETERS, cannot))
		fprintf(stderr, "vhalt advise: --apply will change nothing: %s\n", cannot);
	else
		cannot[0] = '\0';
}

/* The parameters of the recommended setting that this host has otherwise. */
static int wanted_values(const struct advice *advice, struct apply_value values[APPLY_PARAMETERS],
			 uint64_t old[APPLY_PARAMETERS], char error[APPLY_ERROR_BYTES])
{
	struct advice_change setting[ADVICE_CHANGES_MAX];
	uint32_t nr = advice_setting(advice, setting);
	struct apply_state state;
	int err = apply_read_state(&state, error), wanted = 0;

	for (uint32_t i = 0; !err && i < nr; i++)
		for (uint32_t p = 0; p < APPLY_PARAMETERS; p++) {
			if (strcmp(setting[i].parameter, state.parameters[p].parameter) != 0 ||
			    state.parameters[p].value == setting[i].to)
				continue;
			old[wanted] = state.parameters[p].value;
			values[wanted++] = (struct apply_value){setting[i].parameter,
								setting[i].to};
		}
	return err ? err : wanted;
}

static int set_parameters(const struct apply_value *values, size_t nr,
			  char error[APPLY_ERROR_BYTES])
{
	sigset_t all, before;
	int err;

	/* Not between two parameters. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	err = apply_set(values, nr, error);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}

int advise_apply(const struct advice *advice, bool bundled, const char *cannot)
{
	struct apply_value values[APPLY_PARAMETERS];
	uint64_t old[APPLY_PARAMETERS];
	char error[APPLY_ERROR_BYTES];
	int nr, err;

	if (bundled) {
		fprintf(stderr, "vhalt advise: --apply: not from another machine's recording\n");
		return -EINVAL;
	}
	if (cannot[0]) {
		fprintf(stderr, "vhalt advise: --apply: nothing was changed: %s\n", cannot);
		return -EROFS;
	}
	if (!advice_is_change(advice)) {
		fprintf(stderr, "vhalt advise: --apply: there is nothing to change\n");
		return 0;
	}
	nr = wanted_values(advice, values, old, error);
	err = nr < 0 ? nr : set_parameters(values, (size_t)nr, error);
	if (err) {
		fprintf(stderr, "vhalt advise: --apply: %s\n", error);
		return err;
	}
	for (int i = 0; i < nr; i++)
		fprintf(stderr, "vhalt advise: %s was %" PRIu64 ", is now %" PRIu64 "\n",
			values[i].parameter, old[i], values[i].value);
	fprintf(stderr, "vhalt advise: vhalt ctl restore puts the old values back\n");
	return 0;
}

void advise_apply_note(const struct advice *advice, struct advice_notes *notes)
{
	struct advice_change changes[ADVICE_CHANGES_MAX];
	uint32_t nr = advice_changes(advice, changes);

	for (uint32_t i = 0; i < nr; i++) {
		struct apply_value value = {changes[i].parameter, changes[i].to};
		char error[APPLY_ERROR_BYTES];

		if (apply_check(&value, 1, error) != -EROFS)
			continue;
		advice_note(notes,
			    "%s is read-only on this host (mode 0444): set it when kvm is "
			    "loaded, by modprobe.d or the kernel's command line.",
			    changes[i].parameter);
		return;
	}
}

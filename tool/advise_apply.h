/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* vhalt advise --apply: setting what is recommended on this host. */
#ifndef VHALT_TOOL_ADVISE_APPLY_H
#define VHALT_TOOL_ADVISE_APPLY_H

#include <stdbool.h>

#include "replay/advice_text.h"
#include "replay/apply.h"

/**
 * advise_apply_check - before any work is done: could parameters be set here at all?
 * @cannot: receives why not (said on stderr as well), or ""
 */
void advise_apply_check(char cannot[APPLY_ERROR_BYTES]);

/**
 * advise_apply - set the parameters of the recommended setting that this host has otherwise.
 * @bundled: the advice is of the recording bundled with vhalt, which is another machine's: refused
 * @cannot:  what advise_apply_check() found
 *
 * No signal comes between two parameters. Return: 0, also if there is nothing to change; -EINVAL,
 * -EROFS, -errno. All is said on stderr.
 */
int advise_apply(const struct advice *advice, bool bundled, const char *cannot);

/** advise_apply_note - advice that cannot be followed as it stands should say so beside it. */
void advise_apply_note(const struct advice *advice, struct advice_notes *notes);

#endif

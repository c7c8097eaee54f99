// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Which kernels the layout of a recording fits.
#include "diagnose/kernel.h"

#include <stdio.h>

/* What a layout shows, strongest first; docs/diagnosis.md says where each comes from. */
static const struct {
	uint32_t hint;
	const char *text, *why;
} layouts[] = {
	{TRACE_HINT_NO_VALID, "before 4.7", "kvm_vcpu_wakeup does not say \"polling valid\""},
	{TRACE_HINT_EXIT_INFO1, "5.10 or later", "kvm_exit has info1"},
	{TRACE_HINT_EXIT_NO_VCPU, "before 5.10", "kvm_exit does not name the vCPU"},
	{TRACE_HINT_EXIT_VCPU, "5.3 or later", "kvm_exit names the vCPU, which 5.2 did not"},
};

void diagnose_guess_kernel(struct stats_kernel *guess, const struct trace_info *info,
			   const struct trace_events *events)
{
	*guess = (struct stats_kernel){.text = ""};
	if (info->kernel[0]) {
		snprintf(guess->text, sizeof(guess->text), "%.60s", info->kernel);
		snprintf(guess->why, sizeof(guess->why), "the recording names it");
		return;
	}
	if (!events)
		return;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (!(events->hints & layouts[i].hint))
			continue;
		snprintf(guess->text, sizeof(guess->text), "%s", layouts[i].text);
		snprintf(guess->why, sizeof(guess->why), "%s", layouts[i].why);
		return;
	}
	if (events->flags_width >= 5) {
		snprintf(guess->text, sizeof(guess->text), "5.13 or later");
		snprintf(guess->why, sizeof(guess->why), "ftrace prints %u flags",
			 events->flags_width);
	}
	/* Windows were signed until 5.10 or so; that alone says nothing of the lower end. */
	else if (events->hints & TRACE_HINT_SIGNED) {
		snprintf(guess->text, sizeof(guess->text), "before 5.10");
		snprintf(guess->why, sizeof(guess->why), "windows are printed signed");
	}
}

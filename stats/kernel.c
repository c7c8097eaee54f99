// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Which kernels the names in a file fit.
#include <stdio.h>
#include <string.h>

#include "stats/summary.h"

/*
 * No mainline kernel before this one has the counter or parameter; oldest first. The numbers are
 * lower bounds: where it came within a cycle is not needed to be right about "or later".
 */
static const struct {
	unsigned major, minor;
	const char *name;
} since[] = {
	{4, 0, "halt_successful_poll"},
	{4, 3, "halt_attempted_poll"},
	{4, 3, "halt_poll_ns_grow"},
	{4, 6, "halt_poll_invalid"},
	{4, 7, "kvm_hv_timer_state"},
	{4, 7, "vgic_update_irq_pending"},
	{4, 16, "kvm_pv_tlb_flush"},
	{5, 1, "halt_poll_ns_grow_start"},
	{5, 1, "kvm_get_timer_map"},
	{5, 4, "nx_huge_pages"},
	{5, 5, "INTERRUPT_WINDOW"},
	{5, 8, "halt_poll_success_ns"},
	{5, 8, "halt_poll_fail_ns"},
	{5, 13, "directed_yield_attempted"},
	{5, 14, "halt_wait_ns"},
	{5, 14, "halt_wait_hist"},
	{5, 16, "nx_huge_pages_recovery_period_ms"},
	{5, 17, "eager_page_split"},
	{5, 17, "pf_spurious"},
	{5, 18, "mmio_caching"},
	{5, 19, "notify_window_exits"},
	{6, 12, "enable_virt_at_load"},
};

/* No mainline kernel from this one on has it. */
static const struct {
	unsigned major, minor;
	const char *name;
} until[] = {
	{5, 8, "PENDING_INTERRUPT"},
	{6, 0, "mmu_audit"},
};

/* Names only one architecture has; the telling ones first. */
static const struct {
	const char *name, *machine;
} machines[] = {
	{"kvm_wfx_arm64", "arm64"},
	{"kvm_exit(WFx)", "arm64"},
	{"WFx", "arm64"},
	{"wfi_exit_stat", "arm64 or riscv"},
	{"exit_wait_state", "s390"},
	{"deliver_ckc", "s390"},
	{"H_CEDE", "powerpc"},
	{"EPT_VIOLATION", "x86, Intel"},
	{"EXTERNAL_INTERRUPT", "x86, Intel"},
	{"npf", "x86, AMD"},
	{"vintr", "x86, AMD"},
	{"kvm_exit(EPT_VIOLATION)", "x86, Intel"},
	{"kvm_exit(npf)", "x86, AMD"},
	{"hlt", "x86, AMD"},
	{"HLT", "x86"},
	{"kvm_hv_timer_state", "x86, Intel"},
	{"efer_reload", "x86"},
	{"kvm_apic", "x86"},
	{"irq_window_exits", "x86"},
	{"irq_window", "x86"},
	{"nx_huge_pages", "x86"},
	{"lapic_timer_advance_ns", "x86"},
};

static bool has(const struct stats *stats, const char *name)
{
	for (uint32_t i = 0; i < stats->nr_settings; i++)
		if (!strcmp(stats->settings[i].name, name))
			return true;
	for (uint32_t i = 0; i < stats->nr_values; i++)
		if (!strcmp(stats->values[i].name, name))
			return true;
	return false;
}

void stats_guess_kernel(struct stats_kernel *guess, const struct stats *stats)
{
	const char *from = NULL, *to = NULL;
	unsigned a = 0, b = 0, c = 0, d = 0;

	*guess = (struct stats_kernel){.text = ""};
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]) && !guess->machine; i++)
		if (has(stats, machines[i].name))
			guess->machine = machines[i].machine;
	if (stats->kernel[0]) {
		snprintf(guess->text, sizeof(guess->text), "%s", stats->kernel);
		snprintf(guess->why, sizeof(guess->why), "the file names it");
		return;
	}
	for (size_t i = sizeof(since) / sizeof(since[0]); i-- > 0 && !from;)
		if (has(stats, since[i].name)) {
			from = since[i].name;
			a = since[i].major;
			b = since[i].minor;
		}
	for (size_t i = 0; i < sizeof(until) / sizeof(until[0]) && !to; i++)
		if (has(stats, until[i].name)) {
			to = until[i].name;
			c = until[i].major;
			d = until[i].minor;
		}
	if (from && to)
		snprintf(guess->text, sizeof(guess->text), "%u.%u or later, before %u.%u", a, b, c,
			 d);
	else if (from)
		snprintf(guess->text, sizeof(guess->text), "%u.%u or later", a, b);
	else if (to)
		snprintf(guess->text, sizeof(guess->text), "before %u.%u", c, d);
	else
		return;
	snprintf(guess->why, sizeof(guess->why),
		 "it has %s%s%s (a vendor's kernel may have it "
		 "earlier)",
		 from ? from : "", from && to ? " and " : "", to ? to : "");
}

// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Names of KVM's counters that are told from other words by sight.
#include <string.h>

#include "stats/internal.h"

/*
 * Counters of debugfs and the binary statistics, all architectures: enough of them that a table cut
 * out of a longer one is still recognised. Trace events need no list, they begin with "kvm_".
 */
static const char *const counters[] = {
	"blocking",
	"deliver_ckc",
	"deliver_cpu_timer",
	"deliver_external_call",
	"diagnose_44",
	"directed_yield_attempted",
	"directed_yield_successful",
	"efer_reload",
	"exit_external_request",
	"exit_instruction",
	"exit_null",
	"exit_wait_state",
	"exits",
	"fpu_reload",
	"guest_mode",
	"halt_attempted_poll",
	"halt_exits",
	"halt_poll_fail_hist",
	"halt_poll_fail_ns",
	"halt_poll_invalid",
	"halt_poll_success_hist",
	"halt_poll_success_ns",
	"halt_successful_poll",
	"halt_wait_hist",
	"halt_wait_ns",
	"halt_wakeup",
	"host_state_reload",
	"hvc_exit_stat",
	"hypercalls",
	"insn_emulation",
	"insn_emulation_fail",
	"invlpg",
	"io_exits",
	"irq_exits",
	"irq_injections",
	"irq_window",
	"irq_window_exits",
	"l1d_flush",
	"largepages",
	"lpages",
	"max_mmu_page_hash_collisions",
	"max_mmu_rmap_size",
	"mmio_exit_kernel",
	"mmio_exit_user",
	"mmio_exits",
	"mmu_cache_miss",
	"mmu_flooded",
	"mmu_pde_zapped",
	"mmu_pte_write",
	"mmu_recycled",
	"mmu_shadow_zapped",
	"mmu_unsync",
	"nested_run",
	"nmi_injections",
	"nmi_window",
	"nmi_window_exits",
	"notify_window_exits",
	"nx_lpage_splits",
	"pages_1g",
	"pages_2m",
	"pages_4k",
	"pf_emulate",
	"pf_fast",
	"pf_fixed",
	"pf_guest",
	"pf_mmio_spte_created",
	"pf_spurious",
	"pf_taken",
	"preemption_other",
	"preemption_reported",
	"remote_tlb_flush",
	"remote_tlb_flush_requests",
	"req_event",
	"request_irq",
	"request_irq_exits",
	"signal_exits",
	"tlb_flush",
	"wfe_exit_stat",
	"wfi_exit_stat",
};

enum { NR_COUNTERS = sizeof(counters) / sizeof(counters[0]) };

bool stats_known_counter(const char *name, size_t nr)
{
	/* Trace events; kvm_stat is the program. */
	if (nr > 4 && !memcmp(name, "kvm_", 4))
		return nr != 8 || memcmp(name, "kvm_stat", 8) != 0;
	for (size_t i = 0; i < NR_COUNTERS; i++)
		if (strlen(counters[i]) == nr && !memcmp(counters[i], name, nr))
			return true;
	return false;
}

const char *stats_expand_name(const char *name, size_t nr)
{
	const char *found = NULL;

	for (size_t i = 0; i < NR_COUNTERS; i++) {
		if (strncmp(counters[i], name, nr) != 0)
			continue;
		if (strlen(counters[i]) == nr)
			return counters[i];
		if (found)
			return NULL;
		found = counters[i];
	}
	return found;
}

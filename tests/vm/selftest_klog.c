// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Checks, on the host, which kernel messages the rig takes for a defect and which it does not.
#include "init.h"

#include <stdio.h>

/* Real wordings of 6.1 and 6.12 kernels. */
static const struct {
	bool defect;
	const char *message;
} cases[] = {
	{true, "WARNING: CPU: 1 PID: 160 at arch/x86/kvm/x86.c:1234 kvm_foo+0x12/0x34 [kvm]"},
	{true, "------------[ cut here ]------------"},
	{true, "kernel BUG at mm/slub.c:440!"},
	{true, "BUG: kernel NULL pointer dereference, address: 0000000000000008"},
	{true, "BUG: unable to handle page fault for address: ffffffffc0a01000"},
	{true, "BUG: scheduling while atomic: v1/160/0x00000002"},
	{true, "BUG: sleeping function called from invalid context at kernel/locking/mutex.c:580"},
	{true, "BUG: KASAN: slab-out-of-bounds in foo+0x1/0x2 [vhalt_kvm]"},
	{true, "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [vcpu0:171]"},
	{true, "NMI watchdog: Watchdog detected hard LOCKUP on cpu 0"},
	{true, "Oops: 0000 [#1] PREEMPT SMP NOPTI"},
	{true, "Oops: general protection fault, probably for non-canonical address: 0000 [#1]"},
	{true, "general protection fault, probably for non-canonical address 0xdead: 0000 [#1]"},
	{true, "int3: 0000 [#1] PREEMPT SMP NOPTI"},
	{true, "invalid opcode: 0000 [#2] PREEMPT SMP NOPTI"},
	{true, "Kernel panic - not syncing: Fatal exception in interrupt"},
	{true, "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:"},
	{true, "rcu: INFO: rcu_preempt self-detected stall on CPU"},
	{true, "rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 1-... }"},
	{true, "WARNING: possible circular locking dependency detected"},
	{true, "WARNING: inconsistent lock state"},
	{true, "WARNING: suspicious RCU usage"},
	{true, "BUG: MAX_LOCKDEP_CHAINS too low!"},
	{true, "INFO: lockdep is turned off."},
	{true, "INFO: task rmmod:212 blocked for more than 120 seconds."},
	{true, "kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)"},
	{true, "Call Trace:"},
	{true, "UBSAN: array-index-out-of-bounds in core/policy.c:10:5"},
	{true, "irq 11: nobody cared (try booting with the \"irqpoll\" option)"},
	{false, "ACPI BIOS Error (bug): Could not resolve symbol [\\_SB.PCI0], AE_NOT_FOUND"},
	{false, "ACPI BIOS Warning (bug): Invalid length for FADT/Pm1aControlBlock: 0, using 16"},
	{false, "ACPI Warning: 32/64X length mismatch in FADT/Gpe0Block: 128/64"},
	{false, "Spectre V2 : WARNING: Unprivileged eBPF is enabled with eIBRS on"},
	{false, "rcu: Preemptible hierarchical RCU implementation."},
	{false, "rcu: \tRCU debug extended QS entry/exit."},
	{false, "debug: unmapping init memory"},
	{false, "kvm: Nested Virtualization enabled"},
	{false, "kvm [171]: ignored rdmsr: 0x4b564df7 data 0x0"},
	{false, "vhalt_kvm: loading out-of-tree module taints kernel."},
	{false, "irq 11: Affinity broken due to vector space exhaustion."},
	{false, "INFO: task accounting on"},
	{false, "Run /init as init process"},
	{false, ""},
};

/* init_klog.c reports through this; nothing is reported here. */
void rig_say(const char *fmt, ...)
{
	(void)fmt;
}

int main(void)
{
	int bad = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (rig_klog_is_defect(cases[i].message) == cases[i].defect)
			continue;
		printf("%s: %s\n", cases[i].defect ? "missed" : "false alarm", cases[i].message);
		bad++;
	}
	return bad != 0;
}

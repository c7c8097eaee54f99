// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Guest "lock": vCPUs contend for one spinlock, with a preempt_count each, kept as Linux keeps it.
#include "vmm/guests/share.h"

/*
 * A look at the clock that comes later than this after the one before was interrupted: the vCPU had
 * no CPU in between. Far above what two looks cost, also under emulation.
 */
#define INTERRUPTED_NS 20000

static volatile struct vmm_abi_lock *const lock = (volatile struct vmm_abi_lock *)VMM_ABI_LOCK_GPA;

/*
 * Work is CPU time, not time: were it time, a critical section would get done while its vCPU has no
 * CPU, and losing it there would cost nothing. An interruption counts as INTERRUPTED_NS.
 */
static void work(uint64_t cycles, uint64_t most)
{
	uint64_t done = 0, last = guest_tsc();

	while (done < cycles) {
		uint64_t now = guest_tsc();

		done += now - last < most ? now - last : most;
		last = now;
	}
}

/* Test and set: spin on a read, with PAUSE, until it looks free. */
static void acquire(void)
{
	while (__atomic_exchange_n(&lock->word, 1, __ATOMIC_ACQUIRE))
		while (__atomic_load_n(&lock->word, __ATOMIC_RELAXED))
			__asm__ volatile("pause");
}

static void release(void)
{
	__atomic_store_n(&lock->word, 0, __ATOMIC_RELEASE);
}

/* The last vCPU to make its rounds ends the VM; the others halt until then. */
static _Noreturn void finish(volatile struct vmm_abi_result *r, unsigned int n)
{
	share_publish(n, 0);
	if (__atomic_add_fetch(&lock->nr_finished, 1, __ATOMIC_ACQ_REL) == guest_params()->nr_vcpus)
		guest_done();
	for (;;)
		guest_halt(r);
}

_Noreturn void guest_main(unsigned int n)
{
	const struct vmm_abi_params *p = guest_params();
	const uint64_t hold = guest_cycles(p->hold_ns), gap = guest_cycles(p->gap_ns);
	const uint64_t most = guest_cycles(INTERRUPTED_NS);
	volatile struct vmm_abi_result *r = guest_init(n);
	volatile uint32_t *count = (volatile uint32_t *)share_count_gpa(n);
	uint64_t state = p->seed + n;

	*count = VMM_ABI_NO_RESCHED;
	share_publish(n, VHALT_GUEST_MAGIC);
	while (!guest_rounds_complete(r)) {
		uint64_t start = guest_tsc();

		/* As spin_lock() does: no preemption from before it waits until it has released. */
		*count = *count + 1;
		acquire();
		lock->holder = n + 1;
		lock->acquisitions = lock->acquisitions + 1;
		guest_record(&r->latency, guest_tsc() - start);
		work(hold, most);
		r->rounds++;
		lock->holder = 0;
		release();
		*count = *count - 1;
		if (p->share == VMM_ABI_SHARE_HOSTILE)
			share_go_wild(n, &state);
		work(gap, most);
	}
	finish(r, n);
}

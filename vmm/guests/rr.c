// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Guest "rr": two vCPUs, request and response by IPI, the round trip measured by the requester.
#include "vmm/guests/poll.h"

enum { REQUESTER = 0, RESPONDER = 1 };

/* Each word has a cache line of its own: polling one must not slow the writer of the other. */
static struct {
	volatile uint64_t value __attribute__((aligned(64)));
} request, response, ready;

static void send_ipi(unsigned int to)
{
	guest_lapic_write(GUEST_LAPIC_ICR_HIGH, to << 24);
	guest_lapic_write(GUEST_LAPIC_ICR_LOW, GUEST_VECTOR_IPI);
}

/*
 * Halts before it looks. Every message is one word and one IPI, so the IPI of a message that is
 * there already is taken by this halt and cannot end a later one: wake-ups equal rounds.
 */
static void await(volatile struct vmm_abi_result *r, const volatile uint64_t *word, uint64_t value)
{
	do
		guest_halt(r);
	while (*word != value);
}

/*
 * With a policy of its own a vCPU polls the word, and nobody sends it an IPI unless it says that it
 * halts, as Linux does with an idle CPU that polls. Word and flag are each written before the other
 * is read, on both sides, so one of the two sees the other. An IPI may come late, for a message
 * found already: then the next halt ends without a message, and begins anew.
 */
static struct {
	uint32_t flag __attribute__((aligned(64)));
} halting[2];

static void send(volatile uint64_t *word, uint64_t value, unsigned int to)
{
	if (!poll_wanted()) {
		*word = value;
		send_ipi(to);
		return;
	}
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
	if (__atomic_exchange_n(&halting[to].flag, 0, __ATOMIC_SEQ_CST))
		send_ipi(to);
}

static void poll_then_await(volatile struct vmm_abi_result *r, unsigned int n,
			    const volatile uint64_t *word, uint64_t value)
{
	struct poll p;

	poll_begin(&p, n, 0);
	poll_word(&p, word, value);
	while (*word != value) {
		__atomic_store_n(&halting[n].flag, 1, __ATOMIC_SEQ_CST);
		if (*word != value)
			guest_halt(r);
		__atomic_store_n(&halting[n].flag, 0, __ATOMIC_SEQ_CST);
	}
	poll_end(&p, r, 0);
}

static void receive(volatile struct vmm_abi_result *r, unsigned int n,
		    const volatile uint64_t *word, uint64_t value)
{
	if (poll_wanted())
		poll_then_await(r, n, word, value);
	else
		await(r, word, value);
}

static void think(uint64_t cycles)
{
	uint64_t start = guest_tsc();

	while (guest_tsc() - start < cycles)
		;
}

static _Noreturn void respond(volatile struct vmm_abi_result *r)
{
	ready.value = 1;
	for (uint64_t i = 1;; i++) {
		receive(r, RESPONDER, &request.value, i);
		r->rounds++;
		send(&response.value, i, REQUESTER);
	}
}

static _Noreturn void ask(volatile struct vmm_abi_result *r)
{
	const uint64_t think_cycles = guest_cycles(guest_params()->think_ns);

	/* An IPI to a LAPIC that is still off would be lost: wait until the other one is on. */
	while (!ready.value)
		__asm__ volatile("pause");
	for (uint64_t i = 1; !guest_rounds_complete(r); i++) {
		uint64_t start = guest_tsc();

		send(&request.value, i, RESPONDER);
		receive(r, REQUESTER, &response.value, i);
		guest_record(&r->latency, guest_tsc() - start);
		r->rounds++;
		if (think_cycles)
			think(think_cycles);
	}
	guest_done();
}

_Noreturn void guest_main(unsigned int n)
{
	volatile struct vmm_abi_result *r = guest_init(n);

	if (n == REQUESTER)
		ask(r);
	respond(r);
}

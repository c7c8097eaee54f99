// SPDX-License-Identifier: GPL-2.0-only OR MIT
// How a VMM embeds libvhalt: two "vCPUs" whose HLT exits poll first, then block, as `auto` decides.
//
//	cc -O2 -pthread embed.c $(pkg-config --cflags --libs libvhalt) -o embed && ./embed
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <vhalt/wait.h>

enum { TRIPS = 10000, PERIOD_NS = 4000000 };

static struct vhalt_engine engine; /* one per VM: the policy all its vCPUs share */

static struct vcpu {
	struct vhalt_waiter waiter; /* one per vCPU */
	atomic_uint irr;	    /* stands for the interrupt controller: pending interrupts */
	struct vcpu *peer;
	unsigned int taken, ticks;
} vcpus[2];

/* Any thread, for IPIs and devices: make it pending first, then kick. */
static void raise_interrupt(struct vcpu *to)
{
	atomic_fetch_add(&to->irr, 1);
	vhalt_waiter_kick(&to->waiter);
}

/* The HLT exit: back when an interrupt is pending or the vCPU's own timer is due. */
static void handle_hlt(struct vcpu *vcpu, uint64_t timer_ns)
{
	while (!atomic_load(&vcpu->irr))
		if (vhalt_waiter_wait(&vcpu->waiter, timer_ns) == VHALT_WAKE_DEADLINE) {
			vcpu->ticks++;
			return;
		}
}

/* Stands for the KVM_RUN loop: the guest answers each interrupt with one to its peer, and halts. */
static void *vcpu_main(void *arg)
{
	struct vcpu *vcpu = arg;
	struct timespec now;

	vhalt_thread_prepare();
	while (vcpu->taken < TRIPS) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		handle_hlt(vcpu,
			   (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec + PERIOD_NS);
		if (!atomic_exchange(&vcpu->irr, 0))
			continue;
		vcpu->taken++;
		raise_interrupt(vcpu->peer);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct vhalt_config config;
	pthread_t threads[2];
	char error[200];

	if (vhalt_config_parse(argc > 1 ? argv[1] : "auto", &config, error, sizeof(error))) {
		fprintf(stderr, "%s\n", error);
		return EXIT_FAILURE;
	}
	vhalt_engine_init(&engine, &config);
	for (int i = 0; i < 2; i++) {
		vhalt_waiter_init(&vcpus[i].waiter, &engine);
		vcpus[i].peer = &vcpus[!i];
	}
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, vcpu_main, &vcpus[i]))
			return EXIT_FAILURE;
	raise_interrupt(&vcpus[0]); /* a device begins */
	for (int i = 0; i < 2; i++) {
		struct vhalt_waiter_stats s;

		pthread_join(threads[i], NULL);
		vhalt_waiter_stats(&vcpus[i].waiter, &s);
		printf("vCPU %d: %u interrupts, %u ticks, %" PRIu64 " halts, %" PRIu64
		       " met by polling, polled %" PRIu64 " us, blocked %" PRIu64 " us\n",
		       i, vcpus[i].taken, vcpus[i].ticks, s.halts, s.halt_successful_poll,
		       (s.halt_poll_success_ns + s.halt_poll_fail_ns) / 1000,
		       s.halt_wait_ns / 1000);
	}
	return EXIT_SUCCESS;
}
